/** Loads whole journals and snapshots into the tables, and captures the tables as a whole. */
import type { CollectionName } from "./collections.ts";
import type { Operation, Records } from "./journal.ts";
import { allCollections, type TableEntry, type Table } from "./table.ts";

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
