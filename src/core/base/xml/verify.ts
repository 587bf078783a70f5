import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { DOMParser } from "@xmldom/xmldom";
import { SignedXml } from "xml-crypto";
import type { XmlDocument } from "./reader.ts";
import { allIn, childrenOf, documentOf, parseXml, type XmlElement } from "./parse.ts";

/**
 * Checks signatures. Of a signed message only what its signature covers is given back: those bytes are read again, so nothing outside of them is ever
 * read (SAML Core 5.4). The parser of xml-crypto gets nothing but the root of a message that the strict reader has read.
 */

export const signatureSpace = "http://www.w3.org/2000/09/xmldsig#";

const more = "http://www.w3.org/2001/04/xmldsig-more#";
/** The hash of each signature method. */
const hashes: Readonly<Record<string, string>> = {
  [`${signatureSpace}rsa-sha1`]: "sha1",
  [`${more}rsa-sha256`]: "sha256",
  [`${more}rsa-sha384`]: "sha384",
  [`${more}rsa-sha512`]: "sha512",
};
const sha1 = [`${signatureSpace}rsa-sha1`, `${signatureSpace}sha1`];
const digests = [
  `${signatureSpace}sha1`,
  "http://www.w3.org/2001/04/xmlenc#sha256",
  "http://www.w3.org/2001/04/xmlenc#sha512",
];
const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#";
/** SAML Core 5.4.4. */
const transforms = [`${signatureSpace}enveloped-signature`, exclusive, `${exclusive}WithComments`];

/** Why a signature does not count. */
export class SignatureProblem extends Error {
  override readonly name = "SignatureProblem";
  /** The paragraph of SAML. */
  readonly rule: `SAML ${string}`;
  constructor(message: string, rule: `SAML ${string}` = "SAML Core 5.4") {
    super(message);
    this.rule = rule;
  }
}

/** What a signature is checked with. */
interface Verifying {
  /** PEM; none: nothing can be checked. */
  readonly certificates: readonly string[];
  readonly allowSha1: boolean;
}

const isSignature = ({ name, space }: XmlElement): boolean => name === "Signature" && space === signatureSpace;

const signaturesIn = (root: XmlElement): readonly XmlElement[] => allIn(root).filter(isSignature);

/** Whether a message has a signature. */
export const isSigned = (root: XmlElement): boolean => allIn(root).some(isSignature);

function only(element: XmlElement, name: string): XmlElement {
  const [first, second] = childrenOf(element, signatureSpace, name);
  if (first === undefined || second !== undefined)
    throw new SignatureProblem(`the signature has ${first === undefined ? "no" : "more than one"} ${name}`);
  return first;
}

const algorithmOf = ({ attributes }: XmlElement): string => attributes["Algorithm"] ?? "";

/** Checks the form of a signature before anything is computed. @throws {SignatureProblem} */
function checkForm(signature: XmlElement, root: XmlElement, { allowSha1 }: Verifying): void {
  const info = only(signature, "SignedInfo");
  const reference = only(info, "Reference");
  const { ID: id = "" } = root.attributes;
  const { URI: uri } = reference.attributes;
  if (id === "" || uri !== `#${id}`)
    throw new SignatureProblem(
      "the signature does not cover the message: its reference names another element",
      "SAML Core 5.4.2",
    );
  const method = algorithmOf(only(info, "SignatureMethod"));
  const digest = algorithmOf(only(reference, "DigestMethod"));
  const used = childrenOf(reference, signatureSpace, "Transforms")
    .flatMap((list) => childrenOf(list, signatureSpace, "Transform"))
    .map(algorithmOf);
  // Each transform goes through the whole message, and two are all that SAML has.
  const isUsual = used.length <= 2 && used.every((one) => transforms.includes(one));
  if (!used.includes(transforms[0] ?? "") || !isUsual)
    throw new SignatureProblem("the signature has other transforms than SAML allows", "SAML Core 5.4.4");
  if (!Object.hasOwn(hashes, method) || !digests.includes(digest))
    throw new SignatureProblem("the signature has an algorithm that is not accepted; use RSA with SHA-256");
  if (!allowSha1 && [method, digest].some((one) => sha1.includes(one))) throw sha1Problem();
}

const sha1Problem = (): SignatureProblem =>
  new SignatureProblem(
    "the message is signed with SHA-1, which is broken; sign with RSA-SHA256, or set allow_sha1 for the client",
  );

interface ForCrypto {
  readonly text: string;
  readonly signatures: readonly Element[];
}

/** A comment, or what may have the marks of one in it. */
const commentOrOther = /<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>/gs;

/**
 * The signatures of a message as xml-crypto reads them, in the order of the document, beside the text that it checks. A reference by ID does not cover
 * comments (XML Signature 4.4.3.3), and xml-crypto takes them out in a time that grows with the square of their number.
 */
function forCrypto({ text, root }: XmlDocument): ForCrypto {
  const own = text
    .slice(root.start, root.end)
    .replaceAll(commentOrOther, (found) => (found.startsWith("<!--") ? "" : found));
  const fail = (): never => {
    throw new SignatureProblem("the message is not one whose signature can be checked");
  };
  const parser = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } });
  const document = parser.parseFromString(own, "text/xml");
  checkIds(document);
  return { text: own, signatures: Array.from(document.getElementsByTagNameNS(signatureSpace, "Signature")) };
}

