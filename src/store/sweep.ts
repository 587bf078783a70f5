/** Removes records that have expired, a few with each change, so that they cannot pile up. */
import type { TableEntry, Table } from "./table.ts";

/** How many records are checked for each change: more than one, so that removal keeps up with insertion. */
const looksPerChange = 2;

/** Writes nothing to the journal: a record that is read from it again has expired anyway. */
function purge(table: Table, entry: TableEntry, until: number): void {
  if (entry.expiresAt <= until && table.get(entry.key) === entry) table.set(entry.key, undefined);
}

/** Cycles over all records that can expire; yields undefined after each round. */
function* candidates(tables: readonly Table[]): Generator<{ table: Table; entry: TableEntry } | undefined, never> {
  for (;;) {
    for (const table of tables) {
      if (table.expiring() > 0) for (const entry of table.entries()) yield { table, entry };
    }
    yield undefined;
  }
}

/**
 * @returns a function to call after each transaction with the number of its changes, and the time up to which an expired record may be
 *   removed; it continues where it stopped
 */
export function createSweep(tables: readonly Table[]): (changes: number, until: number) => void {
  const cursor = candidates(tables);
  return (changes, until) => {
    for (let i = 0; i < changes * looksPerChange; i++) {
      const { value } = cursor.next();
      if (value === undefined) return;
      purge(value.table, value.entry, until);
    }
  };
}
