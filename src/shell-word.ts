/** What every shell, and every reader of `.env` files, takes as it is. */
export const isPlainWord = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text);

/** One word of a POSIX shell, whatever it holds (POSIX.1 Shell 2.2.2). */
export const quoteWord = (text: string): string =>
  isPlainWord(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The command for something by its name, to be pasted; a name that looks like a flag stands last, behind `--`. */
export function commandFor(command: string, name: string, flags?: string): string {
  const words = name.startsWith("-") ? [command, flags, "--", quoteWord(name)] : [command, quoteWord(name), flags];
  return words.filter((word) => word !== undefined).join(" ");
}
