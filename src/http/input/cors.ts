import type { RequestHandler, Response } from "express";
import { isClientOrigin, isOwnOriginOf } from "../../core/records/clients/clients.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import type { Cors } from "../route.ts";
import type { Web } from "../web.ts";
import { namedClients } from "./credentials.ts";

/** CORS: set before anything can fail, so that error responses carry it too. */

const maxAge = "600";

/** Public documents: any origin. */
export const anyOrigin: Cors = {
  first: (req, res, next) => {
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
  },
};

/** Credentials are allowed because some libraries send them: no endpoint with this policy reads a cookie. */
const allow = (res: Response, origin: string): void => {
  res.set({
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Expose-Headers": "WWW-Authenticate, DPoP-Nonce",
  });
};

/** Origins of clients that the operator named: of their redirect URIs, and `allowed_origins`. */
export const operatorsOrigins = (web: Web): Cors => ({ first: originsOf(web, () => Promise.resolve(false)) });

/**
 * The same, and origins of clients that describe themselves, once a user has allowed the client. Of those a preflight passes, and an answer may
 * be read if the request names that client alone.
 */
export const clientOrigins = (web: Web): Cors => ({
  first: originsOf(web, (origin) => isOwnOriginOf(web.ctx, origin, null)),
  second: async (req, res, next) => {
    const { origin } = req.headers;
    if (origin !== undefined && !res.hasHeader("Access-Control-Allow-Origin")) {
      const [clientId, ...others] = namedClients(req);
      const isAlone = clientId !== undefined && others.length === 0;
      if (isAlone && (await isOwnOriginOf(web.ctx, origin, clientId))) allow(res, origin);
    }
    next();
  },
});

/** @param passes whether the preflight of an origin passes that the operator did not name */
function originsOf({ ctx }: Web, passes: (origin: string) => Promise<boolean>): RequestHandler {
  return async (req, res, next) => {
    const { origin } = req.headers;
    if (origin === undefined) {
      next();
      return;
    }
    res.vary("Origin, Access-Control-Request-Headers");
    const isNamed = await isClientOrigin(ctx, origin);
    if (isNamed) allow(res, origin);
    if (req.method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined) {
      next();
      return;
    }
    if (isNamed || (await passes(origin))) {
      allow(res, origin);
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
}
