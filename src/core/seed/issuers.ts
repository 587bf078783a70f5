import type { Issuers } from "../issuers/issuer-view.ts";
import { isObject } from "../../text/json-object.ts";
import { readSource, type AnyFixtures, type FixtureSource } from "../fixture-files/source.ts";

/** The section `issuers` of fixtures, by the names of the issuers. */
export async function issuersIn(
  sources: readonly AnyFixtures[],
): Promise<ReadonlyMap<string, readonly FixtureSource[]>> {
  const found = new Map<string, FixtureSource[]>();
  for (const source of sources) {
    const { value } = await readSource(source);
    const issuers = isObject(value) && isObject(value["issuers"]) ? value["issuers"] : {};
    for (const [name, own] of Object.entries(issuers)) found.set(name, [...(found.get(name) ?? []), { value: own }]);
  }
  return found;
}

/** Applies that section: the issuers that exist get their fixtures, and the others are made. */
export async function applyIssuers(
  issuers: Issuers,
  sources: readonly AnyFixtures[],
  how: Parameters<Issuers["apply"]>[2],
): Promise<void> {
  const declared = await issuersIn(sources);
  if (declared.size === 0) return;
  const known = (await issuers.list()).map(({ name }) => name);
  for (const [name, own] of declared) {
    if (known.includes(name)) await issuers.apply(name, own, how);
    else await issuers.add(name, own);
  }
}
