import type { Context, FixturesInUse } from "../core/context.ts";
import { derive } from "../core/derived.ts";
import { createTurns } from "../core/turns.ts";
import { digestKey, digestOf, sameJson } from "../core/fixtures/schema/digest.ts";
import type { FixtureFile } from "../core/fixtures/schema/schema.ts";
import { readSource, type AnyFixtures, type FixtureDocument } from "../core/fixtures/read/source.ts";
import { isObject } from "../core/json-object.ts";
import { builtInDemo, findFixtures } from "../fixture-files.ts";
import type { KeptFixture, ReadTx } from "../store/store.ts";
import type { IssuerOptions } from "./issuer.ts";
import type { OneFixture } from "./options.ts";

type Given = OneFixture | KeptFixture;

/** The sections of a fixture have other names than the fields of a source. */
const isSource = (one: Exclude<Given, string>): one is AnyFixtures =>
  isObject(one) && ("value" in one || ("text" in one && "name" in one));

/** Reads the fixtures that were given as an option. @throws {OperationError} invalid, for files that cannot be read */
export function sourcesOf(given: IssuerOptions["fixtures"]): readonly AnyFixtures[] {
  const fixtures = typeof given === "function" ? given() : given;
  if (fixtures === undefined) return [builtInDemo()];
  const all = Array.isArray(fixtures) ? (fixtures as readonly Given[]) : [fixtures as Given];
  return all.flatMap((one) => {
    if (typeof one === "string") return findFixtures([one], process.cwd()).sources;
    return [isSource(one) ? one : { value: one }];
  });
}

/** A copy: a reset goes back to the value as it was, even if the caller changes it later. */
const copyOf = (source: AnyFixtures): AnyFixtures =>
  "value" in source && !("digests" in source || "builtIn" in source)
    ? { value: structuredClone(source.value) }
    : source;

const inUse = "inUse";

/** What the data keeps of fixtures: passwords are on no disk. Issuers have fixtures that are kept by themselves. */
function keptOf({ name, value, kept }: FixtureDocument, key: string): KeptFixture {
  if (kept !== undefined) return kept;
  const { users = [], issuers: _, ...sections } = value as FixtureFile;
  const digests = users.flatMap(({ username, password }) =>
    password === undefined ? [] : [[username, digestOf(key, password)] as const],
  );
  const shown = users.map(({ password: _, ...user }) => user);
  return { name, value: { ...sections, users: shown }, digests: Object.fromEntries(digests), key };
}

interface OwnFixtures extends FixturesInUse {
  /** Those of the start were applied, and are in use from now on. @param areKept no later start knows them */
  begin(areKept: boolean): Promise<void>;
}

/**
 * The fixtures that an issuer uses, and a reset goes back to. Where they are others than those that this process was started with, they are
 * in the data: other processes on it have to go back to them as well, and this one after a restart.
 * @param given the option; a function is called again for the latest fixtures
 * @param applied what it said at the start; absent: it is read when it is needed
 */
export async function fixturesInUse(
  { store, random }: Pick<Context, "store" | "random">,
  given: IssuerOptions["fixtures"],
  applied?: readonly AnyFixtures[],
): Promise<OwnFixtures> {
  const kept = await derive(store, ["fixtures"], (tx) => tx.get("fixtures", inUse));
  let read = applied?.map(copyOf);
  const ofStart = (): readonly AnyFixtures[] => (read ??= sourcesOf(given).map(copyOf));
  let latest: readonly AnyFixtures[] | null = null;
  /** Others, which this process was handed with their passwords. */
  let others: { readonly version: string; readonly sources: readonly AnyFixtures[] } | null = null;

  function instead(): readonly AnyFixtures[] | undefined {
    const { version, fixtures } = kept.value ?? {};
    return others !== null && others.version === version ? others.sources : fixtures;
  }

  const put: FixturesInUse["use"] = (tx, sources, { documents, key }) => {
    const fixtures = documents.map((document) => keptOf(document, key));
    const before = tx.get("fixtures", inUse);
    const isSame = before !== undefined && sameJson(before.fixtures, fixtures);
    const version = isSame ? before.version : random(9);
    if (!isSame) tx.put("fixtures", { id: inUse, version, fixtures });
    if (!sources.some((source) => "digests" in source)) others = { version, sources: sources.map(copyOf) };
  };

  return {
    sources: () => instead() ?? ofStart(),
    latest: () => (latest = instead() ?? (typeof given === "function" ? sourcesOf(given) : ofStart())),
    use(tx, sources, prepared) {
      if (sources !== latest || instead() !== undefined) {
        put(tx, sources, prepared);
        return;
      }
      read = sources.map(copyOf);
      tx.remove("fixtures", inUse);
    },
    reload: () => kept.reload(),
    inTurn: createTurns(),
    async begin(areKept) {
      const documents = areKept ? await Promise.all(ofStart().map(readSource)) : [];
      await store.transaction((tx) => {
        const key = digestKey(tx);
        if (areKept && key !== undefined) put(tx, ofStart(), { documents, key });
        else tx.remove("fixtures", inUse);
      });
      await kept.reload();
    },
  };
}

/** Whether there are fixtures in the data, in place of those of the start. */
export const hasFixtures = (tx: ReadTx): boolean => tx.get("fixtures", inUse) !== undefined;
