import type { Client, ReadTx, User } from "../store/store.ts";
import { everythingOf, idTokenClaims, userInfo } from "./claims.ts";

/** What the consent page says of a scope. */

/** A scope's name, and what a fixture says of it by language. */
export interface NamedScope {
  readonly name: string;
  readonly description: Readonly<Record<string, string>> | null;
}

/** The fixture's own words by language; null for a scope of the spec, whose words are the pages' own. */
const scopeDescription = (tx: ReadTx, name: string): Readonly<Record<string, string>> | null =>
  tx.get("scopes", name)?.description ?? null;

export const namedScopes = (tx: ReadTx, names: readonly string[]): NamedScope[] =>
  names.map((name) => ({ name, description: scopeDescription(tx, name) }));

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

/** As a page names them: the paths of UserInfo without the `user.` before most of them. */
const shown = (values: Iterable<ReleasedValue>): ReleasedValue[] =>
  [...values].map(({ name, value }) => ({ name: name.replace(/^user\./, ""), value }));

/** The values of `more` whose paths `less` does not have. */
function added(more: unknown, less: unknown): ReleasedValue[] {
  const before = new Set([...leaves(less, "")].map(({ name }) => name));
  return [...leaves(more, "")].filter(({ name }) => !before.has(name));
}

/** The very values that UserInfo would send whatever is granted; `sub` says the same as `id`. */
export function baseValues(tx: ReadTx, client: Client, user: User): readonly ReleasedValue[] {
  const { sub, ...rest } = userInfo(tx, client, user, []);
  return shown(leaves(rest["id"] === sub ? rest : { sub, ...rest }, ""));
}

/** All that clients may be told of a user, for their own page. */
export const ownValues = (user: User): readonly ReleasedValue[] => shown(leaves(everythingOf(user), ""));

/** The very values that would be sent because of this scope alone: in UserInfo, or else in the ID token. */
export function scopeValues(tx: ReadTx, client: Client, user: User, scope: string): readonly ReleasedValue[] {
  const inUserInfo = added(userInfo(tx, client, user, [scope]), userInfo(tx, client, user, []));
  if (inUserInfo.length > 0) return shown(inUserInfo);
  return added(idTokenClaims(tx, client, user, [scope]), idTokenClaims(tx, client, user, []));
}
