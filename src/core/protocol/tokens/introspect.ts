import type { Client, ReadTx } from "../../../store/store.ts";
import { ownClaims } from "../../records/scopes/claims.ts";
import { isPublic } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import { readToken, type GenuineToken } from "./accept.ts";
import { jwtOf } from "./opaque.ts";
import { TokenProblem } from "./token-problem.ts";
import { decodeToken } from "./read/decode.ts";
import { OAuthError, OperationError } from "../../base/errors.ts";
import { scopesNow } from "../../sign-in/grants/grants.ts";
import { isDead, rotatedReason, tokenState } from "./state.ts";
import { kindOfToken } from "./claims.ts";

/** Says whether a token is active, and what it allows (RFC 7662). */

/** RFC 7662 2.2. `reason` and `since` are for the operator only: the endpoint says only that a token is inactive. */
export interface Introspection {
  readonly active: boolean;
  /** Why it is inactive. */
  readonly reason?: string;
  /** Since when, where that is known: ISO 8601. */
  readonly since?: string;
  readonly [member: string]: unknown;
}

/** @param since milliseconds */
const inactive = (reason: string, since: number | null): Introspection => ({
  active: false,
  reason,
  ...(since !== null && { since: new Date(since).toISOString() }),
});

/** The answer for a text that is not a valid access or refresh token of this server. */
function refused(ctx: Context, token: string, { message, expiredAt }: TokenProblem): Introspection {
  if (expiredAt !== null) return inactive("it expired", expiredAt * 1000);
  return inactive(otherKind(ctx, token) ?? message, null);
}

/** What the text claims to be, if that explains more than the wrong signature. */
function otherKind(ctx: Context, token: string): string | null {
  try {
    const said = decodeToken(token, ctx.now());
    const issuer = said.payload["iss"];
    if (issuer === ctx.issuer) return kindOfToken(said) === "id" ? "it is an ID token, which carries no rights" : null;
    return typeof issuer === "string" ? `it is a token of another issuer: only ${issuer} knows its state` : null;
  } catch (error) {
    if (error instanceof OperationError) return `it is not a token of this server: ${error.message}`;
    throw error;
  }
}

function stateOf(tx: ReadTx, ctx: Context, genuine: GenuineToken): Introspection {
  const { claims, kind } = genuine;
  const state = tokenState(tx, claims);
  if (isDead(state)) return inactive(state.reason ?? state.detail, state.since);
  const rotated = kind === "refresh" ? rotatedReason(tx, ctx, claims) : null;
  if (rotated !== null) return inactive(rotated.detail, rotated.since);
  const { iss, sub, aud, client_id, scope, iat, exp, jti, cnf, act, acr, auth_time } = claims;
  const scopes = scopesNow(tx, ctx, state, scope);
  return {
    ...(state.user === null && ownClaims({ ...claims })),
    active: true,
    ...(kind === "access" && { token_type: cnf === undefined ? "Bearer" : "DPoP" }),
    iss,
    sub,
    ...(aud !== undefined && { aud }),
    client_id,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(state.user !== null && { username: state.user.username }),
    iat,
    exp,
    jti,
    // RFC 9470 6.2.
    ...(acr !== undefined && { acr }),
    ...(auth_time !== undefined && { auth_time }),
    ...(cnf !== undefined && { cnf }),
    ...(act !== undefined && { act }),
  };
}

/** The answer for the operator, with the reason why a token is inactive. */
export async function introspectToken(ctx: Context, input: { readonly token: string }): Promise<Introspection> {
  const genuine = readToken(ctx, await jwtOf(ctx, input.token));
  if (genuine instanceof TokenProblem) return refused(ctx, input.token, genuine);
  return ctx.store.read((tx) => stateOf(tx, ctx, genuine));
}

/**
 * For a client that has proved who it is, as a resource server does (RFC 7662 2.1).
 * @throws {OAuthError} invalid_client for a public client
 */
export async function introspect(ctx: Context, client: Client, token: string): Promise<Introspection> {
  if (isPublic(client)) {
    throw new OAuthError(
      "invalid_client",
      "a public client may not introspect: the endpoint asks for client authentication",
      { rule: "RFC 7662 2.1", fix: "introspect as a client that has a secret" },
    );
  }
  const genuine = readToken(ctx, await jwtOf(ctx, token));
  // Why is not said, so what anybody sends here is not read for it.
  if (genuine instanceof TokenProblem) return { active: false };
  const { reason: _reason, since: _since, ...answer } = await ctx.store.read((tx) => stateOf(tx, ctx, genuine));
  return answer;
}
