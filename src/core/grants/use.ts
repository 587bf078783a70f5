import type { Grant, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";

/** Milliseconds: `lastUsedAt`, which the account page shows, is exact to an hour, so that few token requests write the grant. */
const grain = 3_600_000;

/** The app received a token. A new consent has just written the time, so the first token writes nothing. */
export function recordUse(tx: Tx, ctx: Pick<Context, "now">, grant: Grant): void {
  const { lastUsedAt } = grant;
  if (lastUsedAt !== undefined && ctx.now() - Date.parse(lastUsedAt) < grain) return;
  tx.put("grants", { ...grant, lastUsedAt: new Date(ctx.now()).toISOString() });
}
