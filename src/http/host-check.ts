import type { Request, RequestHandler } from "express";
import { isLoopbackHost } from "../core/redirect-uri.ts";
import { BodyError } from "./bodies.ts";
import type { Web } from "./web.ts";

/** DNS rebinding: a foreign page may point its own name at this machine, but the browser then sends that name as `Host`. */

/** The host name of a `Host` header, without its port. */
const hostName = (host: string): string => host.replace(/:\d*$/, "").toLowerCase();

/** A name as an operator gives it: an IPv6 address, which has more than the colon before a port, stands in brackets in `Host` only. */
const ownName = (host: string): string => (/^[^[:]*:[^:]*:/.test(host) ? `[${host.toLowerCase()}]` : hostName(host));

/** A `Host` that is none of this server's names. */
export class MisdirectedError extends Error {
  override readonly name = "MisdirectedError";
  readonly host: string;
  constructor(host: string) {
    super(`Host "${host}" is not a name of this server`);
    this.host = host;
  }
}

/** Headers that say who is asked, and who asks: Node keeps the first of two, and whoever stands before us may have gone by the last. */
const onceOnly = /^(host|authorization)$/i;

/** @throws {BodyError} 400, for two of them, and where a request of HTTP/1.1 has no Host (RFC 9112 3.2; RFC 9110 5.3) */
function requireOneEach({ rawHeaders, headers, httpVersion }: Request): void {
  if (headers.host === undefined && httpVersion === "1.1") throw new BodyError(400, "the header Host is missing");
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? "";
    if (!onceOnly.test(given)) continue;
    const name = given.toLowerCase();
    if (seen.includes(name)) throw new BodyError(400, `the header ${given} is sent twice; send it once`);
    seen.push(name);
  }
}

/** 421 for every other `Host` (CONTRACT 1). */
export function hostCheck(web: Web): RequestHandler {
  const names = new Set([web.issuer.hostname, ...web.allowedHosts.map(ownName)]);
  return (req, _res, next) => {
    requireOneEach(req);
    const name = hostName(req.headers.host ?? "");
    next(isLoopbackHost(name) || names.has(name) ? undefined : new MisdirectedError(req.headers.host ?? ""));
  };
}
