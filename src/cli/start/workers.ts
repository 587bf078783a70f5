import type { Idp } from "../../index.ts";

/** `idp start --issuers N`, which makes issuers for the workers of a test runner. */

export const workers = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `w${at + 1}`);

/**
 * Makes the missing keys in the background, one issuer after the other, so that the first sign-in need not wait. If that fails, the request
 * that needs a key reports it.
 */
export async function makeKeys(idp: Idp, count: number): Promise<void> {
  await idp.call("keys.list", {});
  for (const name of workers(count)) await idp.issuers.get(name).call("keys.list", {});
}
