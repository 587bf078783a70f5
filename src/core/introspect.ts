import type { Client, ReadTx } from "../store/store.ts";
import { isPublic } from "./clients.ts";
import type { Context } from "./context.ts";
import { OAuthError } from "./errors.ts";
import { readToken, type GenuineToken } from "./revoke.ts";
import { isDead, tokenState } from "./token-state.ts";

/** What a token is good for now (RFC 7662). */

/** RFC 7662 2.2; `reason` is for the operator only: the endpoint says no more than that a token is inactive. */
export interface Introspection {
  readonly active: boolean;
  readonly reason?: string;
  readonly [member: string]: unknown;
}

function stateOf(tx: ReadTx, genuine: GenuineToken): Introspection {
  const { claims, kind } = genuine;
  const state = tokenState(tx, claims);
  if (isDead(state)) return { active: false, reason: state.detail };
  if (kind === "refresh" && claims.generation < (tx.get("families", claims.family)?.generation ?? 0)) {
    return { active: false, reason: "the refresh token was rotated: a newer one took its place" };
  }
  const { iss, sub, aud, client_id, scope, iat, exp, jti, cnf, act } = claims;
  return {
    active: true,
    ...(kind === "access" && { token_type: cnf === undefined ? "Bearer" : "DPoP" }),
    iss,
    sub,
    ...(aud !== undefined && { aud }),
    client_id,
    scope:
      state.grant === null
        ? scope
        : scope
            .split(" ")
            .filter((name) => state.grant?.scopes.includes(name))
            .join(" "),
    ...(state.user !== null && { username: state.user.username }),
    iat,
    exp,
    jti,
    ...(cnf !== undefined && { cnf }),
    ...(act !== undefined && { act }),
  };
}

/** For the operator: with the reason why a token is inactive. */
export async function introspectToken(ctx: Context, input: { readonly token: string }): Promise<Introspection> {
  const genuine = await readToken(ctx, input.token);
  if (genuine === null)
    return { active: false, reason: "it is no access or refresh token of this server, or it has expired" };
  return ctx.store.read((tx) => stateOf(tx, genuine));
}

/**
 * For a client that has proved who it is, as a resource server does (RFC 7662 2.1).
 * @throws {OAuthError} invalid_client for a public client
 */
export async function introspect(ctx: Context, client: Client, token: string): Promise<Introspection> {
  if (isPublic(client)) {
    throw new OAuthError(
      "invalid_client",
      "a public client may not introspect: the endpoint asks for client authentication (RFC 7662 2.1)",
    );
  }
  const { reason: _, ...answer } = await introspectToken(ctx, { token });
  return answer;
}
