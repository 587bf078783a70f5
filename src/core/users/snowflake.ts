import { hash } from "node:crypto";

/**
 * Snowflake ids: a string of digits. The upper bits are a time in milliseconds, and the lower 22 bits tell apart ids of the same
 * millisecond. Ids are derived, not random, so that a user of a fixture has the same id on every run.
 */

const lowBits = 22n;

/** The upper bits that keep an id positive as a signed 64-bit number, which is what most databases keep it in. */
const latest = 2 ** 41 - 1;

/**
 * The id of a user.
 * @param createdAt milliseconds since 1970; earlier times count as 1970, times after 2039 as 2039
 * @param username decides the lower bits
 * @param attempt counts up from 0 where an id is taken by another user
 */
export function deriveSnowflake(createdAt: number, username: string, attempt = 0): string {
  const time = BigInt(Math.min(Math.max(Math.floor(createdAt), 0), latest));
  const seed = attempt === 0 ? username : `${username} ${attempt}`;
  const low = Number.parseInt(hash("sha256", seed, "hex").slice(0, 8), 16) >>> 10;
  return ((time << lowBits) | BigInt(low)).toString();
}
