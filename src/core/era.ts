import type { ReadTx } from "../store/store.ts";

/**
 * The era of the issuer now: a counter that never falls. Each token carries the era in which it was issued, so that all
 * that was issued up to a moment can be ended by one number, exactly, even within one second. A token without one is
 * from before there were eras and counts as era 0. Nothing raises the era so far.
 */
export function currentEra(tx: ReadTx): number {
  const era = tx.get("meta", "era")?.value;
  return typeof era === "number" ? era : 1;
}
