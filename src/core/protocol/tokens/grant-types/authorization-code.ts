import type { Client, Code, Tx } from "../../../../store/store.ts";
import { requestOf, type CodeRequest } from "../codes.ts";
import type { Context } from "../../../context.ts";
import { checkBinding } from "../dpop-binding.ts";
import { OAuthError } from "../../../base/errors.ts";
import { namingIssuer, refuseOfOther } from "../../../records/issuers/issuer.ts";
import { settleTokens, type TokenPlan, type TokenResponse, type TokenResult } from "../settle.ts";
import { checkVerifier } from "../pkce.ts";
import { narrowResources } from "../../../records/scopes/resources.ts";
import { hashOf } from "../../../base/secrets.ts";
import { planTokens } from "../plan.ts";
import { killFamily } from "../state.ts";
import { grantType, type Values } from "./grant-type.ts";

/** The grant `authorization_code` (RFC 6749 4.1.3). */

const parameters = {
  code: "secret",
  redirect_uri: "registered",
  code_verifier: "secret",
  resource: "list",
} as const;

/**
 * Redeems a code: of several simultaneous requests, one wins.
 * @throws {OAuthError} invalid_request for a missing parameter, else invalid_grant with the rule that failed
 */
export async function redeemCode(
  ctx: Context,
  authenticated: Client,
  exchange: Values<typeof parameters>,
  jkt: string | null,
): Promise<TokenResult<TokenResponse>> {
  const { code, redirect_uri: redirectUri, code_verifier: verifier } = exchange;
  if (code === undefined)
    throw new OAuthError("invalid_request", "code is missing", {
      rule: "RFC 6749 4.1.3",
      fix: "send the code of the authorization response",
    });
  // At GitHub it may be left out.
  if (redirectUri === undefined && ctx.layout.github !== true) {
    throw new OAuthError("invalid_request", "redirect_uri is missing: repeat the one from the authorization request", {
      rule: "RFC 6749 4.1.3",
      fix: null,
    });
  }
  // A replay is refused and must also revoke: so it is returned, not thrown.
  return settleTokens(ctx, authenticated, (tx, client): TokenPlan | OAuthError => {
    const record = tx.get("codes", hashOf(code));
    if (record === undefined || record.clientId !== client.client_id) {
      return new OAuthError(
        "invalid_grant",
        `code is unknown, was issued to another client, or expired long ago (codes live ${ctx.settings.code_ttl} s)`,
        beginAgain,
      );
    }
    // Before a replay revokes anything: it is not this issuer's code.
    const refusal = refuseOfOther(ctx, record, "invalid_grant", "code");
    if (refusal !== null) return refusal;
    if (record.usedAt !== null) return replay(tx, ctx, record, record.usedAt);
    if (record.usableUntil <= ctx.now()) {
      if (record.usableUntil === 0)
        return new OAuthError("invalid_grant", "code expired: idp expire ended it", beginAgain);
      const ago = Math.floor((ctx.now() - record.usableUntil) / 1000);
      return new OAuthError("invalid_grant", `code expired ${ago} s ago: codes live ${ctx.settings.code_ttl} s`, {
        ...beginAgain,
      });
    }
    const request = requestOf(record);
    if (redirectUri !== undefined) checkRedirectUri(request, redirectUri);
    checkVerifier(request.codeChallenge, verifier);
    checkBinding("code", request.dpopJkt, jkt);
    const resources = narrowResources(ctx, request.resources, exchange.resource);
    // After this, only a replay reads the record, and it needs only the family.
    tx.put("codes", { ...record, request: null, usedAt: ctx.now() });
    const authentication = { authTime: record.authTime, amr: record.amr, acr: record.acr, sid: record.sid };
    const approved = { approval: record, what: "code", authentication };
    const { scopes, claims, nonce, resources: refreshResources, withoutRefresh } = request;
    const { family } = record;
    return planTokens(tx, ctx, client, approved, {
      scopes,
      claims,
      nonce,
      resources,
      refreshResources,
      jkt,
      family,
      withoutRefresh,
    });
  }).catch(async (error: unknown) => {
    throw await namingIssuer(ctx, error, "code", (tx) => tx.get("codes", hashOf(code)) !== undefined);
  });
}

export const authorizationCode = grantType({
  name: "authorization_code",
  parameters,
  needs: { what: "redirect_uris", rule: "RFC 6749 3.1.2.2" },
  grant: redeemCode,
});

/** RFC 6749 4.1.2: the second use of a code revokes the tokens of the first. */
function replay(tx: Tx, ctx: Context, record: Code, usedAt: number): OAuthError {
  killFamily(tx, ctx, record.family, "was revoked: its authorization code was used a second time");
  const ago = Math.floor((ctx.now() - usedAt) / 1000);
  return new OAuthError(
    "invalid_grant",
    `code was already used ${ago} s ago; the tokens of its first use are revoked`,
    {
      rule: "RFC 6749 4.1.2",
      parameter: "code",
      fix: "exchange each code once (a page that is loaded twice, a retry?), then sign in again",
    },
  );
}

const beginAgain = {
  rule: "RFC 6749 5.2",
  parameter: "code",
  fix: "sign in again, and exchange the new code at once",
} as const;

/** `redirect_uri` is not that of the authorization request. */
export class RedirectUriError extends OAuthError {}

/** Compares the exact strings (RFC 6749 4.1.3): neither side is parsed. */
function checkRedirectUri(request: CodeRequest, redirectUri: string): void {
  if (redirectUri !== request.redirectUri) {
    throw new RedirectUriError(
      "invalid_grant",
      `redirect_uri "${redirectUri}" differs from the one in the authorization request, "${request.redirectUri}"`,
      { rule: "RFC 6749 4.1.3", parameter: "redirect_uri", fix: `send redirect_uri=${request.redirectUri}` },
    );
  }
}
