import { deflateRawSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { isUtf8 } from "node:buffer";
import { OAuthError, type Paragraph } from "../base/errors.ts";
import { spaces, type Binding } from "../records/service-providers/names.ts";
import {
  allIn,
  childOf,
  documentOf,
  maxXmlBytes,
  parseXml,
  textIn,
  XmlProblem,
  type XmlElement,
} from "../base/xml/parse.ts";
import { SignatureProblem } from "../base/xml/verify.ts";

/** Messages as a browser brings them, by HTTP-Redirect and HTTP-POST (SAML Bindings 3.4, 3.5). Nothing in them is trusted. */

/** A message of SAML as the browser brought it. */
export interface Brought {
  readonly binding: Binding;
  /** The value of `SAMLRequest`. */
  readonly message: string | undefined;
  /** The value of `SAMLResponse`: of a service provider, that would answer a message of this identity provider. */
  readonly response?: string | undefined;
  /** The value of `SAMLEncoding`; absent: DEFLATE. */
  readonly encoding?: string | undefined;
  readonly relayState: string | undefined;
  /** The query as it was sent, without decoding; only HTTP-Redirect reads it. */
  readonly query: string;
}

/** Bytes (SAML Bindings 3.4.3 says 80; service providers send more). */
const maxRelayState = 8192;
const usualRelayState = 80;

const maxId = 256;
/** Bytes of what waits for a person because of one message, which anybody may send. */
const maxWaiting = 16_384;

/** The message that waited for its browser was used, or its time is over. */
export const notWaiting = (): OAuthError =>
  // That a message waits is an invention of this server.
  refuseMessage("this message was used already, or waited for more than ten minutes", null, "begin again in the app");

/** Checks that what is about to wait is small. @throws {OAuthError} */
export function requireSmall<T>(kept: T): T {
  const bytes = Buffer.byteLength(JSON.stringify(kept));
  if (bytes <= maxWaiting) return kept;
  throw refuseMessage(
    `the message, with its RelayState, makes ${bytes} bytes wait for the person; at most ${maxWaiting} may`,
    // A limit of this server.
    null,
    "send a shorter message",
  );
}

/** A message that cannot be read, or whose sender is not proven: nothing is sent anywhere, and the person sees a page. */
export const refuseMessage = (message: string, rule: Paragraph | null, fix: string | null = null): OAuthError =>
  new OAuthError("invalid_request", message, {
    rule,
    fix: fix ?? "correct the message that the service provider sends",
  });

/** The only encoding of HTTP-Redirect that there is (SAML Bindings 3.4.4.1). */
const deflate = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE";

type Encoded = Pick<Brought, "binding" | "message" | "response" | "encoding">;

/** The XML of a message. @throws {OAuthError} */
export function decodeMessage(given: Encoded, name = "SAMLRequest"): string {
  const { binding, message, response, encoding } = given;
  if (binding === "redirect" && encoding !== undefined && encoding !== deflate) {
    const fix = `leave SAMLEncoding out, or send ${deflate}`;
    throw refuseMessage(`SAMLEncoding "${encoding}" is not supported`, "SAML Bindings 3.4.4", fix);
  }
  const rule = ruleOf(binding);
  if (message === undefined && response !== undefined) throw refuseResponse({ ...given, message: response });
  if (message === undefined)
    throw refuseMessage(`${name} is missing`, rule, `send ${name}, or begin the sign-in in the app`);
  // A form decoder reads a plus as a space. Between two lines, white space is only layout.
  if (/\S +\S/.test(message))
    throw refuseMessage(`${name} has a space where a + was not percent-encoded`, rule, "send + as %2B");
  return decodeBase64(binding, message.replaceAll(/\s/g, ""), name);
}

const ruleOf = (binding: Binding): Paragraph => (binding === "post" ? "SAML Bindings 3.5.4" : "SAML Bindings 3.4.4.1");

function decodeBase64(binding: Binding, base64: string, name: string): string {
  const rule = ruleOf(binding);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw refuseMessage(`${name} is not base64`, rule);
  const bytes = Buffer.from(base64, "base64");
  const inflated = binding === "post" ? bytes : inflate(bytes, name);
  if (inflated.length > maxXmlBytes) throw refuseMessage(`${name} has more than 64 kB`, null, "send a shorter message");
  if (binding === "post" && !isXml(bytes) && isXml(inflatedBy(inflateRawSync, bytes)))
    throw refuseMessage(`${name} is deflated, which a message by HTTP-POST is not`, rule, "send the XML in base64");
  if (!isUtf8(inflated)) throw refuseMessage(`${name} is not UTF-8`, rule);
  if (!isXml(inflated)) throw refuseMessage(`${name} is not XML: it does not begin with <`, "SAML Core 1.3");
  return inflated.toString();
}

/** A LogoutResponse would answer a LogoutRequest of this identity provider, which sends none; a Response has its place at a service provider. */
function refuseResponse(given: Encoded): OAuthError {
  let what = "a SAMLResponse";
  try {
    const { name, from } = namedIn(parseXml(decodeMessage({ ...given, response: undefined }, "SAMLResponse")));
    what = `a ${name}${from}`;
  } catch {
    // What it is cannot be read, and is not needed.
  }
  return refuseMessage(
    `${what} came in SAMLResponse: this identity provider sends no requests, so it takes no answers to any`,
    "SAML Profiles 4.4",
    "send a LogoutRequest or an AuthnRequest as SAMLRequest; answers of this provider go to the addresses of the app",
  );
}

function namedIn(root: XmlElement): { readonly name: string; readonly from: string } {
  const issuer = childOf(root, spaces.assertion, "Issuer");
  return { name: root.name, from: issuer === undefined ? "" : ` of "${textIn(issuer)}"` };
}

const isXml = (bytes: Buffer | null): boolean =>
  bytes !== null && /^(?:\u00ef\u00bb\u00bf)?\s*</.test(bytes.subarray(0, 100).toString("latin1"));

/** Null: it is not of this form. It stops at the limit, whatever the message would become. */
function inflatedBy(read: typeof inflateRawSync, bytes: Buffer): Buffer | null {
  try {
    return read(bytes, { maxOutputLength: maxXmlBytes + 1 });
  } catch {
    return null;
  }
}

function inflate(bytes: Buffer, name: string): Buffer {
  const rule = "SAML Bindings 3.4.4.1";
  const raw = "compress with DEFLATE alone (RFC 1951), without a header";
  try {
    return inflateRawSync(bytes, { maxOutputLength: maxXmlBytes + 1 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ERR_BUFFER_TOO_LARGE")
      throw refuseMessage(`${name} has more than 64 kB when it is inflated`, null, "send a shorter message");
    if (isXml(bytes))
      throw refuseMessage(`${name} is XML that is not deflated (RFC 1951)`, rule, "deflate the XML before base64");
    if (inflatedBy(inflateSync, bytes) !== null)
      throw refuseMessage(`${name} is a zlib stream (RFC 1950), not DEFLATE (RFC 1951)`, rule, raw);
    if (inflatedBy(gunzipSync, bytes) !== null)
      throw refuseMessage(`${name} is a gzip stream (RFC 1952), not DEFLATE (RFC 1951)`, rule, raw);
    if (code === "Z_BUF_ERROR")
      throw refuseMessage(
        `${name} is a deflated stream that ends too early: its last block is missing (RFC 1951)`,
        rule,
        "send the message whole, and close the stream before base64: a flush does not end it",
      );
    throw refuseMessage(`${name} is not deflated (RFC 1951)`, rule);
  }
}

/** A message for an address. */
export const deflateMessage = (text: string): string => deflateRawSync(text).toString("base64");

/** Reads, with what is wrong as a refusal. @param sender of a signature that is wrong, in words @throws {OAuthError} */
export function reading<T>(work: () => T, sender = ""): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof XmlProblem) throw refuseMessage(`the message is not read: ${error.message}`, "SAML Core 1.3");
    if (error instanceof SignatureProblem) {
      throw refuseMessage(
        error.message + sender,
        error.rule,
        "sign with a key whose certificate is registered for the client, by RSA-SHA256",
      );
    }
    throw error;
  }
}

