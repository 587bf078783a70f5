import { Problem } from "../../client/check.ts";
import type { JsonObject } from "../../text/json.ts";

/** What is in an access token, which is not verified here. */

/** Whether a token says something to its reader. Those of some vendors are opaque. */
export const isJwt = (token: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

/** @throws {Problem} for an opaque token, of which nothing can be bent */
export function requireJwt(token: string): void {
  if (!isJwt(token)) throw new Problem("the access tokens of this issuer are opaque, and this case needs a JWT");
}

function decoded(token: string, part: 0 | 1): JsonObject {
  requireJwt(token);
  return JSON.parse(Buffer.from(token.split(".")[part] ?? "", "base64url").toString("utf8")) as JsonObject;
}

export const headerOf = (token: string): JsonObject => decoded(token, 0);
export const claimsOf = (token: string): JsonObject => decoded(token, 1);
