/** Whether every shell and every reader of `.env` files reads a text as it is. */
export const isPlainWord = (text: string): boolean => /^[\w@%+=:,./-]+$/.test(text);

/** Any text as one word of a POSIX shell (POSIX.1 Shell 2.2.2). */
export const quoteWord = (text: string): string =>
  isPlainWord(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
