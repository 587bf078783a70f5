import { isUtf8 } from "node:buffer";
import { inflateRawSync } from "node:zlib";
import { withoutEnd } from "../../text/redacted.ts";
import { OperationError } from "../base/errors.ts";
import { childrenOf, parseXml, XmlProblem, type XmlElement } from "../base/xml/parse.ts";
import { signatureSpace } from "../base/xml/verify.ts";

/** Messages of SAML that somebody pastes: what one says. */

/** XML, a value of `SAMLResponse` or `SAMLRequest`, or an address or a form with one. @returns null: none of these */
export function samlTextIn(given: string): string | null {
  const text = withoutEnd(given.trim(), "\"'`,;").replace(/^["'`]+/, "");
  if (/^\ufeff?\s*</.test(text)) return text;
  const named = /(?:^|[?&#])(?:SAMLRequest|SAMLResponse)=([^&#\s]+)/.exec(text)?.[1];
  const value = named === undefined ? text : decoded(named);
  const base64 = value.replaceAll(/\s/g, "");
  if (base64.length < 20 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const bytes = Buffer.from(base64, "base64");
  for (const read of [bytes, inflated(bytes)]) {
    const xml = read?.toString() ?? "";
    if (!/^\ufeff?\s*</.test(xml)) continue;
    // Its other characters would be read in place of those that it has.
    return read !== null && isUtf8(read) ? xml : refuse(new XmlProblem("it is not UTF-8"));
  }
  return null;
}

function inflated(bytes: Buffer): Buffer | null {
  try {
    return inflateRawSync(bytes, { maxOutputLength: 1_000_000 });
  } catch {
    return null;
  }
}

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value.replaceAll("+", "%2B"));
  } catch {
    return value;
  }
};

/** What a message says, without any check. */
export interface DecodedSaml {
  readonly message: string;
  readonly id: string | null;
  readonly issuer: string | null;
  readonly destination: string | null;
  readonly inResponseTo: string | null;
  readonly status: readonly string[] | null;
  readonly assertions: readonly DecodedAssertion[];
  /** The elements that have a signature of their own. */
  readonly signed: readonly string[];
  readonly xml: string;
  /** Seconds until the first assertion ends, negative once it has; null without one. */
  readonly expiresIn: number | null;
  readonly verified: false;
}

export interface DecodedAssertion {
  readonly id: string | null;
  readonly issuer: string | null;
  readonly nameId: { readonly format: string | null; readonly value: string | null } | null;
  readonly audience: readonly string[];
  readonly recipient: string | null;
  readonly inResponseTo: string | null;
  readonly notBefore: string | null;
  readonly notOnOrAfter: string | null;
  readonly authnContext: string | null;
  readonly sessionIndex: string | null;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
}

const attributeOf = (element: XmlElement | undefined, name: string): string | null => element?.attributes[name] ?? null;
const textOf = (element: XmlElement | undefined): string | null => element?.text ?? null;
const childIn = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

function refuse(error: unknown): never {
  if (!(error instanceof XmlProblem)) throw error;
  throw new OperationError("refused", `this is not a SAML message: ${error.message}`, {
    hint: "Copy the message whole: a value of SAMLResponse, or its XML",
    cause: error,
  });
}

/** @param now milliseconds since 1970 @throws {OperationError} refused */
export function decodeSaml(xml: string, now: number): DecodedSaml {
  let root: XmlElement;
  try {
    root = parseXml(xml);
  } catch (error) {
    return refuse(error);
  }
  const assertions = (
    root.name === "Assertion" ? [root] : root.children.filter(({ name }) => name === "Assertion")
  ).map(decodeAssertion);
  const until = assertions[0]?.notOnOrAfter;
  return {
    message: root.name,
    id: attributeOf(root, "ID"),
    issuer: textOf(childIn(root, "Issuer")),
    destination: attributeOf(root, "Destination"),
    inResponseTo: attributeOf(root, "InResponseTo"),
    status: statusOf(childIn(root, "Status")),
    assertions,
    signed: [root, ...root.children]
      .filter((one) => childrenOf(one, signatureSpace, "Signature").length > 0)
      .map(({ name }) => name),
    xml,
    expiresIn: until == null ? null : Math.floor((Date.parse(until) - now) / 1000),
    verified: false,
  };
}

function statusOf(status: XmlElement | undefined): readonly string[] | null {
  if (status === undefined) return null;
  const codes: string[] = [];
  for (let code = childIn(status, "StatusCode"); code !== undefined; code = childIn(code, "StatusCode"))
    codes.push((code.attributes["Value"] ?? "").replace(/^.*:/, ""));
  return codes;
}

function decodeAssertion(assertion: XmlElement): DecodedAssertion {
  const subject = childIn(assertion, "Subject");
  const name = childIn(subject, "NameID");
  const data = childIn(childIn(subject, "SubjectConfirmation"), "SubjectConfirmationData");
  const conditions = childIn(assertion, "Conditions");
  const statement = childIn(assertion, "AuthnStatement");
  const attributes = (childIn(assertion, "AttributeStatement")?.children ?? []).filter(
    (one) => one.name === "Attribute",
  );
  return {
    id: attributeOf(assertion, "ID"),
    issuer: textOf(childIn(assertion, "Issuer")),
    nameId: name === undefined ? null : { format: attributeOf(name, "Format"), value: textOf(name) },
    audience: (childIn(conditions, "AudienceRestriction")?.children ?? []).flatMap((one) => textOf(one) ?? []),
    recipient: attributeOf(data, "Recipient"),
    inResponseTo: attributeOf(data, "InResponseTo"),
    notBefore: attributeOf(conditions, "NotBefore"),
    notOnOrAfter: attributeOf(conditions, "NotOnOrAfter"),
    authnContext: textOf(childIn(childIn(statement, "AuthnContext"), "AuthnContextClassRef")),
    sessionIndex: attributeOf(statement, "SessionIndex"),
    attributes: Object.fromEntries(
      attributes.map((one) => [one.attributes["Name"] ?? "", one.children.map((value) => textOf(value) ?? "")]),
    ),
  };
}
