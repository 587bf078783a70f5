/*
 * core/xml: XML as SAML uses it. parse.ts is the only file that parses; verify.ts checks signatures and gives what they cover; write.ts is the only
 * place that escapes, and signs and encrypts. All of it is loaded at the first SAML request.
 */
import { DOMParser } from "@xmldom/xmldom";

/** Bytes of a message, after it was inflated. */
export const maxXmlBytes = 65_536;
const maxLevels = 64;

/** Why a text is not read as XML. */
export class XmlProblem extends Error {
  override readonly name = "XmlProblem";
}

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
}

/** Whether an attribute of the type xs:boolean is true (XML Schema 2 3.2.2). */
export const isTrue = (value: string | undefined): boolean => value === "true" || value === "1";

function refuse(message: string): never {
  throw new XmlProblem(message);
}

/** How a node tells its kind (DOM Level 2 Core 1.2). */
const kinds = { element: 1, text: 3, cdata: 4 } as const;

/**
 * Parses a text by the limits of this server.
 * @throws {XmlProblem} for a DOCTYPE, more than 64 kB, more than 64 levels, and what is not well-formed
 */
export function domOf(text: string): Document {
  if (Buffer.byteLength(text) > maxXmlBytes) refuse(`it has more than ${maxXmlBytes} bytes`);
  // Entities are declared there (SAML 2.0 says nothing of a DOCTYPE, and no message needs one).
  if (/<!\s*DOCTYPE/i.test(text)) refuse("it has a DOCTYPE, which is never read");
  let first: XmlProblem | undefined;
  // The parser reports what its handler throws a second time, with its class in front.
  const fail = (message: unknown): never => {
    throw (first ??= new XmlProblem(`it is not well-formed XML: ${firstLine(message)}`));
  };
  const parser = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } });
  try {
    const document = parser.parseFromString(text.replace(/^\ufeff/, ""), "text/xml") as Document | undefined;
    // The parser gives no document, or one without an element, for a text without one.
    const root = document?.documentElement as Element | null | undefined;
    if (document === undefined || root == null) return refuse("it is not XML");
    checkLevels(root);
    return document;
  } catch (error) {
    if (error instanceof XmlProblem) throw error;
    return fail(error instanceof Error ? error.message : error);
  }
}

const firstLine = (message: unknown): string =>
  String(message)
    .replace(/^\[xmldom \w+\]\s*/, "")
    .split("\n")[0]
    ?.replaceAll(/<.*|[^\x20-\x7e]/g, "")
    .trim()
    .slice(0, 100) ?? "";

/** Goes through the elements without recursion, because their sender chooses how deep they are nested. */
function checkLevels(root: Element): void {
  let level = 1;
  let node: Node = root;
  for (;;) {
    if (level > maxLevels) refuse(`it is nested more than ${maxLevels} levels deep`);
    if (node.firstChild !== null) {
      node = node.firstChild;
      level += 1;
      continue;
    }
    while (node !== root && node.nextSibling === null) {
      node = node.parentNode as Node;
      level -= 1;
    }
    if (node === root) return;
    node = node.nextSibling as Node;
  }
}

/** @throws {XmlProblem} */
export const parseXml = (text: string): XmlElement => elementOf(domOf(text).documentElement);

/** At most 64 levels by now. */
function elementOf(element: Element): XmlElement {
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const { prefix, localName, value } of attributesOf(element)) {
    if (prefix === null || prefix === "") attributes[localName] = value;
  }
  const children: XmlElement[] = [];
  let text = "";
  let isPlain = true;
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    const { nodeType } = node;
    if (nodeType === kinds.text || nodeType === kinds.cdata) text += node.nodeValue ?? "";
    else isPlain = false;
    if (nodeType === kinds.element) children.push(elementOf(node as Element));
  }
  const { localName: name, namespaceURI: space } = element;
  return { name, space: space ?? "", attributes, children, text: isPlain ? text : null };
}

function attributesOf({ attributes }: Element): readonly Attr[] {
  return Array.from({ length: attributes.length }, (_, at) => attributes.item(at)).filter((one) => one !== null);
}

/** The children of this name. */
export const childrenOf = ({ children }: XmlElement, space: string, name: string): readonly XmlElement[] =>
  children.filter((child) => child.name === name && child.space === space);

/** The only child of this name; undefined without one. @throws {XmlProblem} if there are several */
export function childOf(element: XmlElement, space: string, name: string): XmlElement | undefined {
  const [first, second] = childrenOf(element, space, name);
  if (second !== undefined) refuse(`${element.name} has more than one ${name}`);
  return first;
}

/** The text of an element, without white space around it. @throws {XmlProblem} if anything else is in it */
export function textIn({ name, text }: XmlElement): string {
  if (text === null)
    refuse(`${name} has more than text in it: no comment, processing instruction or element is read there`);
  return text.trim();
}
