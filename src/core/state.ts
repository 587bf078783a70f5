import { collections, type CollectionName, type Collections, type Tx } from "../store/store.ts";

type StateCollection = {
  [C in CollectionName]: (typeof collections)[C] extends { readonly volatile: true } ? never : C;
}[CollectionName];

const everyCollection = Object.keys(collections) as CollectionName[];
const isState = (name: CollectionName): name is StateCollection => !("volatile" in collections[name]);

/** What of the data outlives the process: the content of an export. Codes and pages that wait for somebody are no part of it. */
export const stateCollections: readonly StateCollection[] = everyCollection.filter(isState);

export type StateRecords = { readonly [C in StateCollection]: readonly Collections[C][] };

/** An export. */
export interface StateDocument extends StateRecords {
  readonly format: typeof stateFormat;
  readonly schemaVersion: typeof stateVersion;
}

export const stateFormat = "idp-state";
/** Raised when records change in a way that an older `idp` would misread. */
export const stateVersion = 1;

/** Identifiers that may be used once stay used, whatever else is forgotten or replaced: else an assertion or a proof could be sent a
 * second time (RFC 7523 3, RFC 9449 11.1). */
const onceOnly: readonly CollectionName[] = ["usedAssertions", "usedProofs"];

/** Removes every record that is neither in `kept` nor an identifier that was used up. */
export function removeAllBut(tx: Tx, kept: readonly CollectionName[]): void {
  for (const name of everyCollection) {
    if (kept.includes(name) || onceOnly.includes(name)) continue;
    const { key } = collections[name];
    for (const record of [...tx.all(name)]) tx.remove(name, String(Reflect.get(record, key)));
  }
}
