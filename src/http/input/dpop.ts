import type { Request, RequestHandler } from "express";
import { type Proof, nextNonce } from "../../core/tokens/dpop.ts";
import { backchannelOf } from "./host-check.ts";
import type { Web } from "../web.ts";
import { baseOf, type EndpointName } from "../../core/endpoints.ts";

/**
 * The DPoP proof of a request (RFC 9449 4.1); null without one.
 * @param endpoint a proof names its address from discovery, even if the request line differs
 */
export function proofOf(web: Web, req: Request, endpoint: EndpointName): Proof | null {
  const jwt = req.headers["dpop"];
  if (jwt === undefined) return null;
  const { address, layout } = web.ctx;
  const base = backchannelOf(web, req) ?? baseOf(address);
  return { jwt: String(jwt), method: req.method, url: base + layout.paths[endpoint] };
}

/** Gives the client the nonce of its next proof, with errors too (RFC 9449 8.2). */
export const withNonce =
  ({ ctx }: Web): RequestHandler =>
  (_req, res, next) => {
    const nonce = nextNonce(ctx);
    if (nonce !== null) res.set("DPoP-Nonce", nonce);
    next();
  };
