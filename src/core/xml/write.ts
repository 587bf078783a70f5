/** XML that goes out: written as text, with every value escaped here. */

/** A piece of XML, whose values are escaped. */
export class Xml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A character that XML 1.0 cannot have (2.2): also a lone surrogate. */
const impossible =
  /[^\t\n\r\u0020-\ud7ff\ud800-\udfff\ue000-\ufffd]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether a text can be in XML. */
export const isXmlText = (text: string): boolean => !impossible.test(text);

/** A reader changes these: line ends become one character, and white space in attributes becomes spaces (XML 1.0 2.11, 3.3.3). */
const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** @throws {RangeError} for a character that XML cannot have */
export function escapeXml(text: string): string {
  if (!isXmlText(text)) throw new RangeError("the text has a character that XML cannot have");
  return text.replaceAll(/[&<>"'\t\n\r]/g, (character) => references[character] ?? character);
}

type Value = string | number | Xml | readonly Xml[] | null;

const textOf = (value: Value): string => {
  if (value === null) return "";
  if (value instanceof Xml) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escapeXml(String(value));
};

/** A template whose values are escaped, unless they are XML themselves. Line breaks between elements are left out. */
export const xml = (parts: TemplateStringsArray, ...values: readonly Value[]): Xml =>
  new Xml(
    parts
      .map((part, at) => part.replaceAll(/\n\s*/g, "") + (at < values.length ? textOf(values[at] ?? null) : ""))
      .join(""),
  );

/** An attribute with a space before it; nothing without a value. */
export const attribute = (name: string, value: string | null | undefined): Xml =>
  new Xml(value == null ? "" : ` ${name}="${escapeXml(value)}"`);
