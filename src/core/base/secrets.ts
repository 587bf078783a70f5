import { hash, timingSafeEqual } from "node:crypto";

/** Secrets other than passwords: comparing them, and hashing those that nobody has to read again. */

/**
 * SHA-256, base64url. The store holds this hash instead of a cookie's value, a code or a token, so that nobody can sign in with the content
 * of the data file. It also turns other values into keys of one length.
 */
export const hashOf = (value: string): string => hash("sha256", value, "base64url");

/** Whether two secrets are equal, in a time that says nothing about where they differ. They may be of any length. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
}
