import { createPrivateKey, generateKeyPairSync, sign, X509Certificate, type KeyObject } from "node:crypto";
import type { Server } from "node:http";
import { deflateRawSync } from "node:zlib";
import { DOMParser } from "@xmldom/xmldom";
import { SignedXml } from "xml-crypto";
import { selfSignedCertificate } from "../../src/core/records/keys/certificate.ts";
import type { SamlFields } from "../../src/core/records/service-providers/schema.ts";
import type { Idp } from "../../src/index.ts";
import { approve, Browser, formsOf, type Visit } from "./browser.ts";

/** A service provider of SAML by hand: it makes requests, each of which can be bent, and reads responses by itself. */

const protocol = "urn:oasis:names:tc:SAML:2.0:protocol";
const assertion = "urn:oasis:names:tc:SAML:2.0:assertion";
const statusUri = "urn:oasis:names:tc:SAML:2.0:status:";
export const formats = {
  email: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  persistent: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  transient: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
  unspecified: "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
};
export const passwordClass = "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport";

export interface KeyAndCertificate {
  readonly key: KeyObject;
  /** PEM. */
  readonly certificate: string;
}

export function newKey(subject = "sp"): KeyAndCertificate {
  const key = createPrivateKey(
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
  );
  const notBefore = Date.now() - 1000;
  return {
    key,
    certificate: selfSignedCertificate({ key, subject, names: [], notBefore, notAfter: notBefore + 86_400_000 }),
  };
}

let count = 0;

export interface Sp {
  readonly entityId: string;
  readonly acs: string;
}

/** A service provider of one test's own. */
export async function registerSp(idp: Idp, saml: SamlFields = {}): Promise<Sp> {
  const port = 3000 + (count += 1);
  const sp = { entityId: `http://localhost:${port}/metadata`, acs: `http://localhost:${port}/acs` };
  await idp.call("seed", { clients: [{ client_id: sp.entityId, saml: { acs: [sp.acs], ...saml } }] });
  return sp;
}

/** Parts of an AuthnRequest: attributes that replace the usual ones (null: left out), and what is in it. */
export interface RequestChange {
  readonly attributes?: Readonly<Record<string, string | null>>;
  readonly inside?: string;
  readonly issuer?: string | null;
}

let ids = 0;

export function authnRequest(
  idp: Pick<Idp, "issuer">,
  sp: Sp,
  { attributes = {}, inside = "", issuer = sp.entityId }: RequestChange = {},
): string {
  const all: Readonly<Record<string, string | null>> = {
    ID: `_request${(ids += 1)}`,
    Version: "2.0",
    IssueInstant: new Date(0).toISOString(),
    Destination: `${idp.issuer}/saml/sso`,
    AssertionConsumerServiceURL: sp.acs,
    ...attributes,
  };
  const written = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [` ${name}="${value}"`]));
  const from = issuer === null ? "" : `<saml:Issuer>${issuer}</saml:Issuer>`;
  return `<samlp:AuthnRequest xmlns:samlp="${protocol}" xmlns:saml="${assertion}"${written.join("")}>${from}${inside}</samlp:AuthnRequest>`;
}

const idOf = (xml: string): string => / ID="([^"]+)"/.exec(xml)?.[1] ?? "";

const rsaSha256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
export const rsaSha1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1";

/** The address of a request by HTTP-Redirect. @param signed with which key, and by which algorithm */
export function redirectUrl(
  at: string,
  xml: string,
  relayState?: string,
  signed?: { readonly key: KeyObject; readonly algorithm?: string },
): string {
  const parameters: [string, string][] = [["SAMLRequest", deflateRawSync(xml).toString("base64")]];
  if (relayState !== undefined) parameters.push(["RelayState", relayState]);
  if (signed !== undefined) parameters.push(["SigAlg", signed.algorithm ?? rsaSha256]);
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  if (signed === undefined) return `${at}?${query}`;
  const signature = sign(signed.algorithm === rsaSha1 ? "sha1" : "sha256", Buffer.from(query), signed.key);
  return `${at}?${query}&Signature=${encodeURIComponent(signature.toString("base64"))}`;
}

/** Signs a message by the ID of its root, after its Issuer. */
export function signXml(
  xml: string,
  { key, certificate }: KeyAndCertificate,
  algorithm = rsaSha256,
  root = "AuthnRequest",
): string {
  const signed = new SignedXml({
    privateKey: key,
    publicCert: certificate,
    signatureAlgorithm: algorithm,
    canonicalizationAlgorithm: "http://www.w3.org/2001/10/xml-exc-c14n#",
  });
  signed.addReference({
    xpath: `//*[local-name()='${root}']`,
    digestAlgorithm:
      algorithm === rsaSha1 ? "http://www.w3.org/2000/09/xmldsig#sha1" : "http://www.w3.org/2001/04/xmlenc#sha256",
    transforms: ["http://www.w3.org/2000/09/xmldsig#enveloped-signature", "http://www.w3.org/2001/10/xml-exc-c14n#"],
  });
  signed.computeSignature(xml, {
    location: { reference: `//*[local-name()='${root}']/*[local-name()='Issuer']`, action: "after" },
  });
  return signed.getSignedXml();
}

