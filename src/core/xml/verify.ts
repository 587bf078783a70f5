import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { SignedXml } from "xml-crypto";
import { domOf, parseXml, XmlProblem, type XmlElement } from "./parse.ts";

/**
 * Checks signatures. Of a signed message only what its signature covers is given back: those bytes are parsed again, so nothing outside of them is ever
 * read (SAML Core 5.4).
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

const isSignature = ({ localName, namespaceURI }: Element): boolean =>
  localName === "Signature" && namespaceURI === signatureSpace;

const childElements = (element: Element): readonly Element[] => {
  const found: Element[] = [];
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType === 1) found.push(node as Element);
  }
  return found;
};

const named = (element: Element, name: string): readonly Element[] =>
  childElements(element).filter((child) => child.localName === name && child.namespaceURI === signatureSpace);

/**
 * The signature of a message: a child of its root, and the only one in the message. One elsewhere is how signed messages are wrapped into others.
 * @returns null: the message is not signed
 * @throws {SignatureProblem}
 */
function signatureIn(document: Document): Element | null {
  const all = Array.from(document.getElementsByTagNameNS(signatureSpace, "Signature"));
  const own = childElements(document.documentElement).filter(isSignature);
  if (all.length === 0) return null;
  if (own.length !== 1 || all.length !== 1)
    throw new SignatureProblem("the message has a signature that is not its own, or more than one", "SAML Core 5.4.1");
  return own[0] ?? null;
}

/** Whether a message has a signature. */
export const isSigned = (text: string): boolean =>
  domOf(text).getElementsByTagNameNS(signatureSpace, "Signature").length > 0;

function only(element: Element, name: string): Element {
  const [first, second] = named(element, name);
  if (first === undefined || second !== undefined)
    throw new SignatureProblem(`the signature has ${first === undefined ? "no" : "more than one"} ${name}`);
  return first;
}

const algorithmOf = (element: Element): string => element.getAttribute("Algorithm") ?? "";

/** Checks the form of a signature before anything is computed. @throws {SignatureProblem} */
function checkForm(signature: Element, root: Element, { allowSha1 }: Verifying): void {
  const info = only(signature, "SignedInfo");
  const reference = only(info, "Reference");
  const id = root.getAttribute("ID") ?? "";
  const uri = reference.getAttribute("URI");
  if (id === "" || uri !== `#${id}`)
    throw new SignatureProblem(
      "the signature does not cover the message: its reference names another element",
      "SAML Core 5.4.2",
    );
  const method = algorithmOf(only(info, "SignatureMethod"));
  const digest = algorithmOf(only(reference, "DigestMethod"));
  const used = named(reference, "Transforms")
    .flatMap((list) => named(list, "Transform"))
    .map(algorithmOf);
  if (!used.includes(transforms[0] ?? "") || used.some((one) => !transforms.includes(one)))
    throw new SignatureProblem("the signature has other transforms than SAML allows", "SAML Core 5.4.4");
  if (!Object.hasOwn(hashes, method) || !digests.includes(digest))
    throw new SignatureProblem("the signature has an algorithm that is not accepted; use RSA with SHA-256");
  if (!allowSha1 && [method, digest].some((one) => sha1.includes(one))) throw sha1Problem();
}

const sha1Problem = (): SignatureProblem =>
  new SignatureProblem(
    "the message is signed with SHA-1, which is broken; sign with RSA-SHA256, or set allow_sha1 for the client",
  );

/**
 * The message that a signature covers.
 * @returns null: it is not signed
 * @throws {SignatureProblem | XmlProblem}
 */
export function signedMessage(text: string, verifying: Verifying): XmlElement | null {
  const document = domOf(text);
  const signature = signatureIn(document);
  if (signature === null) return null;
  const { documentElement: root } = document;
  checkForm(signature, root, verifying);
  for (const certificate of verifying.certificates) {
    const covered = coveredBy(text, signature, certificate);
    if (covered === null) continue;
    const message = parseXml(covered);
    if (
      message.name !== root.localName ||
      message.space !== root.namespaceURI ||
      message.attributes["ID"] !== root.getAttribute("ID")
    )
      throw new SignatureProblem("the signature covers another element than the message", "SAML Core 5.4.2");
    return message;
  }
  throw new SignatureProblem("the signature does not match any registered certificate");
}

/**
 * Every element of a message that a valid signature of its own covers: a response, and the assertions directly in it. For a report on a message.
 * @throws {SignatureProblem | XmlProblem} if one is wrong
 */
export function signedElements(text: string, verifying: Verifying): readonly XmlElement[] {
  const document = domOf(text);
  const { documentElement: root } = document;
  return Array.from(document.getElementsByTagNameNS(signatureSpace, "Signature")).map((signature) => {
    const parent = signature.parentNode as Element;
    if (parent !== root && parent.parentNode !== root)
      throw new SignatureProblem(
        "a signature is neither in the message itself nor in an assertion of it",
        "SAML Core 5.4.1",
      );
    checkForm(signature, parent, verifying);
    for (const certificate of verifying.certificates) {
      const covered = coveredBy(text, signature, certificate);
      if (covered !== null) return parseXml(covered);
    }
    throw new SignatureProblem("the signature does not match any registered certificate");
  });
}

/** The canonical bytes that the signature covers; null: it is not by this certificate. */
function coveredBy(text: string, signature: Element, certificate: string): string | null {
  // The key that a message names itself proves nothing.
  const signed = new SignedXml({ publicCert: certificate, getCertFromKeyInfo: () => null });
  try {
    signed.loadSignature(signature);
    if (!signed.checkSignature(text)) return null;
  } catch (error) {
    if (error instanceof XmlProblem) throw error;
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
