import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { parseExact, type JsonObject } from "../text/json.ts";
import { redacted } from "../text/redacted.ts";
import { Problem, shown, Unanswered } from "./check.ts";
import { send as ask, type ReceivedResponse, type SendError } from "../net/send.ts";
import { isAddress, isLoopbackUrl, withoutBrackets } from "../net/address.ts";

/** Requests to an untrusted provider: limited in time and size. Every failure is a sentence. */

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form. */
  readonly form?: URLSearchParams;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly content?: { readonly type: string; readonly text: string };
  /** Resolves names, and refuses addresses, also one that the URL itself names. Absent: as the system does. */
  readonly lookup?: LookupFunction;
  /** Milliseconds after the headers, when a body that goes on is left: it may be a stream of events. */
  readonly bodyLimit?: number;
  /** Bytes of the answer's body. */
  readonly sizeLimit?: number;
}

export interface Reply extends ReceivedResponse {
  readonly url: string;
}

/** Milliseconds for one request, from its start to the end of the answer. */
const timeoutMs = 10_000;
const maxBytes = 1_000_000;

/** A sign-in takes a few steps; many more are an endless circle. */
export const maxSteps = 40;

/** An address may have a code or a token in it, and so may what somebody answers. */
const problem = (message: string, options?: ConstructorParameters<typeof Problem>[1]): Problem =>
  new Problem(redacted(message), options);

/** An http or https URL that somebody else wrote, as a whole one; null: it is not one. @param base what it may be relative to */
export function webAddress(address: string, base?: string): URL | null {
  if (!URL.canParse(address, base)) return null;
  const url = new URL(address, base);
  return /^https?:$/.test(url.protocol) ? url : null;
}

/** The same, where there must be one. @param what names it: "the form leads to" @throws {Problem} */
export function requireWebAddress(what: string, address: string, base?: string): URL {
  const url = webAddress(address, base);
  if (url !== null) return url;
  throw problem(`${what} ${shown(address)}, which is not an http or https URL`);
}

/** Sends a request. Redirects are not followed. @throws {Problem} if no answer comes */
export async function send({
  method,
  url,
  headers = {},
  form,
  json,
  content,
  lookup,
  bodyLimit,
  sizeLimit = maxBytes,
}: Outgoing): Promise<Reply> {
  const body = content?.text ?? form?.toString() ?? (json === undefined ? undefined : JSON.stringify(json));
  const ofForm = form === undefined ? "application/json" : "application/x-www-form-urlencoded";
  const { hostname, host } = requireWebAddress("a request goes to", url);
  // Node.js asks no resolver about an IP address.
  if (lookup !== undefined && isAddress(hostname)) await resolved(hostname, lookup);
  try {
    const answer = await ask(url, {
      method,
      headers: {
        accept: "application/json",
        ...(body !== undefined && {
          "content-type": content?.type ?? ofForm,
          "content-length": Buffer.byteLength(body),
        }),
        ...headers,
      },
      body,
      lookup,
      checksCertificate: !isLoopbackUrl(url),
      timeLimit: timeoutMs,
      sizeLimit,
      bodyLimit,
    });
    return { url, ...answer };
  } catch (error) {
    const { reason, cause } = error as SendError;
    const sentence = sentenceFor(reason, url, sizeLimit) ?? failureOf(host, cause as NodeJS.ErrnoException);
    throw new Unanswered(redacted(sentence), { cause });
  }
}

function sentenceFor(reason: SendError["reason"], url: string, sizeLimit: number): string | null {
  if (reason === "late") return `${url} sent no complete response within ${timeoutMs / 1000} s`;
  if (reason === "large") return `${url} answers with more than ${sizeLimit / 1_000_000} MB`;
  if (reason === "incomplete") return `${url} closed the connection before its response was complete`;
  if (reason === "other protocol") return `${url} changed the protocol, which nobody asked for`;
  return null;
}

/** The addresses of a host, as a URL names it. @throws {Problem} if there are none, or if one is refused */
export const resolved = (host: string, lookup: LookupFunction): Promise<readonly LookupAddress[]> =>
  new Promise((resolve, reject) => {
    lookup(withoutBrackets(host), { all: true }, (error, addresses) => {
      if (error === null && Array.isArray(addresses)) resolve(addresses);
      else reject(new Unanswered(failureOf(host, error ?? new Error("no address")), { cause: error }));
    });
  });

/** Why a connection to a host failed. */
function failureOf(host: string, { code = "", message }: NodeJS.ErrnoException): string {
  if (code === "ECONNREFUSED") return `nothing listens at ${host}`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `the name of ${host} cannot be resolved`;
  if (code === "ECONNRESET" || code === "EPIPE") return `${host} closed the connection`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) return `${host} does not speak TLS, which https requires`;
  if (code.startsWith("HPE_")) return `${host} does not speak HTTP`;
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS/.test(code)) {
    return `the certificate of ${host} is not trusted: ${message} (${code}). For your own CA: NODE_EXTRA_CA_CERTS=FILE`;
  }
  return `${host} cannot be reached: ${code === "" ? message : code}`;
}

/**
 * The request that a redirect leads to, by GET as browsers do; null: it is no redirect. A form with 307 or 308 is rare, and leads to a GET
 * here too.
 * @throws {Problem} if it does not lead to an address
 */
export function redirectOf({ url, status, headers: { location } }: Reply): Outgoing | null {
  if (status < 300 || status >= 400 || location === undefined) return null;
  if (URL.canParse(location, url)) return { method: "GET", url: new URL(location, url).href };
  throw problem(`${url} redirects to ${shown(location)}, which is not an address`);
}

const mediaType = ({ headers }: Reply): string => (headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";

export const isJwt = (reply: Reply): boolean => mediaType(reply).toLowerCase() === "application/jwt";

/** The object in an answer, whatever its status, with all digits of its numbers. @throws {Problem} if it is not one, or its type is not JSON */
export function jsonOf(reply: Reply): JsonObject {
  const { url, status, text } = reply;
  const type = mediaType(reply);
  if (status >= 300 && status < 400) {
    throw problem(`${url} answers ${status} to ${shown(reply.headers.location)}; redirects are not followed here`);
  }
  if (!/^application\/([\w.-]+\+)?json$/i.test(type)) {
    throw problem(`${url} answers ${status} with ${type === "" ? "no Content-Type" : type} instead of JSON`);
  }
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    throw problem(`${url} answers ${status} with a body that is not the JSON it claims to be`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw problem(`${url} answers ${status} with JSON that is not an object`);
  }
  return value as JsonObject;
}

/** The object in a successful answer. @throws {Problem} with the words of the provider, if it says what is wrong */
export function successOf(reply: Reply, status = 200): JsonObject {
  const json = jsonOf(reply);
  if (reply.status === status) return json;
  throw problem(`${reply.url} answers ${reply.status}${refusalOf(json)}`, { refusal: json });
}

/** ` invalid_grant: the code has expired` (RFC 6749 5.2); empty if the answer does not say why. */
export function refusalOf({ error, error_description: description }: JsonObject): string {
  if (typeof error !== "string") return "";
  return ` ${error.slice(0, 100)}${typeof description === "string" ? `: ${description.slice(0, 400)}` : ""}`;
}

/** A member that has to be text. @throws {Problem} */
export function textIn(json: JsonObject, name: string, where: string): string {
  const value = json[name];
  if (typeof value === "string" && value !== "") return value;
  throw problem(`${where} has ${value === undefined ? "no" : "a wrong"} ${name}: ${shown(value)}`);
}
