import type { Request, RequestHandler } from "express";
import { isLoopbackHost } from "../../core/clients/redirect-uri.ts";
import { allowHost } from "../../core/fix-commands.ts";
import { HttpError } from "../answer/http-error.ts";
import type { Web } from "../web.ts";

/** DNS rebinding: a foreign page may point its own name at this machine, but the browser then sends that name as `Host`. */

/** The host name of a `Host` header, without its port. */
const hostName = (host: string): string => host.replace(/:\d*$/, "").toLowerCase();

/** A name as an operator gives it: an IPv6 address, which has more than the colon before a port, stands in brackets in `Host` only. */
const ownName = (host: string): string => (/^[^[:]*:[^:]*:/.test(host) ? `[${host.toLowerCase()}]` : hostName(host));

/** Node keeps the first of two such headers, and a proxy in front may have used the last. */
const onceOnly = /^(host|authorization)$/i;

/** @throws {HttpError} 400, for two of them, and where a request of HTTP/1.1 has no Host (RFC 9112 3.2; RFC 9110 5.3) */
function requireOneEach({ rawHeaders, headers, httpVersion }: Request): void {
  if (headers.host === undefined && httpVersion === "1.1") throw new HttpError(400, "the header Host is missing");
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? "";
    if (!onceOnly.test(given)) continue;
    const name = given.toLowerCase();
    if (seen.includes(name)) throw new HttpError(400, `the header ${given} is sent twice; send it once`);
    seen.push(name);
  }
}

/** 421 for every other `Host` (CONTRACT 1). */
export function hostCheck(web: Web): RequestHandler {
  const names = new Set([web.issuer.hostname, ...web.allowedHosts.map(ownName)]);
  return (req, _res, next) => {
    requireOneEach(req);
    const { host = "" } = req.headers;
    const name = hostName(host);
    if (isLoopbackHost(name) || names.has(name)) {
      next();
      return;
    }
    const fix = allowHost(host.replace(/:\d*$/, ""));
    throw new HttpError(421, `Host "${host}" is not a name of this server`, { fix });
  };
}
