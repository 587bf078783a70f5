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
