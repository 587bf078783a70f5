import type { Request } from "express";
import type { Proof } from "../../core/tokens/dpop.ts";
import { backchannelOf } from "../oauth/discovery.ts";
import type { Web } from "../web.ts";
import { baseOf } from "../../core/endpoints.ts";

/**
 * The DPoP proof of a request (RFC 9449 4.1); null: it has none.
 * @param path of the endpoint, below the issuer: a proof names the address from discovery, even if the request line differs
 */
export function proofOf(web: Web, req: Request, path: string): Proof | null {
  const jwt = req.headers["dpop"];
  if (jwt === undefined) return null;
  const base = backchannelOf(web, req) ?? baseOf(web.ctx.issuer);
  return { jwt: String(jwt), method: req.method, url: base + path };
}
