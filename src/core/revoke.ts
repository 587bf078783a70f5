import type { Client } from "../store/store.ts";
import type { Context } from "./context.ts";
import { OAuthError } from "./errors.ts";
import { killFamily } from "./token-state.ts";
import { verifyAccessToken, verifyRefreshToken } from "./accepted-tokens.ts";
import type { RefreshClaims, TokenClaims } from "./tokens.ts";

/** A token whose signature, kind, issuer and times hold. */
export type GenuineToken =
  | { readonly kind: "access"; readonly claims: TokenClaims }
  | { readonly kind: "refresh"; readonly claims: RefreshClaims };

/** A token of this server of either kind; null where the text is none, or expired. */
export async function readToken(ctx: Context, token: string): Promise<GenuineToken | null> {
  const access = await verifyAccessToken(ctx, token).catch(onlyRefusals);
  if (access !== null) return { kind: "access", claims: access };
  const refresh = await verifyRefreshToken(ctx, token).catch(onlyRefusals);
  return refresh === null ? null : { kind: "refresh", claims: refresh };
}

function onlyRefusals(error: unknown): null {
  if (error instanceof OAuthError) return null;
  throw error;
}

/** What a revocation did. */
export interface Revocation {
  /** Null: nothing, because the token was unknown, expired or another client's. */
  readonly revoked: "access_token" | "refresh_token" | null;
  readonly client: string | null;
}

/**
 * Revokes one token (RFC 7009 2): of an access token that one dies, of a refresh token its family and their access tokens.
 * A token of another client, an unknown and an expired one are left alone, which is no error (RFC 7009 2.2).
 * @param by the client that asks; null: the operator, who may revoke any
 */
export async function revokeToken(
  ctx: Context,
  input: { readonly token: string },
  by: Client | null = null,
): Promise<Revocation> {
  const genuine = await readToken(ctx, input.token);
  if (genuine === null || (by !== null && genuine.claims.client_id !== by.client_id))
    return { revoked: null, client: null };
  const because = by === null ? "by the operator" : `by its client "${by.client_id}"`;
  return ctx.store.transaction((tx): Revocation => {
    const { kind, claims } = genuine;
    // Also where its user is suspended: after a restore it must not come back to life.
    if (kind === "refresh") {
      killFamily(tx, ctx, claims.family, because);
      return { revoked: "refresh_token", client: claims.client_id };
    }
    tx.put("deadTokens", { jti: claims.jti, reason: because, expiresAt: claims.exp * 1000 });
    return { revoked: "access_token", client: claims.client_id };
  });
}
