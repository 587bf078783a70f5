import { createPublicKey, sign, type KeyObject } from "node:crypto";
import { SignedXml } from "xml-crypto";
import type { EncryptionAlgorithm, KeyEncryptionAlgorithm } from "xml-encryption";
import { isXmlText } from "./characters.ts";

/** XML that goes out: written as text, with every value escaped here. */

/** A piece of XML, whose values are escaped. */
export class Xml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

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

/** Signs messages and parts of them, and encrypts. */

export const algorithms = {
  rsaSha256: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
  rsaSha1: "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
  hmac: "http://www.w3.org/2000/09/xmldsig#hmac-sha1",
  sha256: "http://www.w3.org/2001/04/xmlenc#sha256",
  sha1: "http://www.w3.org/2000/09/xmldsig#sha1",
  exclusive: "http://www.w3.org/2001/10/xml-exc-c14n#",
  enveloped: "http://www.w3.org/2000/09/xmldsig#enveloped-signature",
} as const;

export interface SignWith {
  readonly key: KeyObject;
  /** PEM: named in the signature. */
  readonly certificate: string;
}

/** How a signature differs from the usual one: for flaws. */
export interface OtherSignature {
  readonly signature?: string;
  readonly digest?: string;
  /** The secret of an HMAC. */
  readonly secret?: string;
  /** The reference names no element, so it covers the whole text. */
  readonly emptyReference?: true;
}

/**
 * Signs one element of a text by its ID (SAML Core 5.4): RSA-SHA256, exclusive canonicalization, SHA-256. The signature stands after the Issuer of the
 * element, where the schema has it.
 * @param name of the element, without a prefix
 * @returns the whole text with the signature
 */
export function signElement(
  text: Xml,
  name: string,
  id: string,
  { key, certificate }: SignWith,
  other: OtherSignature = {},
): Xml {
  const {
    signature: signatureAlgorithm = algorithms.rsaSha256,
    digest: digestAlgorithm = algorithms.sha256,
    secret,
    emptyReference = false,
  } = other;
  const signed = new SignedXml({
    privateKey: secret ?? key,
    publicCert: certificate,
    signatureAlgorithm,
    canonicalizationAlgorithm: algorithms.exclusive,
  });
  if (secret !== undefined) signed.enableHMAC();
  const place = `//*[local-name()='${name}' and @ID='${id}']`;
  signed.addReference({
    xpath: place,
    digestAlgorithm,
    transforms: [algorithms.enveloped, algorithms.exclusive],
    isEmptyUri: emptyReference,
  });
  signed.computeSignature(text.text, {
    prefix: "ds",
    location: { reference: `${place}/*[local-name()='Issuer']`, action: "after" },
  });
  return new Xml(signed.getSignedXml());
}

/** Signs the query of a message in an address (SAML Bindings 3.4.4.1). @returns the query with `SigAlg` and `Signature` */
export function signQuery(parameters: readonly (readonly [string, string])[], key: KeyObject): string {
  const content = [...parameters, ["SigAlg", algorithms.rsaSha256] as const]
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  return `${content}&Signature=${encodeURIComponent(sign("sha256", Buffer.from(content), key).toString("base64"))}`;
}

/** Encrypts an element for the holder of a certificate. @param by algorithms as URIs: of the content, and of its key @returns `xenc:EncryptedData` */
export async function encryptElement(
  text: Xml,
  certificate: string,
  by: { readonly content: EncryptionAlgorithm; readonly key: KeyEncryptionAlgorithm },
): Promise<Xml> {
  const { encrypt } = await import("xml-encryption");
  return new Promise((resolve, reject) => {
    encrypt(
      text.text,
      {
        rsa_pub: createPublicKey(certificate).export({ type: "spki", format: "pem" }).toString(),
        pem: certificate,
        encryptionAlgorithm: by.content,
        keyEncryptionAlgorithm: by.key,
        // The operator or the metadata chose an older one for a library that knows no other.
        disallowEncryptionWithInsecureAlgorithm: by.content.endsWith("-gcm"),
        warnInsecureAlgorithm: false,
      },
      (error: Error | null, encrypted: string) => {
        if (error === null) resolve(new Xml(encrypted));
        else reject(error);
      },
    );
  });
}
