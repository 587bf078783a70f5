import type { Client, ReadTx, User } from "../store/store.ts";
import { userInfo } from "./claims.ts";

/** What the consent page says of a scope. */

/** The fixture's own words by language; null for a scope of the spec, whose words are the pages' own. */
export const scopeDescription = (tx: ReadTx, name: string): Readonly<Record<string, string>> | null =>
  tx.get("scopes", name)?.description ?? null;

/** One value that a scope releases. */
export interface ReleasedValue {
  /** The path in the UserInfo answer: `email.domain`. */
  readonly name: string;
  readonly value: string | boolean | null;
}

/** Leaves of a value with their paths. */
function* leaves(value: unknown, path: string): Generator<ReleasedValue> {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    const named = (key: string): string =>
      Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    for (const [key, item] of Object.entries(value)) yield* leaves(item, named(key));
  } else {
    const plain = typeof value === "string" || typeof value === "boolean" || value === null;
    yield { name: path, value: plain ? value : JSON.stringify(value) };
  }
}

/** The very values that UserInfo would send because of this scope alone. */
export function scopeValues(tx: ReadTx, client: Client, user: User, scope: string): readonly ReleasedValue[] {
  const without = new Set([...leaves(userInfo(tx, client, user, []), "")].map(({ name }) => name));
  return [...leaves(userInfo(tx, client, user, [scope]), "")]
    .filter(({ name }) => !without.has(name))
    .map(({ name, value }) => ({ name: name.replace(/^user\./, ""), value }));
}
