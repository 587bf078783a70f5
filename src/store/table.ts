/** One collection in memory: its records in the order of their insertion, and the indexes that `collections` names. */
import { collections, ConflictError, type CollectionName, type Collections } from "./store.ts";

export type AnyRecord = Collections[CollectionName];

/** A record as a table holds it. Never changed (but for `frozen`): a changed record is a new entry with the old `seq`. */
export interface TableEntry {
  readonly key: string;
  readonly record: AnyRecord;
  /** Its place in the order of insertion. */
  readonly seq: number;
  /** A new number for each change. */
  readonly version: number;
  /** Infinity for records that do not expire. */
  readonly expiresAt: number;
  /** The record is deeply frozen. What comes from the data file is frozen when it is first handed out, not on load. */
  frozen: boolean;
}

type ValueOf = (record: AnyRecord) => string | readonly string[];

/** `collections` without the record types: a table treats all of them alike. */
const definitions = collections as unknown as Readonly<
  Record<
    CollectionName,
    {
      key: string;
      volatile?: true;
      max?: number;
      share?: { readonly index: string; readonly max: number };
      unique?: Record<string, ValueOf>;
      index?: Record<string, ValueOf>;
    }
  >
>;

const isVolatile = (collection: CollectionName): boolean => definitions[collection].volatile === true;

export const allCollections = Object.keys(collections) as readonly CollectionName[];

/** The collections that are on disk, in the order of the data file. */
export const durableCollections = allCollections.filter((name) => !isVolatile(name));

export function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  // Also descends into frozen objects: the caller may have frozen only the outer one.
  if (Array.isArray(value)) for (const inner of value) deepFreeze(inner);
  else for (const name in value) deepFreeze((value as Record<string, unknown>)[name]);
}

export type Table = ReturnType<typeof createTable>;

export const createTables = (): Record<CollectionName, Table> =>
  Object.fromEntries(allCollections.map((name) => [name, createTable(name)])) as Record<CollectionName, Table>;