/**
 * A reference that two elements fit says nothing (SAML Core 1.3.4). xml-crypto refuses it, too, after a time that grows with the square of their number.
 * @throws {SignatureProblem}
 */
function checkIds(document: Document): void {
  const known = new Set<string>();
  for (const element of Array.from(document.getElementsByTagName("*"))) {
    // The attributes that xml-crypto takes for an ID, whatever their prefix.
    const ids = Array.from(element.attributes).filter(({ localName }) => ["ID", "Id", "id"].includes(localName));
    for (const value of new Set(ids.map((one) => one.value))) {
      if (known.has(value))
        throw new SignatureProblem("the message has an ID that two elements have", "SAML Core 1.3.4");
      known.add(value);
    }
  }
}

/**
 * The message that a signature covers: a signature that is a child of its root, and the only one in it. One elsewhere is how signed messages are wrapped
 * into others.
 * @returns null: it is not signed
 * @throws {SignatureProblem | XmlProblem}
 */
export function signedMessage(sent: string, verifying: Verifying): XmlElement | null {
  const document = documentOf(sent);
  const { root } = document;
  const all = signaturesIn(root);
  if (all.length === 0) return null;
  const [own, ...others] = root.children.filter(isSignature);
  if (own === undefined || others.length > 0 || all.length !== 1)
    throw new SignatureProblem("the message has a signature that is not its own, or more than one", "SAML Core 5.4.1");
  checkForm(own, root, verifying);
  const message = coveredByAny(forCrypto(document), 0, verifying);
  if (message.name !== root.name || message.space !== root.space || message.attributes["ID"] !== root.attributes["ID"])
    throw new SignatureProblem("the signature covers another element than the message", "SAML Core 5.4.2");
  return message;
}

/** Each goes through the whole message. */
const maxSignatures = 8;

/**
 * Every element of a message that a valid signature of its own covers: a response, and the assertions directly in it. For a report on a message.
 * @throws {SignatureProblem | XmlProblem} if one is wrong
 */
export function signedElements(sent: string, verifying: Verifying): readonly XmlElement[] {
  const document = documentOf(sent);
  const { root } = document;
  const all = signaturesIn(root);
  if (all.length > maxSignatures) throw new SignatureProblem(`the message has more than ${maxSignatures} signatures`);
  const parents = [root, ...root.children];
  const read = all.length === 0 ? null : forCrypto(document);
  return all.map((signature, at) => {
    const parent = parents.find(({ children }) => children.includes(signature));
    if (parent === undefined)
      throw new SignatureProblem(
        "a signature is neither in the message itself nor in an assertion of it",
        "SAML Core 5.4.1",
      );
    checkForm(signature, parent, verifying);
    return coveredByAny(read as ForCrypto, at, verifying);
  });
}

/** What a signature covers, by the first certificate that it is by. @throws {SignatureProblem} */
function coveredByAny({ text, signatures }: ForCrypto, at: number, { certificates }: Verifying): XmlElement {
  const signature = signatures[at];
  for (const certificate of signature === undefined ? [] : certificates) {
    const covered = coveredBy(text, signature as Element, certificate);
    if (covered !== null) return parseXml(covered);
  }
  throw new SignatureProblem("the signature does not match any registered certificate");
}

/** The canonical bytes that the signature covers; null: it is not by this certificate. */
function coveredBy(text: string, signature: Element, certificate: string): string | null {
  // The key that a message names itself proves nothing.
  const signed = new SignedXml({ publicCert: certificate, getCertFromKeyInfo: () => null });
  try {
    signed.loadSignature(signature);
    if (!signed.checkSignature(text)) return null;
  } catch {
    return null;
  }
  const [covered, ...others] = signed.getSignedReferences();
  return covered === undefined || others.length > 0 ? null : covered;
}

/**
 * Checks the signature of a message in an address, over the query as it was sent (SAML Bindings 3.4.4.1).
 * @param content `SAMLRequest=…&RelayState=…&SigAlg=…`, each as it was sent
 * @throws {SignatureProblem}
 */
export function verifyQuery(content: string, algorithm: string, signature: string, verifying: Verifying): void {
  const { certificates, allowSha1 } = verifying;
  const hashName = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
  if (hashName === undefined)
    throw new SignatureProblem(
      "SigAlg names an algorithm that is not accepted; use RSA with SHA-256",
      "SAML Bindings 3.4.4.1",
    );
  if (!allowSha1 && sha1.includes(algorithm)) throw sha1Problem();
  const bytes = Buffer.from(signature, "base64");
  const keys = certificates
    .map((pem): KeyObject => createPublicKey(pem))
    .filter((key) => key.asymmetricKeyType === "rsa");
  if (!keys.some((key) => verify(hashName, Buffer.from(content), key, bytes)))
    throw new SignatureProblem("the signature does not match any registered certificate", "SAML Bindings 3.4.4.1");
}
