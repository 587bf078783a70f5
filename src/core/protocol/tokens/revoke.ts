import type { Client } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { endByEra, killFamily } from "./state.ts";
import { readToken } from "./accept.ts";
import { jwtOf } from "./opaque.ts";
import { TokenProblem } from "./token-problem.ts";

/** The outcome of a revocation. */
export interface Revocation {
  /** Null: nothing, because the token was unknown, expired or another client's. */
  readonly revoked: "access_token" | "refresh_token" | null;
  readonly client: string | null;
}

const isClient = (by: Client | "bearer" | null): by is Client => by !== null && by !== "bearer";

/**
 * Revokes one token (RFC 7009 2): of an access token that one dies, of a refresh token its family and their access tokens.
 * A token of another client, an unknown and an expired one are left alone, which is no error (RFC 7009 2.2).
 * @param by the client that asks; `bearer`: whoever has the token; null: the operator, who may revoke any
 */
export async function revokeToken(
  ctx: Context,
  input: { readonly token: string },
  by: Client | "bearer" | null = null,
): Promise<Revocation> {
  // One that has expired only because the clock is ahead must not be good again when it goes back.
  const genuine = readToken(ctx, await jwtOf(ctx, input.token), ctx.clock.passed());
  if (genuine instanceof TokenProblem || (isClient(by) && genuine.claims.client_id !== by.client_id))
    return { revoked: null, client: null };
  const because = isClient(by)
    ? `was revoked by its client "${by.client_id}"`
    : by === null
      ? "was revoked by the operator"
      : "was revoked by whoever has it";
  return ctx.store.transaction((tx): Revocation => {
    const { kind, claims } = genuine;
    if (endByEra(tx, claims) !== null) return { revoked: null, client: null };
    // Also where its user is suspended: after a restore it must not come back to life.
    // At Google an access token ends the refresh token too.
    if (kind === "refresh" || (by === "bearer" && claims.family !== undefined)) {
      if (claims.family !== undefined) killFamily(tx, ctx, claims.family, because);
      return { revoked: kind === "refresh" ? "refresh_token" : "access_token", client: claims.client_id };
    }
    tx.put("deadTokens", { jti: claims.jti, reason: because, at: ctx.now(), expiresAt: claims.exp * 1000 });
    return { revoked: "access_token", client: claims.client_id };
  });
}
