import type { JsonObject } from "../../../../text/json.ts";
import { signatureProblem } from "../accept.ts";
import type { Context } from "../../../context.ts";
import { checkClaims, criticalProblem, moment, shown, type Check, type Expected } from "../../../../jwt/checks.ts";
import type { Keys } from "../../../../jwt/signature.ts";
import { decodeOrFail, verification, type Verification } from "./claim-checks.ts";
import { isDead, rotatedReason, tokenState, flawOf } from "../state.ts";
import {
  kindInWords,
  kindOfToken,
  requiredClaims,
  type RefreshClaims,
  type TokenClaims,
  type TokenKind,
} from "../claims.ts";

/** Verifies a token of this server with its own keys and its records of revocations. */

interface VerifyInput {
  readonly token: string;
  /** The audience it must be for; absent: any. */
  readonly audience?: string | undefined;
  /** Seconds that clocks may be apart; absent: none. */
  readonly leeway?: number | undefined;
}

/**
 * Verifies a token of this server: signature, kind, issuer, times, audience if one is named, and revocation.
 * Every check is made, even after one has failed.
 */
export async function verifyToken(ctx: Context, input: VerifyInput): Promise<Verification> {
  const { audience = null, leeway = 0 } = input;
  const said = decodeOrFail(input.token, ctx.now());
  if ("checks" in said) return said;
  const { header, payload } = said;
  const problem = criticalProblem(header) ?? (await signatureProblem(ctx, input.token));
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
    ...(kind === undefined ? [] : [checkRequired(kind, payload)]),
  ];
  const notes: string[] = [];
  if (typeof payload["iss"] === "string" && payload["iss"] !== ctx.issuer) {
    notes.push("It names another issuer. To check it with the keys of that issuer, verify it with --issuer URL.");
  }
  if (kind === "id" || kind === "logout" || kind === "idJag") {
    if (kind === "id" && problem === null) checks.push(await checkIdToken(ctx, payload));
    if (kind === "idJag" && problem === null) checks.push(await checkIdJag(ctx, payload));
    notes.push(`Revocation was not checked: ${kindInWords[kind]} carries no rights and cannot be revoked.`);
  } else if (problem === null && typeof payload["jti"] === "string" && typeof payload["client_id"] === "string") {
    checks.push(await checkState(ctx, payload));
  } else {
    notes.push("Revocation was not checked: no signature of this server is on the token, so its claims prove nothing.");
  }
  return verification(checks, notes);
}

/** The claims without which this server accepts no token of the kind, and the form of `sub` (OpenID Connect Core 2). */
function checkRequired(kind: TokenKind, payload: JsonObject): Check {
  const name = "claims";
  const missing = requiredClaims[kind].filter((one) => !Object.hasOwn(payload, one));
  if (missing.length > 0) return { name, ok: false, detail: `${kindInWords[kind]} needs ${missing.join(", ")}` };
  const { sub } = payload;
  if (typeof sub !== "string" || !/^[\x20-\x7e]{1,255}$/.test(sub))
    return { name, ok: false, detail: "sub must be a string of 1 to 255 ASCII characters (OpenID Connect Core 2)" };
  return { name, ok: true, detail: `has ${requiredClaims[kind].join(", ")}` };
}

/** What this server knows of an ID token that it signed: a flaw on purpose, its user, and the clients it is for. */
async function checkIdToken(ctx: Context, payload: JsonObject): Promise<Check> {
  const { sub, azp, jti } = payload;
  const audience = [payload["aud"]].flat();
  const problem = await ctx.store.read((tx) => {
    const flaw = flawOf(tx, jti);
    if (flaw !== undefined) return flaw.reason;
    if (tx.get("users", String(sub)) === undefined) return "it belongs to a user who no longer exists";
    // OpenID Connect Core 2: `aud` contains the client; with several audiences, `azp` says which of them the client is.
    const client = azp ?? (audience.length === 1 ? audience[0] : undefined);
    if (client === undefined) return "it is for several audiences, and azp does not say which is the client";
    if (!audience.includes(client)) return `azp ${shown(client)} is not among its audiences`;
    if (typeof client === "string" && tx.get("clients", client) !== undefined) return null;
    return `it is for ${shown(client)}, which is not a registered client`;
  });
  return { name: "state", ok: problem === null, detail: problem ?? "its user and its client are known" };
}

/** Whether an ID-JAG that this server signed was made to be refused. */
async function checkIdJag(ctx: Context, { jti }: JsonObject): Promise<Check> {
  const flaw = await ctx.store.read((tx) => flawOf(tx, jti));
  return { name: "state", ok: flaw === undefined, detail: flaw?.reason ?? "as this server issues them" };
}

/** Whether a token that this server signed was revoked. */
async function checkState(ctx: Context, payload: JsonObject): Promise<Check> {
  const state = await ctx.store.read((tx) => {
    const found = tokenState(tx, payload as unknown as TokenClaims);
    if (isDead(found) || payload["generation"] === undefined) return found;
    return rotatedReason(tx, ctx, payload as unknown as RefreshClaims) ?? found;
  });
  if (!isDead(state)) return { name: "state", ok: true, detail: "not revoked, and the user's account is in order" };
  const when = state.since === null ? "" : `, ${moment(state.since / 1000, ctx.now() / 1000)}`;
  return { name: "state", ok: false, detail: state.detail + when };
}

const unknownState = "Revocation was not checked: only the issuer knows it. Use introspection.";

/** Verifies a token of any issuer with given keys: signature, issuer, audience and times. It fetches nothing and reads no store. */
export async function verifyForeignToken(token: string, keys: Keys, expected: Expected): Promise<Verification> {
  const said = decodeOrFail(token, expected.now);
  if ("checks" in said) return said;
  const { header, payload } = said;
  // Loaded only here: it brings jose, which would slow every start.
  const { checkSignature } = await import("../../../../jwt/signature.ts");
  const checks = [await checkSignature(token, header, keys), ...checkClaims(payload, expected)];
  const anyIssuer = "The issuer was not checked: name it with --issuer.";
  return verification(checks, [...(expected.issuer === null ? [anyIssuer] : []), unknownState]);
}
