import { existsSync } from "node:fs";
import type { ClientView } from "../../core/clients/admin.ts";
import { usualNames } from "../../fixture-files.ts";
import { printableJson } from "../output/escape.ts";

/** Fields that no fixture has. The secret is left out: it is never printed. */
const notInFixtures = ["public", "updatedAt", "createdAt", "client_secret"];

/**
 * A client that was edited is not what its fixture says: what a person has to write there, so that a reset does not undo the edit.
 * The lines are JSON, which is YAML too.
 */
export function fixtureNotes(before: ClientView, after: ClientView): readonly string[] {
  const isChanged = (name: string): boolean => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !notInFixtures.includes(name) && isChanged(name),
  );
  if (changed.length === 0) return [];
  const file = usualNames.find((name) => existsSync(name));
  const quote = file?.endsWith(".json") === true ? JSON.stringify : String;
  const lines = changed.map((name) =>
    after[name] === undefined ? `  remove ${quote(name)}` : `  ${quote(name)}: ${printableJson(after[name], 0)}`,
  );
  const where = `${file ?? "a fixture file"}, at client ${after.client_id}`;
  return [
    `The fixtures do not have this change yet, and idp reset undoes it. To keep it, write in ${where}:\n${lines.join("\n")}`,
  ];
}
