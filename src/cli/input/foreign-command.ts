import type { Hint } from "../../core/base/hint.ts";

/** The words after `--`, which are another command: `idp exec -- npm test`. */

/** What was typed for a command that runs another one. */
export interface TypedCommand {
  /** The arguments before and after `--`, as commander passes them together. */
  readonly before: readonly string[];
  /** All words after `idp`. */
  readonly words: readonly string[];
}

/** The words before `--`. */
export const ownWords = (words: readonly string[]): readonly string[] =>
  words.includes("--") ? words.slice(0, words.indexOf("--")) : words;

/** The other command, and the arguments that stand before `--` by mistake. */
export function foreignCommand({ before, words }: TypedCommand) {
  const command = words.slice(ownWords(words).length + 1);
  return { command, stray: before.slice(0, before.length - command.length) };
}

/** Why a command could not be run, and what to do. @param path the command of ours, if it needs no flags to run the other one */
export function whyNotRun(
  program: string,
  { code }: NodeJS.ErrnoException,
  path: readonly string[] = [],
): { readonly isMissing: boolean; readonly message: string; readonly hint: Hint } {
  if (code !== "ENOENT" && code !== "ENOTDIR")
    return {
      isMissing: false,
      message: `${program} cannot be run`,
      hint: { text: "Is it a program, and executable?" },
    };
  const hint = /\s/.test(program)
    ? { text: "A whole line is for a shell", command: [...path, "--", "sh", "-c", program] }
    : { text: "Is it installed, and in PATH?" };
  return { isMissing: true, message: `${program} was not found`, hint };
}
