/**
 * Records in memory with transactions: all of the memory store, and the core of the JSON store, which also makes changes durable before
 * anybody sees them.
 */
import { maxContention, type Durability, outcomeOf, resultOf, type WorkOutcome } from "./durability.ts";
import { capture, replay, reset, type Operation, type Records } from "./journal.ts";
import {
  ConflictError,
  StorageError,
  type CollectionName,
  type Collections,
  type ReadTx,
  type Store,
  type StoreClock,
  type Tx,
} from "./store.ts";
import { addChange, type ChangedKeys } from "./changed.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createSweep } from "./sweep.ts";
import {
  allCollections,
  createTables,
  deepFreeze,
  durableCollections,
  type AnyRecord,
  type TableEntry,
  type Table,
} from "./table.ts";

interface Change {
  readonly table: Table;
  readonly key: string;
  readonly before: TableEntry | undefined;
}

export interface Engine extends Pick<Store, "transaction" | "read" | "follow">, Pick<Feed, "prepare"> {
  /** Adds a record of a data file. @throws {ConflictError} @throws {TypeError} */
  load(collection: CollectionName, record: AnyRecord): void;
  /** Applies an operation of a journal: the last one wins. @throws {TypeError} */
  replay(operation: Operation): void;
  /** Replaces all records by these. @throws {ConflictError} @throws {TypeError} */
  reset(records: Records): void;
  /** The records of all collections of the journal as they are now, in their order, without those that may be removed. */
  capture(): Records;
}

