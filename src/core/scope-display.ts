import type { Client, ReadTx, User } from "../store/store.ts";
import { userInfo } from "./claims.ts";

/** What the consent page says of a scope. */

/** The fixture's own words by language; null for a scope of the spec, whose words are the pages' own. */
export const scopeDescription = (tx: ReadTx, name: string): Readonly<Record<string, string>> | null =>
  tx.get("scopes", name)?.description ?? null;

/** Leaves of a value with their paths: `user.email.domain`, `example.test`. */
function* leaves(value: unknown, path: string): Generator<[string, string]> {
  if (Array.isArray(value) && value.length > 0) {
    for (const [at, item] of value.entries()) yield* leaves(item, `${path}[${at}]`);
  } else if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    for (const [name, item] of Object.entries(value)) yield* leaves(item, path === "" ? name : `${path}.${name}`);
  } else {
    yield [path, typeof value === "string" && value !== "" ? value : JSON.stringify(value)];
  }
}

/**
 * The very values that UserInfo would send because of this scope alone.
 * @returns `path: value` lines; null where the scope adds none
 */
export function scopeValues(tx: ReadTx, client: Client, user: User, scope: string): readonly string[] | null {
  const without = new Set([...leaves(userInfo(tx, client, user, []), "")].map(([path]) => path));
  const added = [...leaves(userInfo(tx, client, user, [scope]), "")].filter(([path]) => !without.has(path));
  return added.length === 0 ? null : added.map(([path, value]) => `${path.replace(/^user\./, "")}: ${value}`);
}