/** The root of a message, if it is one of these. @throws {OAuthError} */
export function rootOf(text: string, names: readonly string[]): XmlElement {
  const root = reading(() => parseXml(text));
  if (root.space !== spaces.protocol || !names.includes(root.name))
    throw refuseMessage(`the message is ${root.name}, not ${names.join(" or ")}`, "SAML Core 3.2.1");
  const { ID: id = "" } = root.attributes;
  if (id === "") throw refuseMessage("the message has no ID", "SAML Core 3.2.1");
  // A limit of this server: the response repeats it.
  if (id.length > maxId)
    throw refuseMessage(
      `the ID of the message has ${id.length} characters; at most ${maxId} are taken`,
      null,
      "send a shorter ID",
    );
  return root;
}

/** The entityID of the sender. @throws {OAuthError} without one */
export function issuerIn(message: XmlElement): string {
  const issuer = reading(() => childOf(message, spaces.assertion, "Issuer"));
  const text = issuer === undefined ? "" : reading(() => textIn(issuer));
  if (text === "") throw refuseMessage("the message has no Issuer", "SAML Profiles 4.1.4.1");
  return text;
}

/**
 * Opens a message to find out whose it is. Nothing of it is proven yet.
 * @param names of the root @throws {OAuthError}
 */
export function openMessage(
  brought: Encoded,
  names: readonly string[],
): { readonly text: string; readonly read: XmlElement; readonly entityId: string } {
  const text = decodeMessage(brought);
  const read = rootOf(text, names);
  return { text, read, entityId: issuerIn(read) };
}

