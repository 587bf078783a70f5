/*
 * A strict reader of XML 1.0 with namespaces. It goes through the text once, and whatever is not well-formed ends it: what two parsers read differently is how
 * signed messages are wrapped into others.
 */
import {
  declaration,
  equals,
  impossible,
  matchAt,
  qualified,
  refuse,
  resolve,
  space,
  target,
  wrong,
  type Cursor,
} from "./characters.ts";

/** An element, as it was read: names are resolved, and nothing is left of comments and processing instructions but that they were there. */
export interface XmlElement {
  /** The local name, without the prefix. */
  readonly name: string;
  /** The namespace; "" for none. */
  readonly space: string;
  /** The attributes without a prefix. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text directly in it; null: it has elements, comments or processing instructions too, so its text can be read in two ways. */
  readonly text: string | null;
  /** Where it stands in the text of the document. */
  readonly start: number;
  /** Where its content begins and ends. */
  readonly inside: readonly [begin: number, end: number];
  readonly end: number;
}

export interface XmlDocument {
  /** The text, with the line ends of XML (XML 1.0 2.11). */
  readonly text: string;
  readonly root: XmlElement;
}

const maxLevels = 64;

const spaceOfXml = "http://www.w3.org/XML/1998/namespace";
const spaceOfXmlns = "http://www.w3.org/2000/xmlns/";

/** The prefixes that an element declares, and those around it. */
interface Scope {
  readonly declared: ReadonlyMap<string, string>;
  readonly around: Scope | null;
}

/** An element that is not closed yet. */
interface Open {
  readonly written: string;
  readonly element: Omit<XmlElement, "text" | "inside" | "end"> & { readonly children: XmlElement[] };
  readonly scope: Scope | null;
  readonly begin: number;
  text: string;
  isPlain: boolean;
}

/** The place after this mark. */
function after(cursor: Cursor, mark: string, from: number, what: string): number {
  const end = cursor.text.indexOf(mark, from);
  if (end < 0) wrong(cursor, `${what} has no end`);
  return end + mark.length;
}

/**
 * Reads a document.
 * @throws {XmlProblem} for a DOCTYPE, more than 64 levels, and what is not well-formed
 */
export function readDocument(sent: string): XmlDocument {
  const text = sent.replace(/^\ufeff/, "").replaceAll(/\r\n?/g, "\n");
  const cursor = { text, at: 0 };
  const bad = impossible.exec(text);
  if (bad !== null) wrong({ text, at: bad.index }, "a character that XML 1.0 does not allow");
  if (!/^[ \t\n]*</.test(text)) refuse("it is not XML");
  readDeclaration(cursor);
  readAround(cursor);
  if (cursor.at === text.length) refuse("it is not XML: it has no element");
  const root = readRoot(cursor);
  readAround(cursor);
  if (cursor.at < text.length) wrong(cursor, "there is something after the root element");
  return { text, root };
}

function readDeclaration(cursor: Cursor): void {
  if (!/^<\?xml[ \t\n?]/.test(cursor.text)) return;
  const found = matchAt(declaration, cursor) ?? wrong(cursor, "the XML declaration is not one of XML 1.0");
  const encoding = found[1] ?? found[2] ?? "UTF-8";
  // Others would read other characters.
  if (!/^utf-?8$/i.test(encoding) && /[^\0-\x7f]/.test(cursor.text))
    wrong(cursor, `the XML declaration names the encoding ${encoding.slice(0, 40)}, and the message is UTF-8`);
}

/** What may be before and after the root: comments, processing instructions and white space. */
function readAround(cursor: Cursor): void {
  const { text } = cursor;
  for (;;) {
    matchAt(space, cursor);
    if (text.startsWith("<!--", cursor.at)) skipComment(cursor);
    else if (text.startsWith("<?", cursor.at)) skipInstruction(cursor);
    else if (text.startsWith("<!", cursor.at)) refuseMarkup(cursor);
    else if (cursor.at < text.length && text[cursor.at] !== "<") wrong(cursor, "text outside the root element");
    else return;
  }
}

