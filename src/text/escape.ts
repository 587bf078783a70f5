/**
 * Characters that a terminal acts upon instead of showing them: control characters (an escape sequence could clear the screen, change the
 * title of the window or forge a line), line separators, marks that reverse the direction of the text, and lone surrogates, which no
 * encoding has.
 */
export const acting = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Printable ASCII: nothing acts, and each character takes one cell. */
export const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

export const visible = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The text as one line, in which such characters are shown and do nothing. */
export const escapeLine = (text: string): string => (isPlain(text) ? text : text.replace(acting, visible));

/** The same, but keeps line breaks. */
export const escapeText = (text: string): string => text.split("\n").map(escapeLine).join("\n");
