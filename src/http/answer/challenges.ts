import type { Request } from "express";
import { proofAlgorithms } from "../../core/tokens/dpop.ts";
import { endpoints } from "../../core/endpoints.ts";
import { inQuotes, OAuthError } from "../../core/errors.ts";
import { isBasic } from "../input/credentials.ts";

/** The value of `WWW-Authenticate` that goes with a refusal. */

const bearer = 'Bearer realm="idp"';
const dpop = `DPoP realm="idp", algs="${proofAlgorithms.join(" ")}"`;

/** How the access token came, or tried to; null: that is not clear, a bearer token has a DPoP proof beside it. */
function schemeOf(req: Request): "bearer" | "dpop" | null {
  const { authorization = "" } = req.headers;
  if (/^dpop /i.test(authorization)) return "dpop";
  return /^bearer /i.test(authorization) && req.headers["dpop"] !== undefined ? null : "bearer";
}

/** The scheme that was tried says what is wrong, the other one only that it would do as well (RFC 9449 7.2). */
function tokenChallenges(req: Request, error = ""): string {
  // The control API takes bearer tokens only.
  if (!req.path.endsWith(endpoints.userinfo)) return bearer + error;
  switch (schemeOf(req)) {
    case "bearer":
      return `${bearer}${error}, ${dpop}`;
    case "dpop":
      return `${dpop}${error}, ${bearer}`;
    case null:
      return `${bearer}${error}, ${dpop}${error}`;
  }
}

/** As RFC 6750 3 has them. */
const errorParameters = (code: string, message: string): string =>
  `, error="${code}", error_description="${inQuotes(message)}"`;

/**
 * RFC 6749 5.2; RFC 6750 3; RFC 9449 7.1.
 * @returns null: the answer carries none
 */
export function challenge(req: Request, error: unknown): string | null {
  if (!(error instanceof OAuthError)) return null;
  const { code, message, status } = error;
  switch (code) {
    case "invalid_client":
      return isBasic(req) ? 'Basic realm="idp", charset="UTF-8"' : null;
    case "missing_token":
      return tokenChallenges(req);
    case "invalid_request":
      return schemeOf(req) === null || req.path.endsWith(endpoints.userinfo)
        ? tokenChallenges(req, errorParameters(code, message))
        : null;
    case "invalid_dpop_proof":
      return status === 401 ? tokenChallenges(req, errorParameters(code, message)) : null;
    // For the 403s of UserInfo too (CONTRACT 2.5), where RFC 6750 3.1 would say insufficient_scope.
    case "invalid_token":
    case "insufficient_scope":
    case "access_revoked":
    case "account_suspended":
    case "account_banned":
      return tokenChallenges(req, errorParameters("invalid_token", message));
    default:
      return null;
  }
}
