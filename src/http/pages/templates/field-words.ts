import { formatDate, formatTime, timeZoneHere } from "./texts.ts";
import type { FieldView } from "../views.ts";

/** The text of a key, in the language of the page. */
type Say = (key: string) => string;

const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

/** A value as a person reads it: dates and booleans in words. @returns null without a value */
export function wordsOf({ name, value }: FieldView, lang: string, say: Say): string | null {
  if (typeof value === "boolean") return say(value ? "value.yes" : "value.no");
  if (value === null) return null;
  if (value === "[]" || value === "{}") return "";
  const time = (iso: string): string => formatTime(iso, lang, timeZoneHere());
  if (name === "createdAt" && !Number.isNaN(Date.parse(value))) return time(value);
  // OpenID Connect Core 5.1: seconds since 1970.
  if (name === "updated_at" && /^\d{1,10}$/.test(value)) return time(new Date(Number(value) * 1000).toISOString());
  if (/^birth_?date$/i.test(name) && isDate(value)) return formatDate(value, lang);
  return value;
}

/** The name of a person comes first in a summary. */
const first: readonly string[] = ["displayName", "username", "email", "name"];
const rank = ({ name }: FieldView): number => (first.includes(name) ? first.indexOf(name) : first.length);

const maxSummary = 3;

/** A value in a summary. A boolean alone would not say what it is about. */
function shortWords(field: FieldView, lang: string, say: Say): string {
  if (typeof field.value !== "boolean") return wordsOf(field, lang, say) ?? "";
  return /verified$/i.test(field.name) ? say(field.value ? "value.verified" : "value.not-verified") : "";
}

/**
 * What a scope gives, in one line: "alice@example.test, verified".
 * @returns "" if it gives no value
 */
export function summaryOf(fields: readonly FieldView[], lang: string, say: Say): string {
  const valueOf = (name: string): FieldView["value"] => fields.find((field) => field.name === name)?.value ?? null;
  const [local, domain] = [valueOf("email.username"), valueOf("email.domain")];
  const parts = local === null || domain === null ? [] : [`${local}@${domain}`];
  const others = fields
    .filter(({ name }) => name !== "email.username" && name !== "email.domain")
    .toSorted((a, b) => rank(a) - rank(b));
  for (const field of others) {
    if (parts.length === maxSummary) break;
    const words = shortWords(field, lang, say);
    // "Alice Adams, Adams, Alice" says nothing more than "Alice Adams".
    if (words !== "" && !parts.some((part) => part.includes(words))) parts.push(words);
  }
  return parts.join(", ");
}
