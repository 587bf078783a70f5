import type { RequestHandler } from "express";
import { isClientOrigin } from "../../core/clients/clients.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import type { Web } from "../web.ts";

/** CORS: set before anything can fail, so that error responses carry it too. */

const maxAge = "600";

/** Public documents: any origin. */
export const anyOrigin: RequestHandler = (req, res, next) => {
  res.set("Access-Control-Allow-Origin", "*");
  if (req.method !== "OPTIONS") {
    next();
    return;
  }
  res
    .set({
      ...privateApiHeaders,
      "Access-Control-Allow-Methods": "GET",
      "Access-Control-Allow-Headers": "*",
      "Access-Control-Max-Age": maxAge,
    })
    .status(204)
    .end();
};

/**
 * Origins of registered redirect URIs, and `allowed_origins`. Credentials are allowed because some libraries send them: no endpoint with
 * this policy reads a cookie.
 */
export const registeredOrigins =
  ({ ctx }: Web): RequestHandler =>
  async (req, res, next) => {
    const { origin } = req.headers;
    if (origin === undefined) {
      next();
      return;
    }
    res.vary("Origin, Access-Control-Request-Headers");
    const isKnown = await isClientOrigin(ctx, origin);
    if (isKnown) {
      res.set({
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Expose-Headers": "WWW-Authenticate, DPoP-Nonce",
      });
    }
    if (req.method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined) {
      next();
      return;
    }
    if (isKnown) {
      res.set({
        "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
        // All that it asks for: tracing adds more headers, and they have no meaning here.
        "Access-Control-Allow-Headers":
          req.headers["access-control-request-headers"] ?? "Authorization, Content-Type, DPoP",
        "Access-Control-Max-Age": maxAge,
      });
    }
    res.set(privateApiHeaders).status(204).end();
  };
