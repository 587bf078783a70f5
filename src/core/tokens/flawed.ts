import type { DeadToken, ReadTx, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { hashOf } from "../secrets.ts";
import { tenYears } from "../time.ts";

/**
 * ID tokens with a flaw on purpose. They have no `jti`, and some flaws can be noticed only by clients, so a hash of each is kept. An ID
 * token is accepted as a hint long after it expired, so they are kept for the longest lifetime that can be set.
 */

const prefix = "id_token ";
const keyOf = (idToken: string): string => prefix + hashOf(idToken);

export function rememberFlawed(tx: Tx, ctx: Pick<Context, "now">, idToken: string, reason: string): void {
  tx.put("deadTokens", { jti: keyOf(idToken), reason, at: ctx.now(), expiresAt: ctx.now() + tenYears * 1000 });
}

/** The records of all of them: they outlive a reset, a restore and an import, because nothing else makes an ID token invalid. */
export const flawedIdTokens = (tx: ReadTx): readonly DeadToken[] =>
  tx.everything("deadTokens").filter(({ jti }) => jti.startsWith(prefix));

/** Why this ID token was made to be refused; undefined: it was not. */
export const flawOf = (tx: ReadTx, idToken: string): string | undefined => tx.get("deadTokens", keyOf(idToken))?.reason;
