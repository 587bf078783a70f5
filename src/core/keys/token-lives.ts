import type { ReadTx, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";

/** How long the tokens that are out live at most: so long their keys and their state are kept. */

/** The longest life (seconds) that a token may have had so far. */
function maxLife(tx: ReadTx, { settings }: Context): number {
  const noted = tx.get("meta", "longestLife")?.value;
  return Math.max(settings.refresh_token_ttl, settings.access_token_ttl, typeof noted === "number" ? noted : 0);
}

/** Milliseconds: the latest end of a token is noted exact to a day, so that few requests write it. */
const grain = 86_400_000;

/** The latest end (milliseconds) that a token may have had so far, less a day at most. */
function latestEnd(tx: ReadTx): number {
  const noted = tx.get("meta", "latestEnd")?.value;
  return typeof noted === "number" ? noted : 0;
}

/**
 * Call it where tokens are issued. It stores the longest lifetime so far, because the settings may become shorter while tokens are in use,
 * and the latest end, because the clock may be set back: the state of those tokens, and the keys that signed them, must be kept until all
 * have expired.
 */
export function noteLife(tx: Tx, ctx: Context): void {
  const value = maxLife(tx, ctx);
  if (tx.get("meta", "longestLife")?.value !== value) tx.put("meta", { id: "longestLife", value });
  const end = ctx.now() + value * 1000;
  if (end >= latestEnd(tx) + grain) tx.put("meta", { id: "latestEnd", value: end });
}

/** Until when (milliseconds) the keys that signed the tokens that are out now matter. */
export const tokensEnd = (tx: ReadTx, ctx: Context): number =>
  Math.max(ctx.now() + maxLife(tx, ctx) * 1000, latestEnd(tx));

/** Until when the state of those tokens must be kept, at most: without it they would be valid again. */
export const stateEnd = (tx: ReadTx, ctx: Context): number => tokensEnd(tx, ctx) + grain;
