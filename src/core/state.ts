import { collections, type CollectionName, type Tx } from "../store/store.ts";

/** Removes every record of a collection. */
export function removeAll(tx: Tx, collection: CollectionName): void {
  const { key } = collections[collection];
  for (const record of [...tx.all(collection)]) tx.remove(collection, String(Reflect.get(record, key)));
}
