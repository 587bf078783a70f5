/*
 * store: records, and nothing about OAuth. store.ts is the port: every guarantee in words, each with a contract test. records.ts, credentials.ts, pending.ts
 * and collections.ts say which records there are. engine.ts keeps them in memory (table.ts) with transactions. journal.ts is the port of the
 * journal, which makes changes durable; commit-queue.ts writes to it. memory.ts has no journal, json/ keeps it in a file, postgres/ in a table.
 * issuer-stores.ts is the port of the stores of a process, one for each issuer; open.ts chooses the adapter.
 */
/**
 * The port: how records are found and changed, and what every store guarantees. It knows nothing of OAuth.
 *
 * Guarantees (each is a test of `test/store/contract.ts`, run against every adapter):
 *
 * 1. **Frozen out, frozen in.** Nobody can change a record that was handed out or put in: put a new one instead.
 * 2. **Conflict.** `insert` of a taken key, or of a taken value of a unique index, throws {@link ConflictError} and changes nothing.
 * 3. **One remover.** Of twenty callers that remove the same record at once, exactly one gets it.
 * 4. **All or nothing.** A transaction that throws leaves no trace, in the records or in any index.
 * 5. **No lost update.** Transactions run one after the other: nobody changes what one has read before it ends. Its work is
 *    a pure function of the records and may run again from the start, on other records: the last run is what counts. So it
 *    reads everything that it decides by inside the transaction, and does nothing but read and change records.
 * 6. **Durable before the answer.** `transaction` resolves after its changes are on disk (where the store has a disk).
 *    It rejects with {@link StorageError} if they could not be written, and then memory holds what the disk holds.
 * 7. **Nothing unwritten is read.** What `read` resolves with is on disk too: a change whose write failed is never seen.
 * 8. **Expiry.** A record whose `expiresAt` (milliseconds) is not after `now()` is absent. It is removed some time after
 *    `passed()` has reached its end too: until then it comes back when the clock is set back to before its end.
 * 9. **Indexed.** `get`, `find` and `findAll` cost the same however many records there are.
 * 10. **Volatile** collections may be lost when the process ends; nothing else about them differs.
 * 11. **Versions.** A record has another version after each change that was kept, also after it was removed and came back,
 *    and the same one as long as nobody changes it. Versions can be compared for as long as this store is open; the
 *    records themselves cannot be compared by identity.
 * 12. **Told.** A listener hears of each change that is kept, of this process and of others, before whoever made it gets the outcome and
 *    before anybody else reads it. So a value that is made from records is never older than they are. It never takes over a change that
 *    could not be written.
 */

import type { RequestLog } from "./request-log.ts";
import type { AnyIndex, CollectionName, Collections, UniqueIndex } from "./collections.ts";

export {
  collections,
  describesItself,
  nameIdAtClient,
  scimKey,
  userAndClient,
  type CollectionName,
  type Collections,
} from "./collections.ts";
export type * from "./credentials.ts";
export type * from "./pending.ts";
export type * from "./records.ts";
export type * from "./request-log.ts";

/** What can be read; within a transaction its own changes are seen. */
export interface ReadTx {
  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined;
  /** The version of the record with this key; undefined if there is none. See guarantee 11. */
  version(collection: CollectionName, key: string): number | undefined;
  /** The record with this value in a unique index. */
  find<C extends CollectionName>(collection: C, index: UniqueIndex<C>, value: string): Collections[C] | undefined;
  /** Whether any record has this value in an index: costs the same however many do. */
  has<C extends CollectionName>(collection: C, index: AnyIndex<C>, value: string): boolean;
  /** The records with this value in an index, in the order of their insertion. */
  findAll<C extends CollectionName>(collection: C, index: AnyIndex<C>, value: string): readonly Collections[C][];
  /** All records in the order of their insertion. The cost grows with their number, so requests must not use it. */
  all<C extends CollectionName>(collection: C): IterableIterator<Collections[C]>;
  /** The same, with those that have expired and are not removed yet: see guarantee 8. With an index: those with this value. */
  everything<C extends CollectionName>(collection: C, index?: AnyIndex<C>, value?: string): readonly Collections[C][];
  count(collection: CollectionName): number;
}

