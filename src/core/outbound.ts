import { lookup as systemLookup, type LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import type { Client } from "../store/store.ts";
import { isLoopbackHost } from "./clients/redirect-uri.ts";
import type { Context, Settings } from "./context.ts";
import { OAuthError } from "./errors.ts";

/**
 * What this server sends to its clients: for their keys (`jwks_uri`), and that a session ended (`backchannel_logout_uri`). Never for an
 * authorization request, never through a redirect, and never where it must not reach (OWASP SSRF; RFC 7591 5).
 */

/** Milliseconds for the whole request. */
const timeLimit = 5000;
/** Bytes of the answer. */
const sizeLimit = 102_400;

type Net = readonly [address: string, prefix: number];
const familyOf = (address: string): "ipv4" | "ipv6" => (address.includes(":") ? "ipv6" : "ipv4");

/** Makes a check whether an address is in one of these networks. */
function isIn(...nets: readonly Net[]): (address: string) => boolean {
  // Created at first use: few servers ever send anything.
  let list: BlockList | null = null;
  return (address) => {
    if (list === null) {
      list = new BlockList();
      for (const [net, prefix] of nets) list.addSubnet(net, prefix, familyOf(net));
    }
    return list.check(address, familyOf(address));
  };
}

/** Refused to every client: link-local and other addresses where clouds give machines their credentials; multicast; reserved. */
const isRefusedToAll = isIn(
  ["169.254.0.0", 16],
  ["fe80::", 10],
  ["64:ff9b::a9fe:0", 112],
  ["fd00:ec2::", 32],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["224.0.0.0", 3],
  ["ff00::", 8],
);

/** This machine and its own networks, also behind the addresses of a translation from IPv6 (RFC 6890). */
const isLocal = isIn(
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["::", 127],
  ["64:ff9b::", 32],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fec0::", 10],
);

const isLoopback = isIn(["127.0.0.0", 8], ["::1", 128]);

/** Whether it is now one of this machine's addresses, even a public one. */
function isOwn(address: string): boolean {
  const own = new BlockList();
  for (const { address: mine } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
    own.addAddress(mine, familyOf(mine));
  }
  return own.check(address, familyOf(address));
}

/** Which part of the operator's network a client may name: all of it, this machine, or nothing. */
export type Reach = "local" | "loopback" | "public";

/** For clients that registered themselves (RFC 7591). Otherwise any page could make this server call into the operator's network. */
export const reachOfRegistered = ({ registration_loopback: allowed }: Settings): Reach =>
  allowed ? "loopback" : "public";

/** Clients that the operator named, in fixtures or by a command, may live on this machine, as apps under development do. */
export const reachOf = ({ settings }: Pick<Context, "settings">, client: Client): Reach =>
  client.registrationTokenHash === undefined ? "local" : reachOfRegistered(settings);

/** Our own refusal; its message repeats nothing of the answer. */
class OutboundError extends Error {}

function checkAddress(address: string, reach: Reach): void {
  if (isRefusedToAll(address)) {
    throw new OutboundError(`it is at ${address}, which no client may have`);
  }
  if (reach === "local" || (reach === "loopback" && isLoopback(address))) return;
  if (isLocal(address) || isOwn(address)) {
    throw new OutboundError(
      `it is at ${address}, which a client that registered itself may not have; name the client in a fixture, or allow loopback addresses with the setting registration_loopback`,
    );
  }
}

/**
 * Whether a client may have an address, as far as the address itself says. What a name resolves to is checked at each connection.
 * @returns null, or why not, beginning with "it"
 */
export function addressProblem(url: string, reach: Reach): string | null {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const address = isIP(host) !== 0 ? host : isLoopbackHost(host) ? "127.0.0.1" : null;
  if (address === null) return null;
  try {
    checkAddress(address, reach);
    return null;
  } catch (error) {
    return (error as OutboundError).message;
  }
}

/** Resolves a name and checks its addresses. The connection goes to exactly those addresses (DNS rebinding). */
const checkedLookup =
  (lookup: typeof systemLookup, reach: Reach): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: readonly LookupAddress[]) => {
      // With an error there are no addresses, whatever the type says. An exception thrown here would end the process.
      if (error !== null) {
        callback(error, "");
        return;
      }
      try {
        for (const { address } of addresses) checkAddress(address, reach);
      } catch (refusal) {
        callback(refusal as Error, "");
        return;
      }
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? "", first?.family);
    });
  };

export interface OutboundRequest {
  /** Sent as a form by POST; absent: GET. */
  readonly form?: URLSearchParams;
  /** See {@link reachOf}. */
  readonly reach: Reach;
  /** Milliseconds. */
  readonly timeLimit?: number;
  /** Resolves names. */
  readonly lookup?: typeof systemLookup;
}

export interface OutboundAnswer {
  readonly status: number;
  /** Empty where a form was sent. */
  readonly text: string;
}

/**
 * Sends one request, without following redirects.
 * @throws {Error} a message for the operator, beginning with "it", that repeats nothing of the answer
 */
export async function send(url: string, request: OutboundRequest): Promise<OutboundAnswer> {
  const { form, reach, lookup = systemLookup, timeLimit: limit = timeLimit } = request;
  const signal = AbortSignal.timeout(limit);
  try {
    const { protocol, hostname } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, "");
    // A literal address is never looked up.
    if (isIP(host) !== 0) checkAddress(host, reach);
    const options = {
      method: form === undefined ? "GET" : "POST",
      headers: {
        accept: "application/json",
        ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" }),
      },
      lookup: checkedLookup(lookup, reach),
      // A new connection, because a reused one may lead to an address that was not checked.
      agent: false,
      signal,
    };
    const { request: ask } = protocol === "https:" ? await import("node:https") : await import("node:http");
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      ask(url, options, resolve)
        .on("error", reject)
        // Nobody asked for another protocol (RFC 9110 7.8). For Node.js the request has ended here, so the signal does not end the socket.
        .on("upgrade", (_response, socket) => {
          socket.destroy();
          reject(new Error("it changed the protocol"));
        })
        .end(form?.toString());
    });
    const status = response.statusCode ?? 0;
    if (form === undefined) return { status, text: await readLimited(response) };
    // The body does not matter.
    response.destroy();
    return { status, text: "" };
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    throw new Error(signal.aborted ? `it did not answer within ${limit / 1000} s` : "it could not be reached", {
      cause: error,
    });
  }
}

async function readLimited(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop ends the connection.
    if (size > sizeLimit) throw new OutboundError(`it is larger than ${sizeLimit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * A JSON document of a client.
 * @throws {OAuthError} invalid_client if it cannot be fetched
 */
export async function fetchJson(ctx: Pick<Context, "settings">, url: string, client: Client): Promise<unknown> {
  const refuse = (reason: string, cause?: unknown): OAuthError =>
    new OAuthError("invalid_client", `${url} gave no usable document: ${reason}`, { cause });
  const { status, text } = await send(url, { reach: reachOf(ctx, client) }).catch((error: unknown) => {
    throw refuse((error as Error).message, error);
  });
  if (status >= 300 && status < 400) throw refuse(`it answered ${status}, and redirects are not followed`);
  if (status !== 200) throw refuse(`it answered ${status}`);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw refuse("it is not JSON", error);
  }
}
