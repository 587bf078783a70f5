import { collections, type Changed, type CollectionName } from "./store.ts";
import type { Operation } from "./journal.ts";

/** Which records were put or removed, for the listeners of a store. */

export type ChangedKeys = Map<CollectionName, Set<string>>;

export function addChange(changed: ChangedKeys, collection: CollectionName, key: string): void {
  const keys = changed.get(collection);
  if (keys === undefined) changed.set(collection, new Set([key]));
  else keys.add(key);
}

/** What the operations of a journal changed. */
export function changedIn(operations: readonly Operation[]): Changed {
  const changed: ChangedKeys = new Map();
  for (const operation of operations) {
    if ("remove" in operation) {
      addChange(changed, operation.remove, operation.key);
      continue;
    }
    const { put, record } = operation;
    addChange(changed, put, String((record as unknown as Readonly<Record<string, unknown>>)[collections[put].key]));
  }
  return changed;
}