function createTable(collection: CollectionName) {
  const { key: keyField, unique = {}, index = {}, share } = definitions[collection];
  const uniques = Object.entries(unique).map(([name, valueOf]) => ({
    name,
    // In a unique index a record has a single value.
    valueOf: valueOf as (record: AnyRecord) => string,
    keys: new Map<string, string>(),
  }));
  // Maps a value to one key, or to a set of keys if several records have it: most values belong to one record.
  const indexes = Object.entries(index).map(([name, valueOf]) => ({
    name,
    valueOf,
    keys: new Map<string, string | Set<string>>(),
  }));
  const lookups = [...uniques, ...indexes];
  let records = new Map<string, TableEntry>();
  let nextSeq = 1;
  let lastSeq = 0;
  let ordered = true;
  let expiring = 0;

  /** Checks a record of a data file, which may lack the fields of an index. @throws {TypeError} */
  function checkLookups(record: AnyRecord): void {
    for (const { name, valueOf } of lookups) {
      let value: unknown;
      try {
        value = valueOf(record);
      } catch {
        // Reported below.
      }
      const isUsable =
        typeof value === "string" || (Array.isArray(value) && value.every((item) => typeof item === "string"));
      if (!isUsable) throw new TypeError(`a record of ${collection} has no usable ${name}`);
    }
  }

  /** An entry for a new record. @throws {TypeError} where the record has no key or no value for an index */
  function entryOf(record: AnyRecord): TableEntry {
    const key = (record as unknown as Readonly<Record<string, unknown>>)[keyField];
    if (typeof key !== "string" || key === "") throw new TypeError(`a record of ${collection} has no ${keyField}`);
    const { expiresAt } = record as { readonly expiresAt?: unknown };
    checkLookups(record);
    const version = nextSeq++;
    return {
      key,
      record,
      seq: version,
      version,
      expiresAt: typeof expiresAt === "number" ? expiresAt : Infinity,
      frozen: false,
    };
  }

  /** Whether two entries have the same index values: most changes leave those unchanged. */
  const areLinkedAlike = (a: TableEntry, b: TableEntry): boolean =>
    (a.expiresAt === Infinity) === (b.expiresAt === Infinity) &&
    uniques.every(({ valueOf }) => valueOf(a.record) === valueOf(b.record)) &&
    indexes.every(({ valueOf }) => valueOf(a.record) === valueOf(b.record));

  function unlink(entry: TableEntry): void {
    for (const { valueOf, keys } of uniques) keys.delete(valueOf(entry.record));
    for (const { valueOf, keys } of indexes) {
      const values = valueOf(entry.record);
      for (const value of typeof values === "string" ? [values] : values) {
        const held = keys.get(value);
        if (typeof held === "string" || held?.size === 1) keys.delete(value);
        else held?.delete(entry.key);
      }
    }
    if (entry.expiresAt !== Infinity) expiring -= 1;
  }

  function link(entry: TableEntry): void {
    for (const { valueOf, keys } of uniques) keys.set(valueOf(entry.record), entry.key);
    linkIndexes(entry);
  }

  function linkIndexes(entry: TableEntry): void {
    for (const { valueOf, keys } of indexes) {
      const values = valueOf(entry.record);
      for (const value of typeof values === "string" ? [values] : values) {
        const held = keys.get(value);
        if (held === undefined) keys.set(value, entry.key);
        else if (typeof held === "string") keys.set(value, new Set([held, entry.key]));
        else held.add(entry.key);
      }
    }
    if (entry.expiresAt !== Infinity) expiring += 1;
  }

  /**
   * Adds a record of a data file. Conflicts are detected only while adding it, so the table is unusable after an error.
   * @throws {ConflictError} @throws {TypeError}
   */
  function load(record: AnyRecord): void {
    const entry = entryOf(record);
    lastSeq = entry.seq;
    const { size } = records;
    if (records.set(entry.key, entry).size === size) throw new ConflictError(collection, keyField, entry.key);
    for (const { name, valueOf, keys } of uniques) {
      const value = valueOf(entry.record);
      if (keys.set(value, entry.key).size === size) throw new ConflictError(collection, name, value);
    }
    linkIndexes(entry);
  }

  /**
   * Makes `next` the entry of the key (undefined: removes it), in every index, and returns the previous one: setting
   * that again undoes the change. The caller must have checked that no other record has a unique value of `next`.
   */
  function set(key: string, next: TableEntry | undefined): TableEntry | undefined {
    const before = records.get(key);
    const linked = before !== undefined && next !== undefined && areLinkedAlike(before, next);
    if (before !== undefined && !linked) unlink(before);
    if (next === undefined) {
      records.delete(key);
      return before;
    }
    if (!linked) link(next);
    if (before?.seq !== next.seq) {
      // Undoing a removal puts an old entry back at the end. The order is restored when it is next read.
      if (before !== undefined) records.delete(key);
      if (next.seq < lastSeq) ordered = false;
      else lastSeq = next.seq;
    }
    records.set(key, next);
    return before;
  }

  /** The other entry that has one of this entry's unique values. */
  function rival(
    entry: TableEntry,
  ): { readonly index: string; readonly value: string; readonly entry: TableEntry } | undefined {
    for (const { name, valueOf, keys } of uniques) {
      const value = valueOf(entry.record);
      const key = keys.get(value);
      const holder = key === undefined || key === entry.key ? undefined : records.get(key);
      if (holder !== undefined) return { index: name, value, entry: holder };
    }
    return undefined;
  }

  function find(name: string, value: string): TableEntry | undefined {
    const key = uniques.find((candidate) => candidate.name === name)?.keys.get(value);
    return key === undefined ? undefined : records.get(key);
  }

  /** The entries with this value, in no particular order. */
  function* each(name: string, value: string): Generator<TableEntry, undefined> {
    const unique = find(name, value);
    if (unique !== undefined) yield unique;
    const held = indexes.find((candidate) => candidate.name === name)?.keys.get(value) ?? [];
    for (const key of typeof held === "string" ? [held] : held) {
      const entry = records.get(key);
      if (entry !== undefined) yield entry;
    }
  }

  const shares = (): Map<string, string | Set<string>> => {
    const found = indexes.find(({ name }) => name === share?.index);
    return found?.keys ?? new Map<string, string | Set<string>>();
  };
  const sizeOf = (held: string | Set<string> | undefined): number =>
    held === undefined ? 0 : typeof held === "string" ? 1 : held.size;

  /** The entries of the share of this one, the oldest first, if they are more than may be; none otherwise. */
  function beyondShare(entry: TableEntry): readonly TableEntry[] {
    if (share === undefined) return [];
    const [value] = [indexes.find(({ name }) => name === share.index)?.valueOf(entry.record) ?? []].flat();
    return value !== undefined && sizeOf(shares().get(value)) > share.max ? findAll(share.index, value) : [];
  }

  /** The entries of whoever has most, the oldest first; all, where nobody has a share. */
  function ofLargestShare(): Iterable<TableEntry> {
    let [largest, size] = ["", 0];
    for (const [value, held] of shares()) if (sizeOf(held) > size) [largest, size] = [value, sizeOf(held)];
    return share === undefined || size === 0 ? entries() : findAll(share.index, largest);
  }

  function findAll(name: string, value: string): TableEntry[] {
    const found: TableEntry[] = [];
    let inOrder = true;
    for (const entry of each(name, value)) {
      if (entry.seq < (found.at(-1)?.seq ?? 0)) inOrder = false;
      found.push(entry);
    }
    return inOrder ? found : found.sort((a, b) => a.seq - b.seq);
  }

  /** All entries in the order of their insertion. Live: what is set meanwhile may be seen. With an index: those with this value. */
  function entries(index?: string, value = ""): IterableIterator<TableEntry> {
    if (index !== undefined) return findAll(index, value).values();
    if (!ordered) {
      records = new Map([...records].sort(([, a], [, b]) => a.seq - b.seq));
      ordered = true;
    }
    return records.values();
  }

  return {
    collection,
    keyField,
    volatile: isVolatile(collection),
    max: definitions[collection].max ?? Infinity,
    maxShare: share?.max ?? Infinity,
    beyondShare,
    ofLargestShare,
    entryOf,
    load,
    set,
    rival,
    find,
    findAll,
    each,
    entries,
    get: (key: string) => records.get(key),
    /** How many entries there are, expired ones included. */
    size: () => records.size,
    /** How many of them can expire. */
    expiring: () => expiring,
    /** The highest `seq` so far. */
    lastSeq: () => nextSeq - 1,
  };
}