function skipComment(cursor: Cursor): void {
  const end = after(cursor, "--", cursor.at + 4, "a comment");
  if (cursor.text[end] !== ">") wrong(cursor, '"--" in a comment');
  cursor.at = end + 1;
}

function skipInstruction(cursor: Cursor): void {
  const begin = cursor.at;
  cursor.at += 2;
  const [called] = matchAt(target, cursor) ?? wrong(cursor, "a processing instruction without a name");
  if (called.toLowerCase() === "xml") wrong(cursor, "an XML declaration that is not at the beginning");
  cursor.at = begin;
  cursor.at = after(cursor, "?>", begin + 2, "a processing instruction");
}

/** Entities are declared in a DOCTYPE (SAML 2.0 says nothing of one, and no message needs it). */
function refuseMarkup(cursor: Cursor): never {
  if (/^<!\s*DOCTYPE/i.test(cursor.text.slice(cursor.at, cursor.at + 40)))
    refuse("it has a DOCTYPE, which is never read");
  wrong(cursor, '"<!" begins neither a comment nor a CDATA section');
}

/** Without recursion, because the sender chooses how deep the elements are nested. */
function readRoot(cursor: Cursor): XmlElement {
  const { text } = cursor;
  const open: Open[] = [];
  for (;;) {
    const inner = open.at(-1);
    let closed: XmlElement | null = null;
    if (inner === undefined || (text[cursor.at] === "<" && !/[/!?]/.test(text[cursor.at + 1] ?? ""))) {
      if (open.length === maxLevels) refuse(`it is nested more than ${maxLevels} levels deep`);
      if (inner !== undefined) inner.isPlain = false;
      const started = readStart(cursor, inner?.scope ?? null);
      if (started.isClosed) closed = close(started, cursor.at, cursor.at);
      else open.push(started);
    } else if (text.startsWith("</", cursor.at)) {
      const end = cursor.at;
      readEnd(cursor, inner);
      open.pop();
      closed = close(inner, end, cursor.at);
    } else if (text[cursor.at] === "<") readOther(cursor, inner);
    else readText(cursor, inner);
    if (closed === null) continue;
    const outer = open.at(-1);
    if (outer === undefined) return closed;
    outer.element.children.push(closed);
  }
}

const close = ({ element, begin, text, isPlain }: Open, contentEnd: number, end: number): XmlElement => ({
  ...element,
  text: isPlain ? text : null,
  inside: [begin, contentEnd],
  end,
});

/** A comment, a processing instruction, or a CDATA section. */
function readOther(cursor: Cursor, inner: Open): void {
  const { text, at } = cursor;
  if (text.startsWith("<![CDATA[", at)) {
    const end = after(cursor, "]]>", at + 9, "a CDATA section");
    inner.text += text.slice(at + 9, end - 3);
    cursor.at = end;
    return;
  }
  inner.isPlain = false;
  if (text.startsWith("<!--", at)) skipComment(cursor);
  else if (text.startsWith("<?", at)) skipInstruction(cursor);
  else refuseMarkup(cursor);
}

function readText(cursor: Cursor, inner: Open): void {
  const { text, at } = cursor;
  const end = text.indexOf("<", at);
  if (end < 0) wrong(cursor, `the element ${inner.written.slice(0, 40)} has no end`);
  const piece = text.slice(at, end);
  if (piece.includes("]]>")) wrong(cursor, '"]]>" in text');
  inner.text += resolve(cursor, piece);
  cursor.at = end;
}

function readEnd(cursor: Cursor, { written }: Open): void {
  const { text, at } = cursor;
  if (!text.startsWith(written, at + 2)) wrong(cursor, `an end tag that is not </${written.slice(0, 40)}>`);
  cursor.at = at + 2 + written.length;
  matchAt(space, cursor);
  if (text[cursor.at] !== ">") wrong(cursor, `an end tag that is not </${written.slice(0, 40)}>`);
  cursor.at += 1;
}

