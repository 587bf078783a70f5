import type { Grant, Tx } from "../store/store.ts";
import type { Context } from "./context.ts";

/**
 * When an app last used its access, for the account page. No request pays for it with a write to disk: the grant is written where an hour
 * has passed since it last was, and the exact moment is kept in memory.
 */

/** Milliseconds: the record is as exact as this. */
const grain = 3_600_000;

/** Milliseconds since 1970, by the record as it is now: a changed grant is another one. */
const lastUse = new WeakMap<Grant, number>();

/** The app used its access, in a request that writes nothing. */
export function noteUse(ctx: Pick<Context, "now">, grant: Grant): void {
  lastUse.set(grant, ctx.now());
}

/** The app was given a token. A consent that was just given counts as a use and was written with the grant: a first token costs nothing. */
export function recordUse(tx: Tx, ctx: Pick<Context, "now">, grant: Grant): void {
  noteUse(ctx, grant);
  const { lastUsedAt } = grant;
  if (lastUsedAt !== undefined && ctx.now() - Date.parse(lastUsedAt) < grain) return;
  const used: Grant = { ...grant, lastUsedAt: new Date(ctx.now()).toISOString() };
  tx.put("grants", used);
  noteUse(ctx, used);
}

/** What a record that takes this one's place says of it: it is written anyway, so to the moment. */
export function useOf(grant: Grant): Pick<Grant, "lastUsedAt"> {
  const at = lastUsed(grant);
  return at === null ? {} : { lastUsedAt: at };
}

/** @returns ISO 8601; null where the app never came for a token */
export function lastUsed(grant: Grant): string | null {
  const noted = lastUse.get(grant);
  return noted === undefined ? (grant.lastUsedAt ?? null) : new Date(noted).toISOString();
}