/** Sends a request by HTTP-POST, as the page of a service provider does. */
export const postRequest = (browser: Browser, at: string, xml: string, relayState?: string): Promise<Visit> =>
  browser.open(at, {
    method: "POST",
    body: new URLSearchParams({
      SAMLRequest: Buffer.from(xml).toString("base64"),
      ...(relayState !== undefined && { RelayState: relayState }),
    }),
    headers: { origin: "http://localhost:3000" },
  });

/** What a page posts to a service provider. */
export interface Posted {
  readonly action: string;
  readonly xml: string;
  readonly relayState: string | undefined;
  readonly response: ResponseRead;
}

export function postedBy(visit: Visit): Posted {
  if (visit.page !== "saml-post")
    throw new Error(`not posted: page ${visit.page} (${visit.state}) ${visit.status} ${visit.body.slice(0, 3000)}`);
  const [form] = formsOf(visit.body);
  const fields = new Map(form?.fields);
  const xml = Buffer.from(fields.get("SAMLResponse") ?? "", "base64").toString();
  return { action: form?.action ?? "", xml, relayState: fields.get("RelayState"), response: readResponse(xml) };
}

const elements = (node: Document | Element, name: string): Element[] =>
  Array.from(node.getElementsByTagNameNS("*", name));
const text = (node: Document | Element, name: string): string | undefined =>
  elements(node, name)[0]?.textContent ?? undefined;

export interface ResponseRead {
  readonly document: Document;
  /** The local names of the status codes, without the prefix of the standard. */
  readonly statuses: readonly string[];
  readonly statusMessage: string | undefined;
  readonly inResponseTo: string | null;
  readonly destination: string | null;
  readonly issuer: string | undefined;
  readonly nameId: { readonly value: string; readonly format: string | null } | undefined;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  readonly contextClass: string | undefined;
  readonly sessionIndex: string | undefined;
}

export function readResponse(xml: string): ResponseRead {
  const document = new DOMParser().parseFromString(xml, "text/xml");
  const root = document.documentElement;
  const [name] = elements(document, "NameID");
  const [statement] = elements(document, "AuthnStatement");
  const attribute = (one: Element | undefined, key: string): string | null =>
    one?.hasAttribute(key) === true ? one.getAttribute(key) : null;
  return {
    document,
    statuses: elements(document, "StatusCode").map((code) => (code.getAttribute("Value") ?? "").replace(statusUri, "")),
    statusMessage: text(document, "StatusMessage"),
    inResponseTo: attribute(root, "InResponseTo"),
    destination: attribute(root, "Destination"),
    issuer: text(document, "Issuer"),
    nameId: name && { value: name.textContent, format: attribute(name, "Format") },
    attributes: Object.fromEntries(
      elements(document, "Attribute").map((one) => [
        one.getAttribute("Name") ?? "",
        elements(one, "AttributeValue").map((value) => value.textContent),
      ]),
    ),
    contextClass: text(document, "AuthnContextClassRef"),
    sessionIndex: attribute(statement, "SessionIndex") ?? undefined,
  };
}

/** Which elements a signature of this key covers, by their local names. @throws if one is wrong */
export function signedBy(xml: string, certificate: string): readonly string[] {
  const document = new DOMParser().parseFromString(xml, "text/xml");
  return elements(document, "Signature").map((signature) => {
    const signed = new SignedXml({ publicCert: certificate, getCertFromKeyInfo: () => null });
    signed.loadSignature(signature);
    if (!signed.checkSignature(xml)) throw new Error("a signature is wrong");
    const [covered = ""] = signed.getSignedReferences();
    return new DOMParser().parseFromString(covered, "text/xml").documentElement.localName;
  });
}

/** The certificates of the metadata, PEM. */
export async function certificatesOf(idp: Pick<Idp, "issuer">): Promise<readonly string[]> {
  const response = await fetch(`${idp.issuer}/saml/metadata`);
  const found = [...(await response.text()).matchAll(/<ds:X509Certificate>([^<]+)</g)];
  return found.map(([, base64 = ""]) => new X509Certificate(Buffer.from(base64, "base64")).toString());
}

/** Signs in by HTTP-Redirect, and returns what is posted. */
export async function signInBySaml(
  idp: Pick<Idp, "issuer">,
  sp: Sp,
  {
    browser = new Browser(idp.issuer),
    user = "alice",
    relayState,
    ...change
  }: RequestChange & { readonly browser?: Browser; readonly user?: string; readonly relayState?: string } = {},
): Promise<Posted & { readonly requestId: string; readonly browser: Browser }> {
  const xml = authnRequest(idp, sp, change);
  const visit = await browser.open(redirectUrl(`${idp.issuer}/saml/sso`, xml, relayState));
  return { ...postedBy(await approve(browser, visit, user)), requestId: idOf(xml), browser };
}

/** Lets a server listen on a free port. @returns its address */
export const listenOn = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`);
    });
  });
