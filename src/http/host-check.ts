import type { RequestHandler } from "express";
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

/** 421 for every other `Host` (CONTRACT 1). */
export function hostCheck(web: Web): RequestHandler {
  const names = new Set([new URL(web.ctx.issuer).hostname, ...web.allowedHosts.map(hostName)]);
  return (req, _res, next) => {
    const name = hostName(req.headers.host ?? "");
    next(isLoopback(name) || names.has(name) ? undefined : new MisdirectedError(req.headers.host ?? ""));
  };
}
