import type { CollectionName } from "./collections.ts";
import { allCollections, type AnyRecord, type TableEntry, type Table } from "./table.ts";

/**
 * The port of the journal: the changes of records, one entry after the other, numbered from 1 on. The engine keeps the records in memory.
 * The journal makes them durable, and several processes on one store agree through it.
 *
 * Guarantees (each is a test of `test/store/journal-contract.ts`, run against every adapter):
 *
 * 1. **Durable.** When `append` resolves, its entry is on disk. If it rejects, the entry is not there, and never will be; where it
 *    rejects because the journal is away, only the journal itself can tell later.
 * 2. **One writer wins.** An entry has the number after the one that its writer knew last. If another writer was faster, that
 *    number is taken: `append` rejects with {@link OvertakenError}. The loser reads the entries it lacks and runs its
 *    transactions again.
 * 3. **In order.** `since` hands out the entries as they were appended, each once, without a gap.
 *
 * The file (`json/journal-file.ts`) has one owner, so nobody is faster there. The table (`postgres/journal.ts`) has many writers.
 */

/** One change of a collection. */
export type Operation =
  | { readonly put: CollectionName; readonly record: AnyRecord }
  | { readonly remove: CollectionName; readonly key: string };

/** The operations of the transactions that were committed together, in their order. */
export type JournalEntry = readonly Operation[];

/** All records of a moment, by collection. */
export type Records = Partial<Record<CollectionName, readonly AnyRecord[]>>;

/** A place in the journal: behind one of its entries, or before the first. */
export interface JournalPlace {
  /** The number of that entry; 0 before the first. */
  readonly seq: number;
  /** The name of that entry, where numbers alone do not tell one entry from another. */
  readonly id: string;
}

/** What a reader lacks. */
export interface Missed {
  /** Where the journal could not continue from the reader's place: all records as they were before `entries`. */
  readonly records?: Records;
  readonly entries: readonly JournalEntry[];
  /** The place behind the last of them. */
  readonly place: JournalPlace;
}

export interface Journal {
  /** The entries after this place. @throws {DataFileError | StorageError} what is there is not a journal, or cannot be read */
  since(place: JournalPlace): Promise<Missed>;
  /**
   * Appends the entry that follows this place.
   * @returns the place behind it
   * @throws {OvertakenError} another writer was faster @throws {StorageError} it could not be written
   */
  append(place: JournalPlace, entry: JournalEntry): Promise<JournalPlace>;
}

/** Another writer appended an entry first. */
export class OvertakenError extends Error {
  override readonly name = "OvertakenError";
}

/** Loads whole journals and snapshots into the tables, and captures the tables as a whole. */

type Tables = Readonly<Record<CollectionName, Table>>;

/** Whether it is an operation on one of these collections. */
export function isOperation(value: unknown, names: readonly string[]): value is Operation {
  if (typeof value !== "object" || value === null) return false;
  if ("put" in value)
    return isOneOf(names, value.put) && "record" in value && typeof value.record === "object" && value.record !== null;
  return "remove" in value && isOneOf(names, value.remove) && "key" in value && typeof value.key === "string";
}

const isOneOf = (names: readonly string[], name: unknown): boolean => typeof name === "string" && names.includes(name);

/** Applies an operation: the last one wins. @throws {TypeError} the record does not fit its collection */
export function replay(tables: Tables, operation: Operation): void {
  if ("remove" in operation) {
    tables[operation.remove].set(operation.key, undefined);
    return;
  }
  const table = tables[operation.put];
  const entry = table.entryOf(operation.record);
  // A rival may have expired and been purged, which the journal does not record, before this record took its value.
  for (let rival = table.rival(entry); rival !== undefined; rival = table.rival(entry))
    table.set(rival.entry.key, undefined);
  table.set(entry.key, { ...entry, seq: table.get(entry.key)?.seq ?? entry.seq });
}

/** Replaces all records. @throws {ConflictError} @throws {TypeError} */
export function reset(tables: Tables, records: Records): void {
  for (const name of allCollections) {
    const table = tables[name];
    for (const { key } of [...table.entries()]) table.set(key, undefined);
    for (const record of records[name] ?? []) table.load(record);
  }
}

/** The records of these collections in their order, without those that end by `until`. */
export const capture = (tables: Tables, names: readonly CollectionName[], until: number): Records =>
  Object.fromEntries(
    names.map((name) => {
      const kept = [...tables[name].entries()].filter(({ expiresAt }: TableEntry) => expiresAt > until);
      return [name, kept.map(({ record }) => record)];
    }),
  );
