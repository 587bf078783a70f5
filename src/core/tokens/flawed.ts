import type { DeadToken, ReadTx, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { tenYears } from "../time.ts";

/**
 * ID tokens with a flaw on purpose, by `jti`. An ID token is accepted as a hint long after it expired, so they are kept for the longest
 * lifetime that can be set.
 */

const prefix = "id_token ";

export function rememberFlawed(tx: Tx, ctx: Pick<Context, "now">, jti: unknown, reason: string): void {
  const expiresAt = ctx.now() + tenYears * 1000;
  tx.put("deadTokens", { jti: prefix + String(jti), reason, at: ctx.now(), expiresAt });
}

/** The records of all of them: they outlive a reset and a restore, because nothing else makes an ID token invalid. */
export const flawedIdTokens = (tx: ReadTx): readonly DeadToken[] =>
  tx.everything("deadTokens").filter(({ jti }) => jti.startsWith(prefix));

/** Why the ID token with this `jti` was made to be refused; undefined: it was not. */
export const flawOf = (tx: ReadTx, jti: unknown): DeadToken | undefined => tx.get("deadTokens", prefix + String(jti));
