/** What every shell, and every reader of `.env` files, takes as it is. */
export const isPlainWord = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text);

/** One word of a POSIX shell, whatever it holds (POSIX.1 Shell 2.2.2). */
export const quoteWord = (text: string): string =>
  isPlainWord(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
