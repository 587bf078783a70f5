import { unwatchFile, watchFile } from "node:fs";
import { readControlTokens } from "../../../core/records/operators/control-tokens.ts";
import { problemText, OperationError } from "../../../core/base/errors.ts";
import type { ControlToken } from "../../../core/records/operators/roles.ts";
import { readNamedFile } from "../../input/read.ts";

/** Milliseconds between two looks at the file. A look also finds a file that was replaced, as editors and mounted secrets do. */
const pause = 250;

/** The control tokens of a running server. */
interface ControlTokens {
  /** Those that count now. */
  readonly list: () => readonly ControlToken[];
  readonly close: () => void;
}

const read = (file: string, adminToken: string | null): Promise<readonly ControlToken[]> =>
  readControlTokens(
    file,
    readNamedFile(file, {
      code: "usage",
      what: `--control-tokens ${file}`,
      hint: "Name a YAML or JSON file: a list of { name, role, token }",
    }).toString(),
    adminToken,
  );

/**
 * The tokens of `--control-tokens`, which are read again when the file changes. A later list with a problem is reported, and the old one stays.
 * @param given a path, or the list itself
 * @throws {OperationError} invalid, with the position of each problem; usage, if the file cannot be read
 */
export async function controlTokens(
  given: string,
  adminToken: string | null,
  log: (note: string) => void,
): Promise<ControlTokens> {
  if (given.trimStart().startsWith("[")) {
    const tokens = await readControlTokens("IDP_CONTROL_TOKENS", given, adminToken);
    return { list: () => tokens, close: () => undefined };
  }
  let tokens = await read(given, adminToken);
  const readAgain = (): void => {
    read(given, adminToken).then(
      (changed) => {
        tokens = changed;
        log(`${given}: the control tokens are now ${changed.map(({ name, role }) => `${name} (${role})`).join(", ")}`);
      },
      (error: unknown) => {
        const problems = error instanceof OperationError ? error.problems.map(problemText) : [];
        const reason = problems.length > 0 ? problems.join("; ") : (error as Error).message;
        log(`${given}: the control tokens stay as they were: ${reason}`);
      },
    );
  };
  watchFile(given, { interval: pause, persistent: false }, readAgain);
  return { list: () => tokens, close: () => unwatchFile(given, readAgain) };
}
