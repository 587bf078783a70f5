import { relative } from "../core/time-words.ts";

/** Times and counts as a person says them. */

/** How long ago an ISO 8601 time was. @param now milliseconds since 1970 */
export const since = (iso: string, now: number): string => relative((Date.parse(iso) - now) / 1000);

/** "1 user", "2 users". */
export const count = (number: number, singular: string, plural = `${singular}s`): string =>
  `${number} ${number === 1 ? singular : plural}`;
