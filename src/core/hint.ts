import { quoteWord } from "../shell-word.ts";

/** The next step after a refusal. */
export interface Hint {
  /** A sentence; in front of a command a label, without a colon: "To restore". Empty where the command says enough. */
  readonly text: string;
  /** The words of a command, unquoted: `["idp", "users", "restore", "carol"]`. */
  readonly command?: readonly string[];
}

/** Writes the words of a command as a line for a shell. */
export type CommandLine = (words: readonly string[]) => string;

/** Quotes words for a POSIX shell, and nothing else. */
export const plainCommandLine: CommandLine = (words) => words.map(quoteWord).join(" ");

/** A hint as one line; a command ends it, without a period, to be copied. */
export function hintText({ text, command }: Hint, line: CommandLine = plainCommandLine): string {
  if (command === undefined) return text;
  return text === "" ? line(command) : `${text}: ${line(command)}`;
}

/** A hint in place of the sentence that it may be given as. */
export const hintOf = (hint: string | Hint): Hint => (typeof hint === "string" ? { text: hint } : hint);

/** Words for a record by its name. A name that looks like a flag stands last, behind `--`. */
export const commandOn = (
  command: readonly string[],
  name: string,
  flags: readonly string[] = [],
): readonly string[] => (name.startsWith("-") ? [...command, ...flags, "--", name] : [...command, name, ...flags]);
