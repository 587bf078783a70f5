import type { Request } from "express";
import type { Proof } from "../../core/tokens/dpop.ts";
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
