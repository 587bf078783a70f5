import type { ReadTx, Tx } from "../../store/store.ts";

/**
 * The era of the issuer now: a counter that never falls. Each token carries the era in which it was issued, so that all
 * that was issued up to a moment can be ended by one number, exactly, even within one second.
 */
export function currentEra(tx: ReadTx): number {
  const era = tx.get("meta", "era")?.value;
  return typeof era === "number" ? era : 1;
}

/** Begins the next era. @returns the one that ends with it */
function endEra(tx: Tx): number {
  const era = currentEra(tx);
  tx.put("meta", { id: "era", value: era + 1 });
  return era;
}

/** A past that stays over although the clock was set back: tokens of this era or an earlier one that expired by `end` stay expired. */
export interface Past {
  readonly era: number;
  /** Milliseconds since 1970. */
  readonly end: number;
}

/** A past with a later era always has an earlier end; the others add nothing. */
const pasts = (tx: ReadTx): readonly Past[] => (tx.get("meta", "pasts")?.value ?? []) as readonly Past[];

/**
 * Call it before the clock is set back. Records about expired tokens are removed after some time, so without this the tokens would become
 * valid again.
 * @param end milliseconds since 1970, up to which records may be forgotten by now
 */
export function endPast(tx: Tx, end: number): void {
  const era = endEra(tx);
  tx.put("meta", { id: "pasts", value: [...pasts(tx).filter((past) => past.end > end), { era, end }] });
}

/** Whether a token expired in a past that is over. */
export function isPast(tx: ReadTx, { era, exp }: { readonly era: number; readonly exp: number }): boolean {
  if (era === currentEra(tx)) return false;
  return pasts(tx).some((past) => era <= past.era && exp * 1000 <= past.end);
}

/** Where identifiers are remembered: those of proofs live for minutes. */
type Used = "usedAssertions" | "usedProofs";

/**
 * Uses something that counts only once. @param expiresAt milliseconds: until then it would be accepted, so it is remembered as long
 * @returns why it does not count: it was used, or it may have been in a past that is over; null: it counts
 */
export function useOnce(tx: Tx, name: Used, id: string, expiresAt: number): "used" | "maybe used" | null {
  if (expiresAt <= (pasts(tx)[0]?.end ?? -Infinity)) return "maybe used";
  if (tx.get(name, id) !== undefined) return "used";
  tx.insert(name, { id, expiresAt });
  return null;
}

/** Whose tokens: of a user, of a client, of both; null: of any. */
export interface Owner {
  readonly userId: string | null;
  readonly clientId: string | null;
}

type TokenKind = "access" | "refresh";

const idOf = (userId: string | null, clientId: string | null): string => JSON.stringify([userId, clientId]);

/** Lets all tokens of these kinds expire that were issued so far. @param at milliseconds since 1970 */
export function endTokens(tx: Tx, kinds: readonly TokenKind[], { userId, clientId }: Owner, at: number): void {
  const era = endEra(tx);
  const id = idOf(userId, clientId);
  const ends = Object.fromEntries(kinds.map((kind) => [kind, { era, at }]));
  tx.put("expirations", { ...tx.get("expirations", id), id, ...ends });
}

/** Since when a token has expired by {@link endTokens}; null: it has not. */
export function endOfToken(
  tx: ReadTx,
  kind: TokenKind,
  { userId, clientId, era }: Owner & { readonly era: number },
): number | null {
  if (era === currentEra(tx)) return null;
  for (const user of new Set([userId, null])) {
    for (const client of [clientId, null]) {
      const end = tx.get("expirations", idOf(user, client))?.[kind];
      if (end !== undefined && era <= end.era) return end.at;
    }
  }
  return null;
}

/** Eras whose tokens are dead: the first and the last one of each range. */
export type DeadEras = readonly (readonly [first: number, last: number])[];

const deadEras = (tx: ReadTx): DeadEras => (tx.get("meta", "deadEras")?.value ?? []) as DeadEras;

/** Whether a token was issued after a snapshot, and before that was restored. */
export const isOfDeadEra = (tx: ReadTx, { era }: { readonly era: number }): boolean =>
  era !== currentEra(tx) && deadEras(tx).some(([first, last]) => era >= first && era <= last);

/** What a snapshot knows of the eras. */
export interface ErasThen {
  readonly era: number;
  readonly dead: DeadEras;
}

/** Ends the era with a snapshot. */
export const saveEras = (tx: Tx): ErasThen => ({ era: endEra(tx), dead: deadEras(tx) });

/** Goes back to a snapshot: the eras since then are dead, and those that were dead then. */
export function restoreEras(tx: Tx, { era, dead }: ErasThen): void {
  tx.put("meta", { id: "deadEras", value: [...dead, [era + 1, endEra(tx)]] });
}
