import { createHmac } from "node:crypto";
import type { Context } from "../context.ts";
import { sameSecret } from "../secrets.ts";

/**
 * The nonces of DPoP proofs (RFC 9449 8, 9). One is made of the signing secret and the time, so nothing is stored, and every instance on the
 * same data accepts it.
 */

/** Milliseconds: each nonce is the current one for so long, and is accepted for as long again. */
const life = 300_000;

type Sources = Pick<Context, "keys" | "now" | "issuer">;

const nonceAt = ({ keys, issuer }: Sources, period: number): string =>
  createHmac("sha256", keys.secret.privateKey).update(`dpop nonce ${issuer} ${period}`).digest("base64url");

const periodOf = ({ now }: Sources): number => Math.floor(now() / life);

/** The nonce for the next proof; null where proofs need none. */
export const nextNonce = (ctx: Sources & Pick<Context, "settings">): string | null =>
  ctx.settings.dpop_nonce === "required" ? nonceAt(ctx, periodOf(ctx)) : null;

/** Whether a proof with this nonce may be accepted: it has the current nonce or the previous one, or needs none. */
export function isGoodNonce(ctx: Sources & Pick<Context, "settings">, given: unknown): boolean {
  if (ctx.settings.dpop_nonce !== "required") return true;
  const period = periodOf(ctx);
  return typeof given === "string" && [period, period - 1].some((one) => sameSecret(given, nonceAt(ctx, one)));
}
