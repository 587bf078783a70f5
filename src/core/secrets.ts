import { hash, timingSafeEqual } from "node:crypto";

/** Secrets other than passwords: how they are compared, and how those are kept that nobody has to read again. */

/**
 * SHA-256, base64url. In place of a cookie's value, a code or a token it is what the store has, so that nobody signs in with what a
 * file holds; of anything else it makes a key of one length.
 */
export const hashOf = (value: string): string => hash("sha256", value, "base64url");

/** Whether two secrets are equal, in a time that says nothing of where they differ. They may be of any length. */
export function sameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(hashOf(given)), Buffer.from(hashOf(expected))];
  return timingSafeEqual(a, b);
}
