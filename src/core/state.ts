import { collections, type CollectionName, type Collections, type Tx } from "../store/store.ts";

/** What of the data outlives the process: the content of an export. Codes and pages that wait for somebody are no part of it. */
export const stateCollections = [
  "users",
  "clients",
  "scopes",
  "grants",
  "families",
  "deadTokens",
  "sessions",
  "keys",
  "appliedFixtures",
  "meta",
  "usedAssertions",
] as const satisfies readonly CollectionName[];

type StateCollection = (typeof stateCollections)[number];

export type StateRecords = { readonly [C in StateCollection]: readonly Collections[C][] };

/** An export. */
export interface StateDocument extends StateRecords {
  readonly format: typeof stateFormat;
  readonly schemaVersion: typeof stateVersion;
}

export const stateFormat = "idp-state";
/** Raised when records change in a way that an older `idp` would misread. */
export const stateVersion = 1;

/** Removes every record of a collection. */
export function removeAll(tx: Tx, collection: CollectionName): void {
  const { key } = collections[collection];
  for (const record of [...tx.all(collection)]) tx.remove(collection, String(Reflect.get(record, key)));
}
