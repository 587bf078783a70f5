/** Whether every shell and every reader of `.env` files reads a text as it is. */
export const isPlainWord = (text: string): boolean => /^[A-Za-z0-9._:/=@+,-]+$/.test(text);

/** Any text as one word of a POSIX shell (POSIX.1 Shell 2.2.2); zsh replaces a word that begins with "=". */
export const quoteWord = (text: string): string =>
  isPlainWord(text) && !text.startsWith("=") ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * A text as one word of cmd.exe and of PowerShell, whichever is open: between double quotes, both leave it alone, unless it has what one of them
 * replaces there, or a backslash before the closing quote. PowerShell makes a list of `a,b`, and a variable of `@a`.
 */
function windowsWord(text: string): string | null {
  if (isPlainWord(text) && !/^@|,/.test(text)) return text;
  return /["“”„%$`!\p{Cc}]|\\$/u.test(text) ? null : `"${text}"`;
}

/** A text as one word on a terminal of a platform. Null: no quotes make it one word for every shell there. */
export const terminalWord = (text: string, platform: NodeJS.Platform): string | null =>
  platform === "win32" ? windowsWord(text) : quoteWord(text);
