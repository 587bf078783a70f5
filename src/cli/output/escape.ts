import { ExactNumber, exactJson } from "../../text/json-digits.ts";

/**
 * Characters that a terminal acts upon instead of showing them: control characters (an escape sequence could clear the screen, change the
 * title of the window or forge a line), line separators, marks that reverse the direction of the text, and lone surrogates, which no
 * encoding has.
 */
const acting = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Printable ASCII: nothing acts, and each character takes one cell. */
export const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

const visible = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The text as one line, in which such characters are shown and do nothing. */
export const escapeLine = (text: string): string => (isPlain(text) ? text : text.replace(acting, visible));

/** The same, but keeps line breaks. */
export const escapeText = (text: string): string => text.split("\n").map(escapeLine).join("\n");

/** A copy of a JSON value in which every string, also every key, is safe to print. */
export function escapeDeep<T>(value: T): T;
export function escapeDeep(value: unknown): unknown {
  if (typeof value === "string") return escapeLine(value);
  if (Array.isArray(value)) return value.map((item: unknown) => escapeDeep(item));
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [escapeLine(key), escapeDeep<unknown>(member)]),
  );
}

/** JSON of the same value in which nothing acts on a terminal (JSON.stringify leaves U+0080 to U+009F as they are). */
export const printableJson = (value: unknown, indent: number): string =>
  exactJson(value, indent).replace(acting, (character) => (character === "\n" ? character : visible(character)));
