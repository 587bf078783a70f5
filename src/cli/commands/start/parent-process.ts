import { OperationError } from "../../../core/base/errors.ts";
import type { Invocation } from "../../invocation.ts";
import { say } from "../../output/print.ts";

/** Ends with the process that started it. */

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

const checkEveryMs = 500;

/**
 * npm and npx run a command in a shell. When npm is ended, it ends that shell, but the shell does not pass the signal on: the server would
 * run forever and keep its port. So `idp` ends when the shell that npm started it in is gone.
 * A script with a single `&` may leave `idp` in the background on purpose.
 * @param end called when the shell is gone
 */
export function endWithShellOfNpm(cli: Invocation, end: () => void): void {
  const script = cli.env["npm_lifecycle_script"] ?? "";
  if (!script.includes("idp") || script.replaceAll("&&", "").includes("&")) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    say(cli, "npm has ended, so idp ends too.");
    end();
  }, checkEveryMs);
  timer.unref();
}
