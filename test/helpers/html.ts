/** Enough of an HTML reader for pages whose every attribute is quoted and whose every value is escaped; anything else is an error. */

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'" };

export const unescapeHtml = (html: string): string =>
  html.replace(/&([a-z]+|#\d+);/g, (whole, name: string) => entities[name] ?? whole);

const attribute = /([a-zA-Z][\w:-]*)(?:="([^"<]*)")?/;
const tags = new RegExp(`<(?:!doctype html|/[a-z0-9]+|([a-z][a-z0-9]*)((?:\\s+${attribute.source})*)\\s*/?)>`, "g");

/** The elements in the order of the document. @throws where a "<" begins no tag */
export function elementsOf(html: string): Element[] {
  const matches = [...html.matchAll(tags)];
  if (matches.length !== html.split("<").length - 1) throw new Error("a < that begins no tag");
  return matches
    .filter((match) => match[1] !== undefined)
    .map((match) => ({
      tag: match[1] ?? "",
      attributes: Object.fromEntries(
        [...(match[2] ?? "").matchAll(new RegExp(attribute, "g"))].map(([, name = "", value = ""]) => [
          name,
          unescapeHtml(value),
        ]),
      ),
    }));
}

/** The text between the tags. */
export const wordsOf = (html: string): string => unescapeHtml(html.replace(/<[^>]*>/g, "\n"));

/** The element with this id. @throws if it is missing */
export function hooked(html: string, id: string): Element {
  const element = elementsOf(html).find(({ attributes }) => attributes["id"] === id);
  if (element === undefined) throw new Error(`no element with id "${id}"`);
  return element;
}
