import { acting, escapeLine, visible } from "../../text/terminal.ts";
import { ExactNumber, exactJson } from "../../text/json.ts";

export { escapeLine, escapeText, isPlain } from "../../text/terminal.ts";

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
