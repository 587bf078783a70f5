import { relative } from "../../core/time-words.ts";

/** How long ago an ISO 8601 time was. @param now milliseconds since 1970 */
export const since = (iso: string, now: number): string => relative((Date.parse(iso) - now) / 1000);

/** "1 user", "2 users". */
export const count = (number: number, singular: string, plural = `${singular}s`): string =>
  `${number} ${number === 1 ? singular : plural}`;

/** How many names are shown. */
const maxNames = 3;

/** The first few of some names. */
export function few(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(", ");
  return names.length > maxNames ? `${shown}, …` : shown;
}
