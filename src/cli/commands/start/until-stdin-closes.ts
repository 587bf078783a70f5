import { OperationError } from "../../../core/errors.ts";
import type { Invocation } from "../../invocation.ts";

/**
 * `--until-stdin-closes`: the parent process holds the other end of standard input. The system closes it when that process ends, however
 * it ends. What arrives on it is dropped.
 * @throws {OperationError} usage if fixtures are read from standard input, too
 */
export function stopWithStdin({ stdin }: Invocation, fixtures: readonly string[], stop: () => void): void {
  if (fixtures.includes("-")) {
    throw new OperationError("usage", "--until-stdin-closes and --fixtures - both need standard input", {
      hint: "Save the fixtures as a file, and name it with --fixtures",
    });
  }
  // The other end may be a socket, and a killed process resets it.
  for (const event of ["end", "close", "error"]) stdin.on(event, stop);
  stdin.resume();
}
