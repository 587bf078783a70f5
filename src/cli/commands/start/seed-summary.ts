import type { SeedResult } from "../../../core/seed/seed.ts";
import { few } from "../../output/words.ts";

export const nothingSeeded = "nothing in them";

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
