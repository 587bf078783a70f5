/*
 * core/base/xml: XML as SAML uses it. parse.ts is where every message is read, by the strict reader (reader.ts, characters.ts); verify.ts checks signatures and
 * gives what they cover; write.ts is the only place that escapes, and signs and encrypts. All of it is loaded at the first SAML request.
 */
import { refuse } from "./characters.ts";
import { readDocument, type XmlDocument, type XmlElement } from "./reader.ts";

export { XmlProblem } from "./characters.ts";
export type { XmlElement } from "./reader.ts";

/** Bytes of a message, after it was inflated. */
export const maxXmlBytes = 65_536;

/** Whether an attribute of the type xs:boolean is true (XML Schema 2 3.2.2). */
export const isTrue = (value: string | undefined): boolean => value === "true" || value === "1";

/**
 * Reads a text by the limits of this server.
 * @throws {XmlProblem} for a DOCTYPE, more than 64 kB, more than 64 levels, and what is not well-formed
 */
export function documentOf(text: string): XmlDocument {
  if (Buffer.byteLength(text) > maxXmlBytes) refuse(`it has more than ${maxXmlBytes} bytes`);
  return readDocument(text);
}

/** @throws {XmlProblem} */
export const parseXml = (text: string): XmlElement => documentOf(text).root;

/** An element and all that are in it, in the order of the document. At most 64 levels by now. */
export const allIn = (element: XmlElement): readonly XmlElement[] => {
  const found: XmlElement[] = [];
  const add = (one: XmlElement): void => {
    found.push(one);
    for (const child of one.children) add(child);
  };
  add(element);
  return found;
};

/** The children of this name. */
export const childrenOf = ({ children }: XmlElement, space: string, name: string): readonly XmlElement[] =>
  children.filter((child) => child.name === name && child.space === space);

/** The only child of this name; undefined without one. @throws {XmlProblem} if there are several */
export function childOf(element: XmlElement, space: string, name: string): XmlElement | undefined {
  const [first, second] = childrenOf(element, space, name);
  if (second !== undefined) refuse(`${element.name} has more than one ${name}`);
  return first;
}

/** The text of an element as it is: white space around it is part of a name. @throws {XmlProblem} if anything else is in it */
export function textIn({ name, text }: XmlElement): string {
  if (text === null)
    refuse(`${name} has more than text in it: no comment, processing instruction or element is read there`);
  return text;
}
