import type { Context, FixturesInUse } from "../core/context.ts";
import { derive } from "../core/base/derived.ts";
import { createTurns } from "../core/base/turns.ts";
import { digestKey, digestOf } from "../core/base/fixture-files/digest.ts";
import { madeFrom, refuseForeignDemo, rememberMadeFrom } from "../core/base/fixture-files/made-from.ts";
import type { FixtureFile } from "../core/admin/fixtures/schema.ts";
import { readSource, type AnyFixtures, type FixtureDocument } from "../core/base/fixture-files/source.ts";
import { isObject, sameJson } from "../text/json.ts";
import { builtInDemo, findFixtures, withNamedFiles } from "./fixture-files.ts";
import type { FixturesInUse as FixturesOfOthers, KeptFixture, ReadTx } from "../store/store.ts";
import type { IdpOptions, OneFixture } from "./options.ts";

/** Fixtures as an issuer is given them: those of a program, or of the data. */
export type GivenFixtures = IdpOptions["fixtures"] | (() => readonly AnyFixtures[]);

type Given = OneFixture | KeptFixture;

/** The sections of a fixture have other names than the fields of a source. */
const isSource = (one: Exclude<Given, string>): one is AnyFixtures =>
  isObject(one) && ("value" in one || ("text" in one && "name" in one));

/** Reads the fixtures of an option. @throws {OperationError} invalid for files that cannot be read */
export function sourcesOf(given: GivenFixtures): readonly AnyFixtures[] {
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

function keptIn(tx: ReadTx): FixturesOfOthers | undefined {
  const found = tx.get("fixtures", inUse);
  return found?.id === inUse ? found : undefined;
}

/** What the data keeps of fixtures. No password is on disk. The fixtures of issuers are kept with each issuer. */
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
  /** The fixtures of the start were applied, and are in use from now on. @param areKept the data keeps them, because no later start has them */
  begin(areKept: boolean): Promise<void>;
}

/**
 * The fixtures that an issuer uses, and that a reset goes back to. If they are not those of the start, they are in the data, so that other
 * processes go back to them too, and this one after a restart.
 * @param given the option; a function is called again for the latest fixtures
 * @param applied what the option was at the start; absent if it is only read when it is needed
 */
export async function fixturesInUse(
  { store, random }: Pick<Context, "store" | "random">,
  given: GivenFixtures,
  applied?: readonly AnyFixtures[],
): Promise<OwnFixtures> {
  const kept = await derive(store, ["fixtures"], keptIn);
  const origin = await derive(store, ["fixtures"], madeFrom);
  let read = applied?.map(copyOf);
  const ofStart = (): readonly AnyFixtures[] => (read ??= sourcesOf(given).map(copyOf));
  let latest: readonly AnyFixtures[] | null = null;
  /** Other fixtures, which this process was given with their passwords. */
  let others: { readonly version: string; readonly sources: readonly AnyFixtures[] } | null = null;

  function instead(): readonly AnyFixtures[] | undefined {
    const { version, fixtures } = kept.value ?? {};
    return others !== null && others.version === version ? others.sources : fixtures;
  }

  const readAgain = async (): Promise<readonly AnyFixtures[]> =>
    (latest = instead() ?? (await withNamedFiles(typeof given === "function" ? sourcesOf(given) : ofStart())));

  const put: FixturesInUse["use"] = (tx, sources, { documents, key }) => {
    const fixtures = documents.map((document) => keptOf(document, key));
    const before = keptIn(tx);
    const isSame = before !== undefined && sameJson(before.fixtures, fixtures);
    const version = isSame ? before.version : random(9);
    if (!isSame) tx.put("fixtures", { id: inUse, version, fixtures });
    if (!sources.some((source) => "digests" in source)) others = { version, sources: sources.map(copyOf) };
  };

  return {
    sources: () => instead() ?? ofStart(),
    latest: readAgain,
    async toApply() {
      const sources = await readAgain();
      refuseForeignDemo(sources, origin.value);
      return sources;
    },
    use(tx, sources, prepared, areOfStart = false) {
      rememberMadeFrom(tx, sources);
      if (!areOfStart && (sources !== latest || instead() !== undefined)) {
        put(tx, sources, prepared);
        return;
      }
      read = sources.map(copyOf);
      tx.remove("fixtures", inUse);
    },
    inTurn: createTurns(),
    async begin(areKept) {
      const documents = areKept ? await Promise.all(ofStart().map(readSource)) : [];
      await store.transaction((tx) => {
        const key = digestKey(tx);
        rememberMadeFrom(tx, ofStart());
        if (areKept && key !== undefined) put(tx, ofStart(), { documents, key });
        else tx.remove("fixtures", inUse);
      });
    },
  };
}

/** Whether the data has fixtures, in place of those of the start. */
export const hasFixtures = (tx: ReadTx): boolean => keptIn(tx) !== undefined;
