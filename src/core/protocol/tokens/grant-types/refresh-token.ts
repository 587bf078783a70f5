import type { Client, Tx } from "../../../../store/store.ts";
import { noClaims } from "../../../records/scopes/claims.ts";
import type { Context } from "../../../context.ts";
import { checkBinding } from "../dpop-binding.ts";
import { OAuthError } from "../../../base/errors.ts";
import { acceptRetries } from "../../../records/fix-commands.ts";
import { settleTokens, type TokenPlan, type TokenResult } from "../settle.ts";
import { narrowResources } from "../../../records/scopes/resources.ts";
import { narrowScope, splitScope } from "../../../records/scopes/scopes.ts";
import { branchOf, fixOf, isDead, killFamily, placeInFamily, tokenState } from "../state.ts";
import { stateEnd } from "../../../records/keys/admin.ts";
import { planTokens } from "../plan.ts";
import { verifyRefreshToken } from "../accept.ts";
import { TokenProblem } from "../token-problem.ts";
import type { RefreshClaims } from "../claims.ts";
import { grantType, type Values } from "./grant-type.ts";

/** The grant `refresh_token` (RFC 6749 6, with the rotation of RFC 9700 4.14.2). */

const parameters = { refresh_token: "secret", scope: "open", resource: "list" } as const;
type Refresh = Values<typeof parameters>;

/**
 * Refreshes: the refresh token rotates, and the reuse of a rotated one revokes its family.
 * @throws {OAuthError} invalid_request, invalid_grant or invalid_scope with the rule that failed
 */
async function refresh(ctx: Context, client: Client, request: Refresh, jkt: string | null): Promise<TokenResult> {
  const { refresh_token: token } = request;
  if (token === undefined)
    throw new OAuthError("invalid_request", "refresh_token is missing", {
      rule: "RFC 6749 6",
      fix: "send the refresh_token of the last token response",
    });
  const claims = verifyRefreshToken(ctx, token);
  if (claims instanceof TokenProblem) {
    throw new OAuthError("invalid_grant", `refresh_token is not accepted: ${claims.message}`, {
      rule: claims.rule,
      parameter: "refresh_token",
      fix: claims.expiredAt === null ? claims.fix : "sign in again for new tokens",
      cause: claims,
    });
  }
  if (claims.client_id !== client.client_id) {
    throw new OAuthError("invalid_grant", `refresh_token was issued to a client other than "${client.client_id}"`, {
      rule: "RFC 6749 5.2",
      parameter: "refresh_token",
      fix: "send it with the client_id of the client that received it",
    });
  }
  // Checked before reuse is detected: without the key, nobody can get the family revoked.
  checkBinding("refresh_token", claims.cnf?.jkt ?? null, jkt);
  // A reuse is refused and must also revoke.
  return settleTokens(ctx, client, (tx) => renew(tx, ctx, token, claims, request, jkt));
}

export const refreshToken = grantType({ name: "refresh_token", parameters, needs: null, grant: refresh });

function renew(
  tx: Tx,
  ctx: Context,
  token: string,
  claims: RefreshClaims,
  request: Refresh,
  jkt: string | null,
): TokenPlan | OAuthError {
  const place = placeInFamily(tx, ctx, claims);
  const state = tokenState(tx, claims);
  // Also where its user is suspended: after a restore the family must not come back to life.
  const isOver = isDead(state) && state.isOver === true;
  if (place === "rotated" && !isOver)
    killFamily(tx, ctx, claims.family, "was revoked: a rotated refresh token was used again");
  if (isDead(state)) {
    const refused = (why: string): string => `refresh_token is not accepted: ${why}`;
    return new OAuthError("invalid_grant", refused(state.message), {
      rule: "RFC 6749 5.2",
      parameter: "refresh_token",
      cause: refused(state.detail),
      ...fixOf(state),
    });
  }
  const { client, user, grant } = state;
  if (user === null || grant === null)
    throw new OAuthError("invalid_grant", "refresh_token names no user", {
      rule: "RFC 6749 5.2",
      parameter: "refresh_token",
      fix: "sign in again for new tokens",
    });
  if (place === "rotated") {
    return new OAuthError(
      "invalid_grant",
      "refresh_token was already rotated: it was used again, so every token of its family is revoked",
      {
        rule: "RFC 9700 4.14.2",
        parameter: "refresh_token",
        fix: acceptRetries,
        about: { client: client.client_id, user: user.username },
      },
    );
  }
  const refreshScopes = splitScope(claims.scope);
  const asked = narrowScope(refreshScopes, request.scope, "the refresh token's", {
    why: "a refresh cannot add scopes",
    rule: "RFC 6749 6",
  });
  const refreshResources = claims.resource ?? [];
  const resources = narrowResources(ctx, refreshResources, request.resource);
  const rotates = ctx.settings.refresh_rotation === "on";
  const generation = claims.generation + 1;
  const branch = claims.refresh_branch === undefined ? {} : { refresh_branch: claims.refresh_branch };
  // A retry begins a branch, so that its token is good until it is used, whatever happens to the others.
  const refreshPlace =
    place === "grace" ? { generation: 0, refresh_branch: `r_${ctx.random(12)}` } : { generation, ...branch };
  const planned = planTokens(
    tx,
    ctx,
    client,
    {
      user,
      grant,
      authentication: { authTime: claims.auth_time, amr: claims.amr, acr: claims.acr, sid: claims.sid ?? null },
    },
    {
      scopes: asked,
      refreshScopes,
      resources,
      refreshResources,
      claims: { ...noClaims, ...claims.claims },
      jkt,
      family: claims.family,
      refreshPlace,
      keptRefreshToken: rotates ? null : token,
    },
  );
  // After the plan, which notes how long the new tokens live.
  if (rotates && place === "newest") {
    tx.put("families", {
      id: branchOf(claims),
      generation,
      rotatedAt: ctx.now(),
      deadBecause: null,
      expiresAt: stateEnd(tx, ctx),
    });
  }
  return planned;
}
