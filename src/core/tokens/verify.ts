import { signatureProblem } from "./accept.ts";
import type { Context } from "../context.ts";
import { OperationError } from "../errors.ts";
import {
  checkClaims,
  decodeOrFail,
  moment,
  shown,
  verification,
  type Check,
  type Verification,
} from "./claim-checks.ts";
import { isDead, rotation, tokenState } from "./state.ts";
import { kindInWords, kindOfToken, type RefreshClaims, type TokenClaims } from "./claims.ts";

/** Verifies a token of this server with its own keys and its records of revocations. */

export interface VerifyInput {
  readonly token: string;
  /** The audience it must be for; absent: any. */
  readonly audience?: string | undefined;
  /** Seconds that clocks may be apart; absent: none. */
  readonly leeway?: number | undefined;
}

/**
 * Verifies a token of this server: signature, kind, issuer, times, audience if one is named, and revocation.
 * Every check is made, even after one has failed.
 * @throws {OperationError} usage
 */
export async function verifyToken(ctx: Context, input: VerifyInput): Promise<Verification> {
  const { audience = null, leeway = 0 } = input;
  if (leeway < 0) throw new OperationError("usage", `leeway must be a number of seconds, 0 or more, not ${leeway}`);
  const said = decodeOrFail(input.token, ctx.now());
  if ("checks" in said) return said;
  const { header, payload } = said;
  const problem = await signatureProblem(ctx, input.token);
  const { alg, kid, typ } = header;
  const kind = kindOfToken(said);
  const key = typeof kid === "string" ? `key ${kid} of this server` : "with its client's secret";
  const checks: Check[] = [
    { name: "signature", ok: problem === null, detail: problem ?? `${String(alg)}, ${key}` },
    {
      name: "typ",
      ok: kind !== undefined,
      detail: kind === undefined ? `${shown(typ)} is not a kind of token that this server issues` : kindInWords[kind],
    },
    ...checkClaims(payload, { issuer: ctx.issuer, audience, leeway, now: ctx.now() }),
  ];
  const notes: string[] = [];
  if (typeof payload["iss"] === "string" && payload["iss"] !== ctx.issuer) {
    notes.push("It names another issuer. To check it with the keys of that issuer, verify it with --issuer URL.");
  }
  if (kind === "id" || kind === "logout") {
    notes.push(`Revocation was not checked: ${kindInWords[kind]} carries no rights and cannot be revoked.`);
  } else if (problem === null && typeof payload["jti"] === "string" && typeof payload["client_id"] === "string") {
    checks.push(await checkState(ctx, payload));
  } else {
    notes.push("Revocation was not checked: the signature is wrong, so the claims prove nothing.");
  }
  return verification(checks, notes);
}

/** Whether a token that this server signed was revoked. */
async function checkState(ctx: Context, payload: Readonly<Record<string, unknown>>): Promise<Check> {
  const state = await ctx.store.read((tx) => {
    const found = tokenState(tx, payload as unknown as TokenClaims);
    if (isDead(found) || payload["generation"] === undefined) return found;
    return rotation(tx, ctx, payload as unknown as RefreshClaims) ?? found;
  });
  if (!isDead(state)) return { name: "state", ok: true, detail: "not revoked, and the user's account is in order" };
  const when = state.since === null ? "" : `, ${moment(state.since / 1000, ctx.now() / 1000)}`;
  return { name: "state", ok: false, detail: state.detail + when };
}
