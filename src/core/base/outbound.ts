import type { lookup as systemLookup } from "node:dns";
import { addressIn, checkedLookup, isOwnAddress, kindOfAddress, type Reach } from "../../net/address.ts";
import { send as ask, type ReceivedResponse, type SendError, type Sent } from "../../net/send.ts";
import type { Client } from "../../store/store.ts";
import type { Context, Settings } from "../context.ts";
import { NestingError, parseJson } from "../../text/json.ts";
import { OAuthError } from "./errors.ts";

/**
 * Every request that this server sends: for keys of clients and of trusted issuers (`jwks_uri`), for metadata documents where those are on, and
 * to apps: back-channel logout, SCIM and Global Token Revocation. Never through a redirect, and never where it must not reach (OWASP SSRF; RFC
 * 7591 5).
 */

/** Milliseconds for the whole request. */
const timeLimit = 5000;
/** Bytes of the answer. */
const sizeLimit = 102_400;

/**
 * The addresses of clients that registered themselves (RFC 7591). Without this limit, any page could make this server call into the
 * operator's network.
 */
export const reachOfRegistered = ({ registration_loopback: allowed }: Settings): Reach =>
  allowed ? "loopback" : "public";

/** The addresses of metadata documents, and those in them. */
export const reachOfDocuments = ({ client_metadata_loopback: allowed }: Settings): Reach =>
  allowed ? "loopback" : "public";

/** Clients that the operator named, in fixtures or by a command, may live on this machine, as apps under development do. */
export function reachOf({ settings, addedBy }: Pick<Context, "settings" | "addedBy">, client: Client): Reach {
  if (client.fromDocument === true) return reachOfDocuments(settings);
  return client.registrationTokenHash === undefined && addedBy === null ? "local" : reachOfRegistered(settings);
}

/** The certificates that are trusted beside the authorities of Node.js. */
const trusted = new Set<string>();

/**
 * Trusts certificates beside those of Node.js, for the server that made its own (`--https`): programs on this machine serve https with it too, such
 * as an app its metadata document. @param pems which replace those of NODE_EXTRA_CA_CERTS @returns ends that
 */
export function trustAlso(pems: readonly string[]): () => void {
  for (const pem of pems) trusted.add(pem);
  return () => {
    for (const pem of pems) trusted.delete(pem);
  };
}

/** Our own refusal; its message repeats nothing of the answer. */
class OutboundError extends Error {}

/** What the refusal of an address says, and what to do. */
const ofRegistered =
  "which a client that registered itself may not have; name the client in a fixture, or allow loopback addresses with the setting registration_loopback";

function checkAddress(address: string, reach: Reach, rule: string): void {
  const kind = kindOfAddress(address);
  if (kind === "forbidden") throw new OutboundError(`it is at ${address}, which no client may have`);
  if (reach === "local" || (reach === "loopback" && kind === "loopback")) return;
  if (kind !== "public" || isOwnAddress(address)) throw new OutboundError(`it is at ${address}, ${rule}`);
}

/**
 * Whether a client may have an address, as far as the address itself says. What a name resolves to is checked at each connection.
 * @returns null, or why not, beginning with "it"
 */
export function addressProblem(url: string, reach: Reach): string | null {
  const address = addressIn(url);
  if (address === null) return null;
  try {
    checkAddress(address, reach, ofRegistered);
    return null;
  } catch (error) {
    return (error as OutboundError).message;
  }
}

interface OutboundRequest {
  /** What an app is told (deliver.ts). Absent: a document is asked for by GET, and read where the status is 200. */
  readonly message?: Pick<Sent, "method" | "headers" | "body" | "reads" | "cutsBody">;
  /** See {@link reachOf}. */
  readonly reach: Reach;
  /** What the refusal of an address outside the reach says. */
  readonly rule?: string;
  /** Milliseconds. */
  readonly timeLimit?: number;
  /** Bytes of the answer. */
  readonly sizeLimit?: number;
  /** Resolves names. */
  readonly lookup?: typeof systemLookup;
}

/**
 * Sends one request, without following redirects.
 * @throws {Error} a message for the operator, beginning with "it", that repeats nothing of the answer
 */
export async function send(url: string, request: OutboundRequest): Promise<ReceivedResponse> {
  const { reach, lookup, rule = ofRegistered, timeLimit: limit = timeLimit, sizeLimit: most = sizeLimit } = request;
  const check = (address: string): void => {
    checkAddress(address, reach, rule);
  };
  // An IP address is never looked up.
  const address = addressIn(url);
  if (address !== null) check(address);
  try {
    return await ask(url, {
      ...(request.message ?? {
        ...{ method: "GET", headers: { accept: "application/json" } },
        reads: (status: number) => status === 200,
      }),
      lookup: checkedLookup(check, lookup),
      checksCertificate: true,
      ...(trusted.size > 0 && { authorities: [...(await import("node:tls")).rootCertificates, ...trusted] }),
      timeLimit: limit,
      sizeLimit: most,
    });
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof OutboundError) throw cause;
    throw new Error(reasonOf(error as SendError, limit, most), { cause: error });
  }
}

/** Says nothing of what is there or not: a client that registered itself may read it. */
function reasonOf({ reason, code }: SendError, limit: number, most: number): string {
  if (reason === "late") return `it did not answer within ${limit / 1000} s`;
  if (reason === "large") return `it is larger than ${most} bytes`;
  if (reason === "certificate")
    return `its certificate is not trusted (${code}); name its authority in NODE_EXTRA_CA_CERTS`;
  return "it could not be reached";
}

/** A JSON document. @throws {OAuthError} invalid_client if it cannot be fetched */
export async function readJson(url: string, reach: Reach): Promise<unknown> {
  const refuse = (reason: string, cause?: unknown): OAuthError =>
    new OAuthError("invalid_client", `${url} gave no usable document: ${reason}`, {
      rule: "RFC 7517 5",
      fix: "serve the keys of the client there, as JSON with status 200, where this server can reach it",
      cause,
    });
  const { status, text } = await send(url, { reach }).catch((error: unknown) => {
    throw refuse((error as Error).message, error);
  });
  if (status >= 300 && status < 400) throw refuse(`it answered ${status}, and redirects are not followed`);
  if (status !== 200) throw refuse(`it answered ${status}`);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof NestingError) throw refuse(error.message, error);
    throw refuse("it is not JSON", error);
  }
}
