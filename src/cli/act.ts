import type { Invocation } from "./invocation.ts";
import type { Outcome } from "./output/print.ts";

/**
 * Makes a commander action of a command: resolves the global flags, runs the command, passes on its outcome.
 * `run` gets the command's arguments, then its flags. It returns null if it printed everything itself, or a number to also set the exit code.
 */
export type Act = (
  run: (cli: Invocation, ...args: never[]) => Promise<Outcome | number | null>,
) => (...received: unknown[]) => Promise<void>;

/** Lines that can be pasted, below the help of a command. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n\nGlobal flags, such as --json: idp --help\n`;
