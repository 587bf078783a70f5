import type { Invocation } from "./invocation.ts";
import type { Outcome } from "./output/print.ts";

/**
 * Makes an action of commander from what a command does: settles the global flags, runs it, hands on its outcome.
 * `run` is given the command's arguments and then its flags. Null: it has said everything itself; a number: likewise, and ends with this exit code.
 */
export type Act = (
  run: (cli: Invocation, ...args: never[]) => Promise<Outcome | number | null>,
) => (...received: unknown[]) => Promise<void>;

/** Lines that can be pasted, below the help of a command. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n\nGlobal flags, such as --json: idp --help\n`;
