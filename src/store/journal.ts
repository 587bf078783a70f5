/**
 * The port of the journal: the changes of durable records, one entry after the other, numbered from 1 on. The engine keeps
 * the records in memory. The journal makes them durable, and several processes on one store would agree through it.
 *
 * Guarantees (each is a test of `test/store/journal-contract.ts`, run against every adapter):
 *
 * 1. **Durable.** When `append` resolves, its entry is on disk. If it rejects, the entry is not there, and never will be.
 * 2. **One writer wins.** An entry has the number after the one that its writer knew last. If another writer was faster, that
 *    number is taken: `append` rejects with {@link OvertakenError}. The loser reads the entries it lacks and runs its
 *    transactions again.
 * 3. **In order.** `since` hands out the entries as they were appended, each once, without a gap.
 *
 * The file (`json/journal-file.ts`) is the only adapter so far. A folder has one owner, so nobody is faster there.
 */
import type { CollectionName } from "./collections.ts";
import type { AnyRecord } from "./table.ts";

/** One change of a durable collection. */
export type Operation =
  | { readonly put: CollectionName; readonly record: AnyRecord }
  | { readonly remove: CollectionName; readonly key: string };

/** The operations of the transactions that were committed together, in their order. */
export type JournalEntry = readonly Operation[];

export interface Journal {
  /** The number of the last entry. */
  head(): Promise<number>;
  /** The entries after this number. @throws {DataFileError} what is there is not a journal */
  since(seq: number): Promise<readonly JournalEntry[]>;
  /**
   * Appends the entry that follows number `seq`.
   * @throws {OvertakenError} another writer was faster @throws {StorageError} it could not be written
   */
  append(seq: number, entry: JournalEntry): Promise<void>;
}

/** Another writer appended an entry first. */
export class OvertakenError extends Error {
  override readonly name = "OvertakenError";
}
