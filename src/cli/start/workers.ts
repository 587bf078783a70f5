import type { Idp } from "../../index.ts";

/** `idp start --issuers N`: issuers for the workers of a test runner. */

export const workers = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `w${at + 1}`);

/**
 * Makes the keys that are missing, one issuer after the other, beside the requests: the first sign-in need not wait. If that fails, the
 * request that needs a key reports it.
 */
export async function makeKeys(idp: Idp, count: number): Promise<void> {
  await idp.call("keys.list", {});
  for (const name of workers(count)) await idp.issuers.get(name).call("keys.list", {});
}
