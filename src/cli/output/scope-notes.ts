import { nearest } from "../../core/base/nearest.ts";
import { readSource, type FixtureSource } from "../../core/base/fixture-files/source.ts";
import type { FixtureFile } from "../../core/admin/fixtures/schema.ts";
import { standardByScope } from "../../core/records/scopes/claim-table.ts";
import { builtInScopes, splitScope } from "../../core/records/scopes/scopes.ts";
import type { Target } from "../target/target.ts";

const builtIn: readonly string[] = builtInScopes;

/** @param of whose scope it is, in words */
function undefinedScope(name: string, defined: readonly string[], of = ""): string {
  const closest = nearest(name, defined);
  const next = closest === undefined ? 'Define it under "scopes" in a fixture file.' : `Did you mean ${closest}?`;
  return `Scope "${name}"${of} is not defined, so it is ignored. ${next}`;
}

/**
 * Notes on scopes that are not defined. Requests ignore them and the server's log says so, but the person who typed one looks here.
 * @param scope as it was given; other types were refused
 */
export async function scopeNotes(target: Target, scope: unknown): Promise<readonly string[]> {
  const others = splitScope(typeof scope === "string" ? scope : "").filter((name) => !builtIn.includes(name));
  if (others.length === 0) return [];
  const defined = (await target.call("scopes.list", {})).map(({ name }) => name);
  return others.filter((name) => !defined.includes(name)).map((name) => undefinedScope(name, defined));
}

/**
 * The same for the scopes that the clients of fixtures list.
 * @param sources checked ones
 * @param target where they are applied, which may define more scopes; null if they are only checked
 */
export async function clientScopeNotes(
  sources: readonly FixtureSource[],
  target: Target | null,
): Promise<readonly string[]> {
  const files = (await Promise.all(sources.map(readSource))).map(({ value }) => value as FixtureFile);
  const own = files.flatMap(({ scopes = {} }) => Object.keys(scopes));
  const others = files.flatMap(({ clients = [] }) =>
    clients.flatMap(({ client_id: client, scope = "" }) =>
      splitScope(scope).flatMap((name) => (builtIn.includes(name) || own.includes(name) ? [] : [{ client, name }])),
    ),
  );
  if (others.length === 0) return [];
  const defined = target === null ? own : (await target.call("scopes.list", {})).map(({ name }) => name);
  return others
    .filter(({ name }) => !defined.includes(name))
    .map(({ client, name }) => undefinedScope(name, [...builtIn, ...defined], ` of client ${client}`));
}

/** Names that many apps read, beside the standard ones. */
const usualClaims = ["roles", "groups", "permissions"];

/** A note on each claim name that looks like a typo of a standard claim. The claim is still added, because any name is allowed. */
export function claimNotes(claims: Readonly<Record<string, unknown>> = {}): readonly string[] {
  const known = [...[...standardByScope.values()].flat(), ...usualClaims];
  return Object.keys(claims).flatMap((name) => {
    const closest = known.includes(name) ? undefined : nearest(name, known);
    return closest === undefined ? [] : [`"${name}" is not a standard claim. Did you mean ${closest}?`];
  });
}