/** Who sent a message, and where its response is wanted, for a refusal: nothing of it is proven. */
export function senderIn(message: XmlElement): string {
  const acs = message.attributes["AssertionConsumerServiceURL"];
  return `; the request is of "${issuerIn(message)}"${acs === undefined ? "" : `, which wants its response at "${acs}"`}`;
}

/** @returns a remark for the developer, or null @throws {OAuthError} if it is too long */
export function checkRelayState(relayState: string | undefined): string | null {
  const length = Buffer.byteLength(relayState ?? "");
  if (length > maxRelayState) {
    throw refuseMessage(
      `RelayState has ${length} bytes; at most ${maxRelayState} are returned`,
      // A limit of this server.
      null,
      "keep the state in the app, and send its name",
    );
  }
  return length > usualRelayState
    ? `RelayState has ${length} bytes, more than the ${usualRelayState} of SAML Bindings 3.4.3`
    : null;
}

/** A message as the ledger keeps it: the XML, in parts, with the texts apart of which only a fingerprint is kept. */
type MessageParts = readonly (string | { readonly secret: string })[];

/** Elements that name a person, prove something, or hold what only their reader may see. */
const hidden = new Set(["NameID", "BaseID", "NewID", "SignatureValue", "CipherValue"]);

/** @returns null for a message that cannot be read */
export function messageParts(given: Encoded | { readonly xml: string }): MessageParts | null {
  try {
    return partsOf("xml" in given ? given.xml : decodeMessage(given));
  } catch {
    return null;
  }
}

function partsOf(sent: string): MessageParts {
  const { text, root } = documentOf(sent);
  const parts: (string | { readonly secret: string })[] = [];
  let done = 0;
  for (const element of allIn(root)) {
    const [begin, end] = element.inside;
    // One in another is hidden with it.
    if (!hidden.has(element.name) || begin < done || begin === end) continue;
    parts.push(text.slice(done, begin), { secret: (element.text ?? text.slice(begin, end)).replaceAll(/\s+/g, "") });
    done = end;
  }
  return [...parts, text.slice(done)];
}