export interface Tx extends ReadTx {
  /** @throws {ConflictError} where the key or a unique value is taken */
  insert<C extends CollectionName>(collection: C, record: Collections[C]): void;
  /** Inserts the record or replaces the one of its key. @throws {ConflictError} where a unique value is another's */
  put<C extends CollectionName>(collection: C, record: Collections[C]): void;
  /** Removes the record and returns it; undefined if there is none. One that has expired is removed too: it stays away if the clock is set back. */
  remove<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined;
  /** Removes all records, also those that have expired. */
  clear(collection: CollectionName): void;
}

/** Two clocks, in milliseconds since 1970. */
export interface StoreClock {
  /** May be moved in both directions. */
  readonly now: () => number;
  /** A time that has passed permanently: records that ended before it never come back. Absent: `now`, which then only moves forward. */
  readonly passed?: (() => number) | undefined;
}

export interface Store {
  /** Where the data is: the whole path of `data.json`, or "memory". */
  readonly location: string;
  /** Runs `work` without an await inside; see guarantees 4 to 6. What it throws is thrown. */
  transaction<T>(work: (tx: Tx) => T): Promise<T>;
  /** See guarantee 7. `work` may run more than once. */
  read<T>(work: (tx: ReadTx) => T): Promise<T>;
  /** See guarantee 12. */
  follow(listener: ChangeListener): void;
  /**
   * Present where other processes change the records too. Resolves when all that they wrote before the call can be read here.
   * @throws {StorageError}
   */
  readonly catchUp?: () => Promise<void>;
  /** Present in the same stores: the requests that all processes got. */
  readonly requests?: RequestLog;
  /** Writes what is left to write and releases the data. Nothing may be called after it. */
  close(): Promise<void>;
}

/** What was put or removed: the keys of records, by collection; null: it may be any of its records. */
export type Changed = ReadonlyMap<CollectionName, ReadonlySet<string> | null>;

/**
 * Hears of every change that is kept, of this process and of others.
 * @param changed a record that was put and removed at once is among them
 * @param read reads at once what will be kept
 * @returns takes the change over: it is called when the change is on disk, before anybody hears of its outcome. Absent: nothing to do
 */
export type ChangeListener = (changed: Changed, read: <T>(work: (tx: ReadTx) => T) => T) => (() => void) | undefined;

/** A key or a unique value is taken. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
  readonly collection: CollectionName;
  readonly field: string;
  readonly value: string;
  constructor(collection: CollectionName, field: string, value: string) {
    super(`${collection}: ${field} "${value}" is taken`);
    this.collection = collection;
    this.field = field;
    this.value = value;
  }
}

/** The data could not be written (disk full, folder gone). Nothing of the change was kept, unless `partly` or `away` says otherwise. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** The error code that commands print. */
  readonly code = "temporarily_unavailable";
  /** Part of the change was already written; the message says which. */
  readonly partly: boolean;
  /** The database does not answer: nothing was read, and a change may have been made nevertheless. Soon it may work again. */
  readonly away: boolean;
  constructor(
    message: string,
    {
      cause,
      partly = false,
      away = false,
    }: { readonly cause?: unknown; readonly partly?: boolean; readonly away?: boolean } = {},
  ) {
    super(message, { cause });
    this.partly = partly;
    this.away = away;
  }
}

/** The database cannot be reached at a start, or refuses the login. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
  /** The error code that commands print. */
  readonly code = "no_server";
}

/** The clock of this machine and that of the database differ: what expires would depend on who is asked. */
export class ClockError extends Error {
  override readonly name = "ClockError";
  /** The error code that commands print. */
  readonly code = "clock_differs";
}

/** Another process owns the data: `holder` says which. */
export class LockedError extends Error {
  override readonly name = "LockedError";
  /** The error code that commands print. */
  readonly code = "conflict";
  readonly holder: {
    readonly pid: number;
    readonly url: string | null;
    readonly startedAt: string;
  };
  /** Whether the holder is on another machine or in another container, which cannot be stopped from here: the message says what to do. */
  readonly isRemote: boolean;
  constructor(message: string, holder: LockedError["holder"], isRemote = false) {
    super(message);
    this.holder = holder;
    this.isRemote = isRemote;
  }
}

/** The data cannot be read, is not `idp`'s, or is newer than this `idp`: it is left as it is. */
export class DataFileError extends Error {
  override readonly name = "DataFileError";
  /** The error code that commands print. */
  readonly code = "invalid";
  readonly file: string;
  readonly hint: string;
  constructor(message: string, file: string, hint: string) {
    super(message);
    this.file = file;
    this.hint = hint;
  }
}
