import type { RequestHandler } from "express";
import { BodyError } from "./params.ts";
import type { Web } from "./web.ts";

/** DNS rebinding: a foreign page may point its own name at this machine, but the browser then sends that name as `Host`. */

/** The host name of a `Host` header, without its port. */
const hostName = (host: string): string => host.replace(/:\d*$/, "").toLowerCase();

const isLoopback = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);

/** A `Host` that answers here. */
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

/** @throws {BodyError} 400, for two of them (RFC 9112 3.2; RFC 9110 5.3) */
function refuseRepeated(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!onceOnly.test(name)) continue;
    if (seen.has(name.toLowerCase())) throw new BodyError(400, `the header ${name} is sent twice; send it once`);
    seen.add(name.toLowerCase());
  }
}

/** 421 for every other `Host` (CONTRACT 1). */
export function hostCheck(web: Web): RequestHandler {
  const names = new Set([new URL(web.ctx.issuer).hostname, ...web.allowedHosts.map(hostName)]);
  return (req, _res, next) => {
    refuseRepeated(req.rawHeaders);
    const name = hostName(req.headers.host ?? "");
    next(isLoopback(name) || names.has(name) ? undefined : new MisdirectedError(req.headers.host ?? ""));
  };
}
