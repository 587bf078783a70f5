import { digestOfSources } from "./fixtures/digest.ts";
import { refuseFixtures, type FoundIn } from "./fixtures/problems.ts";
import type { FixtureFile } from "./fixtures/schema.ts";
import { readSource, type FixtureDocument, type FixtureSource } from "./fixtures/source.ts";
import { prepareEntries, type Entries, type Step } from "./seed-entries.ts";

/** Reads fixtures, checks them whole, and makes them ready to be applied: all that is done before the transaction. */

/** Fixtures in which no problem was found. */
export interface PreparedFixtures {
  readonly documents: readonly FixtureDocument[];
  readonly entries: Entries;
  /** Of the digests. */
  readonly key: string;
  /** Keyed digest of all files; null: something else than files was handed in. */
  readonly digest: string | null;
}

/** Finds what does not fit together between documents, and between them and the data. */
type CrossCheck = (documents: readonly FixtureDocument[]) => Promise<readonly FoundIn[]>;

/**
 * @param key of the digests
 * @param progress is told how many entries are done, of how many
 * @throws {OperationError} invalid, with every problem of every source
 */
export async function prepareFixtures(
  key: string,
  sources: readonly FixtureSource[],
  cross: CrossCheck,
  progress: (done: number, total: number) => void,
): Promise<PreparedFixtures> {
  const documents = await Promise.all(sources.map(readSource));
  const step = stepper(2 * documents.reduce((sum, { value }) => sum + size(value), 0), progress);
  if (!sources.every((source) => "builtIn" in source && source.builtIn)) await checkDocuments(documents, step, cross);
  const files = documents.map(({ value }) => value as FixtureFile);
  const entries = await prepareEntries(key, files, step);
  return { documents, entries, key, digest: digestOfSources(key, sources) };
}

/** @throws {OperationError} invalid, with every problem of every document */
export async function checkDocuments(
  documents: readonly FixtureDocument[],
  step: Step,
  cross: CrossCheck,
): Promise<void> {
  const { checkDocuments: checkEach } = await import("./fixtures/check.ts");
  const found = await checkEach(documents, step);
  const numbered = found.flatMap((some, document) => some.map((one) => ({ ...one, document })));
  const all = [...numbered, ...(await cross(documents))];
  if (all.length > 0) throw refuseFixtures(documents, all);
}

function size(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
}

/** Counts entries, and lets others work after every few hundred: a server that runs goes on answering. */
function stepper(total: number, progress: (done: number, total: number) => void): Step {
  let done = 0;
  return () => {
    done++;
    if (done % 500 !== 0) return undefined;
    progress(done, total);
    return new Promise((resolve) => void setImmediate(resolve));
  };
}