/** @param options `durability`: absent for a store in memory only */
export function createEngine({
  now,
  passed = now,
  durability,
}: StoreClock & { readonly durability?: Durability | undefined }): Engine {
  const tables = createTables();
  const catchUp = durability?.catchUp;
  const isShared = catchUp !== undefined;
  const sweep = createSweep(Object.values(tables));

  // State of the current work. It sees one fixed time, so that no record expires in the middle of it.
  let running = false;
  let at = 0;
  let changes: Change[] | null = null;
  let operations: Operation[] = [];

  const tableOf = (collection: CollectionName): Table => {
    if (!running)
      throw new Error(
        "tx was used outside of its transaction: work must be done when it returns, without an await inside",
      );
    return tables[collection];
  };

  const alive = (entry: TableEntry): boolean => entry.expiresAt > at;
  /** Records that expire later are only hidden, because the clock may be set back. */
  const removable = (): number => Math.min(at, passed());

  function handOut<C extends CollectionName>(_: C, entry: TableEntry): Collections[C] {
    if (!entry.frozen) {
      deepFreeze(entry.record);
      entry.frozen = true;
    }
    return entry.record as Collections[C];
  }

  const shown = <C extends CollectionName>(collection: C, entry: TableEntry | undefined): Collections[C] | undefined =>
    entry !== undefined && alive(entry) ? handOut(collection, entry) : undefined;

  function change(table: Table, key: string, next: TableEntry | undefined): void {
    if (changes === null) throw new Error("a read cannot change records: use transaction");
    changes.push({ table, key, before: table.set(key, next) });
    if (durability === undefined || (table.volatile && !isShared)) return;
    const { collection } = table;
    operations.push(next === undefined ? { remove: collection, key } : { put: collection, record: next.record });
  }

  function write(collection: CollectionName, record: AnyRecord, replace: boolean): void {
    const table = tableOf(collection);
    const fresh = table.entryOf(record);
    const { key } = fresh;
    // An expired record is absent: what takes its place is an insertion.
    let current = table.get(key);
    if (current !== undefined && !alive(current)) {
      change(table, key, undefined);
      current = undefined;
    }
    if (current !== undefined && !replace) throw new ConflictError(collection, table.keyField, key);
    for (let rival = table.rival(fresh); rival !== undefined; rival = table.rival(fresh)) {
      if (alive(rival.entry)) throw new ConflictError(collection, rival.index, rival.value);
      change(table, rival.entry.key, undefined);
    }
    deepFreeze(record);
    change(table, key, { ...fresh, seq: current?.seq ?? fresh.seq, frozen: true });
    pushOut(table, table.beyondShare(fresh), table.maxShare);
    if (table.size() > table.max) pushOut(table, table.ofLargestShare(), table.max);
  }

  /** Removes several at once: finding the first entry of a Map gets slower with each entry that was deleted before it. */
  function pushOut(table: Table, oldest: Iterable<TableEntry>, max: number): void {
    let left = Math.ceil(max / 100);
    for (const { key } of oldest) {
      change(table, key, undefined);
      left -= 1;
      if (left === 0) return;
    }
  }

  function* all<C extends CollectionName>(collection: C): Generator<Collections[C], undefined> {
    const table = tableOf(collection);
    const last = table.lastSeq();
    for (const entry of table.entries()) {
      tableOf(collection); // still inside
      // Skips records that the caller's loop inserts: the loop might never end.
      if (entry.seq > last) return;
      if (alive(entry)) yield handOut(collection, entry);
    }
  }

  const tx: Tx = {
    get: (collection, key) => shown(collection, tableOf(collection).get(key)),
    version(collection, key) {
      const entry = tableOf(collection).get(key);
      return entry !== undefined && alive(entry) ? entry.version : undefined;
    },
    find: (collection, index, value) => shown(collection, tableOf(collection).find(index, value)),
    findAll: (collection, index, value) =>
      Array.from(tableOf(collection).findAll(index, value).filter(alive), (entry) => handOut(collection, entry)),
    has(collection, index, value) {
      for (const entry of tableOf(collection).each(index, value)) if (alive(entry)) return true;
      return false;
    },
    all,
    everything: (collection, index, value) =>
      Array.from(tableOf(collection).entries(index, value), (entry) => handOut(collection, entry)),
    count(collection) {
      const table = tableOf(collection);
      return table.expiring() === 0 ? table.size() : [...table.entries()].filter(alive).length;
    },
    insert: (collection, record) => write(collection, record, false),
    put: (collection, record) => write(collection, record, true),
    remove(collection, key) {
      const table = tableOf(collection);
      const entry = table.get(key);
      if (entry === undefined) return undefined;
      change(table, key, undefined);
      return shown(collection, entry);
    },
    clear(collection) {
      const table = tableOf(collection);
      for (const { key } of [...table.entries()]) change(table, key, undefined);
    },
  };

  function refuseNested(): void {
    if (running) throw new Error("a transaction or read was begun inside another: use the tx that is there");
  }

  /** @param done receives the changes; null: the work only reads */
  function attempt<T>(work: () => T, done: Change[] | null = null): WorkOutcome<T> {
    refuseNested();
    running = true;
    at = now();
    changes = done;
    const outcome = outcomeOf(work);
    changes = null;
    running = false;
    return outcome;
  }

  const feed = createFeed((work) => resultOf(attempt(() => work(tx))));

  const undo = (done: readonly Change[]): void => {
    for (const { table, key, before } of done.toReversed()) table.set(key, before);
  };

  async function transaction<T>(work: (tx: Tx) => T): Promise<T> {
    // A transaction that writes nothing must first catch up with the journal. One that writes is checked by the journal itself.
    let isCurrent = !isShared;
    let giveUpAt = Infinity;
    while (performance.now() < giveUpAt) {
      const done: Change[] = [];
      operations = [];
      const outcome = attempt(() => work(tx), done);
      if ("error" in outcome) undo(done.splice(0));
      const until = removable();
      const changed: ChangedKeys = new Map();
      for (const { table, key } of done) addChange(changed, table.collection, key);
      const written = "error" in outcome ? [] : operations;
      if (written.length === 0 && !isCurrent) {
        await catchUp?.();
        isCurrent = true;
        continue;
      }
      // Errors wait too: "name is taken" would be wrong if the write of the user who has it then fails.
      const mustWait = durability !== undefined && (written.length > 0 || durability.pending() !== undefined);
      if (!mustWait) feed.prepare(changed)();
      if (!mustWait || (await durability.commit(written, changed, () => undo(done)))) {
        // Not before: memory that was behind may have been wrong about the time.
        sweep(done.length, until);
        return resultOf(outcome);
      }
      isCurrent = true;
      giveUpAt = Math.min(giveUpAt, performance.now() + maxContention);
    }
    throw new StorageError(`other writers were faster for ${maxContention / 1000} s: nothing was changed`);
  }

  async function read<T>(work: (tx: ReadTx) => T): Promise<T> {
    refuseNested();
    if (isShared) await catchUp();
    for (;;) {
      const outcome = attempt(() => work(tx));
      const written = durability?.pending();
      if (written === undefined || (await written)) return resultOf(outcome);
    }
  }

  return {
    transaction,
    read,
    ...feed,
    load: (collection, record) => tables[collection].load(record),
    replay: (operation) => replay(tables, operation),
    reset: (records) => reset(tables, records),
    capture() {
      at = now();
      // Memory may be behind, and the clock of the others may have been set back.
      return isShared ? capture(tables, allCollections, -Infinity) : capture(tables, durableCollections, removable());
    },
  };
}
