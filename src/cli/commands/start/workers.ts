import type { Server } from "../../../serve/server.ts";

/** `idp start --issuers N`, which makes issuers for the workers of a test runner. */

export const workers = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `w${at + 1}`);

/**
 * Makes the missing keys in the background, one issuer after the other, so that the first sign-in need not wait. If that fails, the request
 * that needs a key reports it.
 */
export async function makeKeys({ issuer, issuers }: Server, count: number): Promise<void> {
  for (const { ctx } of [issuer, ...workers(count).flatMap((name) => issuers.find(name) ?? [])]) await ctx.keys.jwks();
}
