import type { Client, ReadTx, User } from "../../store/store.ts";
import { everythingOf, idTokenClaims, singleClaim, userInfo, type Defaults } from "../scopes/claims.ts";

/** What the consent page says about a scope. */

/** A scope's name, and the description of a fixture by language. */
export interface NamedScope {
  readonly name: string;
  readonly description: Readonly<Record<string, string>> | null;
}

/** The fixture's description by language; null for a built-in scope, which the pages describe. */
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

/** Adds the leaves of a value, with their paths. */
function addLeaves(into: ReleasedValue[], value: unknown, path: string): void {
  if (typeof value !== "object" || value === null) {
    const plain = typeof value === "string" || typeof value === "boolean" || value === null;
    into.push({ name: path, value: plain ? value : JSON.stringify(value) });
    return;
  }
  const keys = Object.keys(value);
  if (keys.length === 0) into.push({ name: path, value: JSON.stringify(value) });
  const isList = Array.isArray(value);
  for (const key of keys) {
    const name = isList ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    addLeaves(into, (value as Record<string, unknown>)[key], name);
  }
}

/** The values of `document` by their paths. */
export function leavesOf(document: Record<string, unknown>): ReleasedValue[] {
  const leaves: ReleasedValue[] = [];
  if (Object.keys(document).length > 0) addLeaves(leaves, document, "");
  return leaves;
}

/** The values of `document` whose paths `known` does not have. */
function newLeavesOf(document: Record<string, unknown>, known: readonly ReleasedValue[]): ReleasedValue[] {
  return leavesOf(document).filter(({ name }) => !known.some((leaf) => leaf.name === name));
}

const prefix = "user.";

/** The names that a page shows: paths of UserInfo without the leading `user.`. */
const shown = (values: readonly ReleasedValue[]): ReleasedValue[] =>
  values.map(({ name, value }) => ({ name: name.startsWith(prefix) ? name.slice(prefix.length) : name, value }));

/** Everything that clients may receive about a user, for the account page. */
export const ownValues = (ctx: Defaults, user: User): readonly ReleasedValue[] =>
  shown(leavesOf(everythingOf(ctx, user)));

/** The user's values that a client would receive. */
export interface Released {
  /** What UserInfo always sends; `sub` is left out if it equals `id`. */
  readonly always: readonly ReleasedValue[];
  /** What is sent because of this scope alone: in UserInfo, or else in the ID token. */
  readonly by: (scope: string) => readonly ReleasedValue[];
}

export function releasedValues(tx: ReadTx, ctx: Defaults, client: Client, user: User): Released {
  const base = userInfo(tx, ctx, client, user, [], []);
  const always = leavesOf(base);
  let inIdToken: readonly ReleasedValue[] | null = null;
  return {
    always: shown(base["id"] === base["sub"] ? always.filter(({ name }) => name !== "sub") : always),
    by: (scope) => {
      const claim = singleClaim(scope);
      const named = claim === null ? [] : [claim];
      const inUserInfo = newLeavesOf(userInfo(tx, ctx, client, user, [scope], named), always);
      if (inUserInfo.length > 0) return shown(inUserInfo);
      inIdToken ??= leavesOf(idTokenClaims(tx, ctx, client, user, [], []));
      return newLeavesOf(idTokenClaims(tx, ctx, client, user, [scope], named), inIdToken);
    },
  };
}
