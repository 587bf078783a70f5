import type { Request } from "express";
import { proofAlgorithms } from "../../core/protocol/tokens/dpop.ts";
import { inQuotes, OAuthError } from "../../core/base/errors.ts";
import { isBasic } from "../input/credentials.ts";
import type { RouteRecord } from "../route.ts";

const bearer = 'Bearer realm="idp"';
const dpop = `DPoP realm="idp", algs="${proofAlgorithms.join(" ")}"`;

/** How the access token was sent; null if that is unclear, because a DPoP proof came with a bearer token. */
function schemeOf(req: Request): "bearer" | "dpop" | null {
  const { authorization = "" } = req.headers;
  if (/^dpop /i.test(authorization)) return "dpop";
  return /^bearer /i.test(authorization) && req.headers["dpop"] !== undefined ? null : "bearer";
}

/** The challenge of the scheme that was used says what is wrong; the other one only says that it is accepted too (RFC 9449 7.2). */
function bearerOrDpop(req: Request, error: string): string {
  switch (schemeOf(req)) {
    case "bearer":
      return `${bearer}${error}, ${dpop}`;
    case "dpop":
      return `${dpop}${error}, ${bearer}`;
    case null:
      return `${bearer}${error}, ${dpop}${error}`;
  }
}

/** RFC 6750 3. @returns null if the refusal is not about the token */
function errorParameters(
  { code, status }: OAuthError,
  message: string,
  scheme: "Bearer" | "Bearer, DPoP",
): string | null {
  const parameters = (name: string): string => `, error="${name}", error_description="${inQuotes(message)}"`;
  switch (code) {
    case "missing_token":
      return "";
    case "invalid_request":
      return scheme === "Bearer, DPoP" ? parameters(code) : null;
    case "invalid_dpop_proof":
    case "use_dpop_nonce":
      return status === 401 ? parameters(code) : null;
    // For the 403s of UserInfo too, where RFC 6750 3.1 would say insufficient_scope.
    case "invalid_token":
    case "insufficient_scope":
    case "access_revoked":
    case "account_suspended":
    case "account_banned":
      return parameters("invalid_token");
    default:
      return null;
  }
}

/**
 * The `WWW-Authenticate` of a refusal (RFC 6749 5.2; RFC 6750 3; RFC 9449 7.1).
 * @param message as the response may say it
 * @returns null for a response without one
 */
export function challengeOf(req: Request, { challenge }: RouteRecord, error: unknown, message: string): string | null {
  if (challenge === undefined || !(error instanceof OAuthError)) return null;
  if (challenge === "Basic") {
    return error.code === "invalid_client" && isBasic(req) ? 'Basic realm="idp", charset="UTF-8"' : null;
  }
  const parameters = errorParameters(error, message, challenge);
  if (parameters === null) return null;
  return challenge === "Bearer" ? bearer + parameters : bearerOrDpop(req, parameters);
}