interface WrittenAttribute {
  readonly prefix: string | undefined;
  readonly local: string;
  readonly value: string;
}

function readStart(cursor: Cursor, around: Scope | null): Open & { readonly isClosed: boolean } {
  const start = cursor.at;
  cursor.at += 1;
  const [written, prefix, local = ""] = matchAt(qualified, cursor) ?? wrong(cursor, '"<" that begins no tag');
  const listed = readAttributes(cursor);
  const isClosed = cursor.text[cursor.at] === "/";
  cursor.at += isClosed ? 2 : 1;
  const scope = scopeOf(cursor, listed, around);
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  const seen = new Set<string>();
  for (const one of listed) {
    if (one.prefix === "xmlns") continue;
    if (one.prefix === undefined) {
      if (one.local !== "xmlns") attributes[one.local] = one.value;
      continue;
    }
    const full = `${one.local} ${spaceOf(cursor, scope, one.prefix)}`;
    if (seen.has(full)) wrong(cursor, `the attribute ${one.local.slice(0, 40)} twice in one element`);
    seen.add(full);
  }
  const element = { name: local, space: spaceOf(cursor, scope, prefix ?? ""), attributes, children: [], start };
  return { written, element, scope, begin: cursor.at, text: "", isPlain: true, isClosed };
}

/** Up to the end of the tag. */
function readAttributes(cursor: Cursor): readonly WrittenAttribute[] {
  const { text } = cursor;
  const found: WrittenAttribute[] = [];
  const seen = new Set<string>();
  for (;;) {
    const before = cursor.at;
    matchAt(space, cursor);
    if (text[cursor.at] === ">" || text.startsWith("/>", cursor.at)) return found;
    if (cursor.at === text.length) wrong(cursor, "the text ends within a tag");
    if (cursor.at === before) wrong(cursor, "a tag that has no end, or attributes without white space between them");
    const [written, prefix, local = ""] = matchAt(qualified, cursor) ?? wrong(cursor, "a tag that has no end");
    if (seen.has(written)) wrong(cursor, `the attribute ${written.slice(0, 40)} twice in one element`);
    seen.add(written);
    if (matchAt(equals, cursor) === null) wrong(cursor, `the attribute ${written.slice(0, 40)} has no value in quotes`);
    const begin = cursor.at + 1;
    const end = after(cursor, text[cursor.at] ?? "", begin, "the value of an attribute");
    const value = text.slice(begin, end - 1);
    if (value.includes("<")) wrong(cursor, '"<" in the value of an attribute');
    // White space becomes a space, unless it is a reference (XML 1.0 3.3.3).
    found.push({ prefix, local, value: resolve(cursor, value.replaceAll(/[\t\n]/g, " ")) });
    cursor.at = end;
  }
}

/** The prefixes that hold in an element (Namespaces in XML 1.0 3, 6). "" is the default namespace. */
function scopeOf(cursor: Cursor, attributes: readonly WrittenAttribute[], around: Scope | null): Scope | null {
  const declared = new Map<string, string>();
  for (const { prefix, local, value } of attributes) {
    const isDefault = prefix === undefined && local === "xmlns";
    if (!isDefault && prefix !== "xmlns") continue;
    const isReserved =
      value === spaceOfXmlns ||
      (value === spaceOfXml) !== (!isDefault && local === "xml") ||
      (!isDefault && local === "xmlns");
    if (isReserved || (!isDefault && value === "")) wrong(cursor, "a prefix or namespace that cannot be declared");
    declared.set(isDefault ? "" : local, value);
  }
  return declared.size === 0 ? around : { declared, around };
}

function spaceOf(cursor: Cursor, scope: Scope | null, prefix: string): string {
  if (prefix === "xml") return spaceOfXml;
  for (let one = scope; one !== null; one = one.around) {
    const found = one.declared.get(prefix);
    if (found !== undefined) return found;
  }
  return prefix === "" ? "" : wrong(cursor, `the prefix ${prefix.slice(0, 40)} is not declared`);
}
