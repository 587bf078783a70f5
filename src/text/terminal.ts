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

/**
 * Characters that a terminal acts upon instead of showing them: control characters (an escape sequence could clear the screen, change the
 * title of the window or forge a line), line separators, marks that reverse the direction of the text, and lone surrogates, which no
 * encoding has. And those that nobody sees, in which a text for a program may hide: tags, and spaces without a width. Joiners stay, because
 * Persian names and emoji need them.
 */
export const acting =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Printable ASCII: nothing acts, and each character takes one cell. */
export const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** As JSON writes it: two escapes for a character beyond U+FFFF. */
export const visible = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** The text as one line, in which such characters are shown and do nothing. */
export const escapeLine = (text: string): string => (isPlain(text) ? text : text.replace(acting, visible));

/** The same, but keeps line breaks. */
export const escapeText = (text: string): string => text.split("\n").map(escapeLine).join("\n");
