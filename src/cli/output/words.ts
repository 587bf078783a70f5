import { relative } from "../../text/time.ts";
import type { SeedResult } from "../../core/admin/seed/seed.ts";

export { count } from "../../text/words.ts";

/** How long ago an ISO 8601 time was. @param now milliseconds since 1970 */
export const since = (iso: string, now: number): string => relative((Date.parse(iso) - now) / 1000);

/** How many names are shown. */
const maxNames = 3;

/** The first few of some names. */
export function few(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).join(", ");
  return names.length > maxNames ? `${shown}, …` : shown;
}

export const nothingSeeded = "no users, clients, scopes, grants or settings";

/** What applying fixtures did: "users 1 added, 1 changed (bob: email), 1 same; clients 2 same". Kinds without entries are left out. */
export function seedSummary(result: SeedResult): string {
  const kinds = (["users", "clients", "scopes", "grants", "settings"] as const).flatMap((kind) => {
    const { added, changed, same } = result[kind];
    const details = few(changed.map(({ name, fields }) => `${name}: ${fields.join(" ")}`));
    const parts = [
      ...(added.length > 0 ? [`${added.length} added`] : []),
      ...(changed.length > 0 ? [`${changed.length} changed (${details})`] : []),
      ...(same > 0 ? [`${same} same`] : []),
    ];
    return parts.length === 0 ? [] : [`${kind} ${parts.join(", ")}`];
  });
  return kinds.length === 0 ? nothingSeeded : kinds.join("; ");
}
