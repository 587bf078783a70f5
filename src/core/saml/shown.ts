import { XMLSerializer } from "@xmldom/xmldom";
import { domOf } from "../xml/parse.ts";
import { decodeMessage, type Brought } from "./message.ts";

/** A message as the ledger keeps it: the XML, in parts, with the texts apart of which only a fingerprint is kept. */
export type MessageParts = readonly (string | { readonly secret: string })[];

/** Elements that name a person, prove something, or hold what only their reader may see. */
const hidden = new Set(["NameID", "BaseID", "NewID", "SignatureValue", "CipherValue"]);

const mark = "\uE000";

/** @returns null for a message that cannot be read */
export function messageParts(
  given: Pick<Brought, "binding" | "message"> | { readonly xml: string },
): MessageParts | null {
  try {
    return partsOf("xml" in given ? given.xml : decodeMessage(given));
  } catch {
    return null;
  }
}

function partsOf(text: string): MessageParts {
  const document = domOf(text);
  const secrets: string[] = [];
  for (const element of Array.from(document.getElementsByTagName("*"))) {
    if (!hidden.has(element.localName)) continue;
    const secret = element.textContent.replaceAll(/\s+/g, "");
    while (element.firstChild !== null) element.removeChild(element.firstChild);
    element.appendChild(document.createTextNode(`${mark}${secrets.length}${mark}`));
    secrets.push(secret);
  }
  const parts = new XMLSerializer().serializeToString(document).split(mark);
  return parts.map((part, at) => (at % 2 === 0 ? part : { secret: secrets[Number(part)] ?? "" }));
}
