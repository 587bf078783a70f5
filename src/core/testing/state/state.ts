/*
 * core/testing/state: all records as one document, which snapshots, exports (core/admin/transfer) and `reset` take and give back.
 */
import { collections, type CollectionName, type Collections, type ReadTx, type Tx } from "../../../store/store.ts";
import { flawedIdTokens } from "../../protocol/tokens/state.ts";

type StateCollection = Exclude<
  { [C in CollectionName]: (typeof collections)[C] extends { readonly volatile: true } ? never : C }[CollectionName],
  "snapshots" | "fixtures"
>;

const everyCollection = Object.keys(collections) as CollectionName[];
const isState = (name: CollectionName): name is StateCollection =>
  !("volatile" in collections[name]) && name !== "snapshots" && name !== "fixtures";

/**
 * The content of an export: the data that outlives the process, without snapshots and the fixtures in use. It has no codes, and no pages
 * that wait for somebody.
 */
export const stateCollections: readonly StateCollection[] = everyCollection.filter(isState);

export type StateRecords = { readonly [C in StateCollection]: readonly Collections[C][] };

/** Whether a start, a seed or an import has added records. */
export const isUsed = (tx: ReadTx): boolean =>
  tx.get("meta", "issuer") !== undefined || tx.count("users") + tx.count("clients") + tx.count("appliedFixtures") > 0;

/** An export. */
export interface StateDocument extends StateRecords {
  readonly format: typeof stateFormat;
  readonly schemaVersion: typeof stateVersion;
}

/** The forms of an export. */
export const exportForms = ["state", "fixtures"] as const;

export const stateFormat = "idp-state";
/** Raised when records change in a way that an older `idp` would misread. */
export const stateVersion = 1;

/**
 * Identifiers that may be used only once stay used, whatever else is removed or replaced. Otherwise an assertion or a proof could be sent
 * again (RFC 7523 3, RFC 9449 11.1).
 */
const onceOnly: readonly CollectionName[] = ["usedAssertions", "usedProofs"];

/** Collections that are not part of the state. */
const beside: readonly CollectionName[] = [
  ...(["snapshots", "fixtures", "testing", "acts", "inspectorKeys", "inspectorSessions"] as const),
];

/**
 * Removes every record except those in `kept`, snapshots, the fixtures in use, used identifiers, flawed ID tokens, and what belongs to the
 * tester.
 */
export function removeAllBut(tx: Tx, kept: readonly CollectionName[]): void {
  const flawed = flawedIdTokens(tx);
  for (const name of everyCollection) {
    if (kept.includes(name) || beside.includes(name) || onceOnly.includes(name)) continue;
    tx.clear(name);
  }
  for (const record of flawed) tx.put("deadTokens", record);
}
