import type { Context } from "../../context.ts";
import { readJws } from "../../records/keys/jws.ts";
import { hashOf } from "../../base/secrets.ts";

/**
 * Opaque access tokens, which some vendors have: 256 random bits behind a prefix. The store keeps the JWT that such a token stands for, under the
 * hash of the token, so that the rules for access tokens are the same.
 */

/** @param jwt the access token @param until milliseconds: how long it is kept, so that a refusal can say what became of it */
export async function opaqueFor(ctx: Context, jwt: string, until = expiryOf(jwt)): Promise<string> {
  const token = (ctx.layout.opaque ?? "") + ctx.random(32);
  await ctx.store.transaction((tx) => {
    tx.put("opaqueTokens", { id: hashOf(token), jwt, expiresAt: until });
  });
  return token;
}

const expiryOf = (jwt: string): number => Number(readJws(jwt)?.payload["exp"] ?? 0) * 1000;

/** The JWT that a token stands for; any other text as it is. Proves nothing. */
export async function jwtOf(ctx: Context, token: string): Promise<string> {
  if (!ctx.layouts.some(({ opaque }) => opaque !== undefined)) return token;
  return ctx.store.read((tx) => tx.get("opaqueTokens", hashOf(token))?.jwt ?? token);
}
