import type { Outgoing } from "../../../client/http.ts";

/**
 * check/frame/account: whether a browser is at the account of another one. account-place.ts says where the app shows that; probe.ts writes a
 * mark there, or reads the id of the account.
 */

/** Where the user's text is written: a page with a form, or a request. */
type MarkPlace =
  | { readonly kind: "form"; readonly url: string; readonly field: string | null }
  | { readonly kind: "request"; readonly method: string; readonly url: string; readonly json: string };

/** A header, whose value may be taken from a page. */
export interface MarkHeader {
  readonly name: string;
  readonly value: string;
  /** What stands for `{URL /REGEX/}` in the value; null: it is as it is. */
  readonly from: { readonly url: string; readonly pattern: RegExp; readonly placeholder: string } | null;
}

/** Where the id of an account stands: in JSON (RFC 6901), or in a text. */
type IdPlace = { readonly pointer: string } | { readonly pattern: RegExp };

/** How the account that a browser is signed in to is known. */
export type AccountPlace =
  | {
      readonly kind: "mark";
      readonly mark: MarkPlace;
      readonly headers: readonly MarkHeader[];
      /** The address that shows the text. */
      readonly show: string;
    }
  | { readonly kind: "id"; readonly url: string; readonly id: IdPlace };

const word = "{mark}";

/** @returns the place; a text says what is wrong with it */
export function markPlaceOf(text: string, field: string | null): MarkPlace | string {
  const [, method, url, json] = /^(POST|PUT|PATCH)\s+(\S+)\s+(\S.*)$/s.exec(text.trim()) ?? [];
  if (method === undefined || url === undefined || json === undefined) {
    return isWebAddress(text) ? { kind: "form", url: text, field } : `${text} is neither an address nor a request`;
  }
  if (!isWebAddress(url)) return `${url} is not an http or https URL`;
  if (!json.includes(word)) return `${json} does not say where the text goes: it has no ${word}`;
  return isJson(json.replaceAll(word, "mark")) ? { kind: "request", method, url, json } : `${json} is not JSON`;
}

/** `NAME: VALUE`. @returns the header; a text says what is wrong with it */
export function markHeaderOf(text: string): MarkHeader | string {
  const [, name, value = ""] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined) return "is not a name and a value, such as 'X-CSRF-Token: VALUE'";
  const [placeholder, url, source] = /\{(https?:\/\/\S+)\s+\/(.+)\/\}/.exec(value) ?? [];
  if (placeholder === undefined || url === undefined || source === undefined) return { name, value, from: null };
  const pattern = patternOf(source);
  if (typeof pattern === "string") return pattern;
  return isWebAddress(url)
    ? { name, value, from: { url, pattern, placeholder } }
    : `${url} is not an http or https URL`;
}

/** @returns the place; a text says what is wrong with it */
export function idPlaceOf(text: string): IdPlace | string {
  const [, source] = /^\/(.+)\/$/s.exec(text) ?? [];
  if (source !== undefined) {
    const pattern = patternOf(source);
    return typeof pattern === "string" ? pattern : { pattern };
  }
  return text.startsWith("/")
    ? { pointer: text }
    : `${text} is neither a JSON pointer, such as /data/id, nor a regular expression in slashes`;
}

/** A regular expression with one group. */
function patternOf(source: string): RegExp | string {
  try {
    const pattern = new RegExp(source);
    const groups = (new RegExp(`${source}|`).exec("")?.length ?? 1) - 1;
    return groups === 1 ? pattern : `/${source}/ has ${groups} groups, not one`;
  } catch {
    return `/${source}/ is not a regular expression`;
  }
}

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The request that writes a mark. */
export const requestWith = (
  { method, url, json }: Extract<MarkPlace, { readonly kind: "request" }>,
  mark: string,
): Outgoing => ({
  ...{ method, url },
  content: { type: "application/json", text: json.replaceAll(word, mark) },
});

/** The id in an answer; null: there is none. */
export function idIn(text: string, place: IdPlace): string | null {
  if ("pattern" in place) return place.pattern.exec(text)?.[1] ?? null;
  try {
    const parts = place.pointer.split("/").slice(1);
    const found = parts.reduce<unknown>((value, part) => {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      return typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined;
    }, JSON.parse(text));
    return typeof found === "string" || typeof found === "number" ? String(found) : null;
  } catch {
    return null;
  }
}
