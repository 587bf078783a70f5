import type { JsonObject } from "../../../text/json.ts";
import { signatureProblem } from "../accept.ts";
import type { Context } from "../../context.ts";
import {
  checkClaims,
  criticalProblem,
  decodeOrFail,
  moment,
  shown,
  verification,
  type Check,
  type Verification,
  type Expected,
} from "./claim-checks.ts";
import { isDead, rotation, tokenState, flawOf } from "../state.ts";
import {
  kindInWords,
  kindOfToken,
  requiredClaims,
  type RefreshClaims,
  type TokenClaims,
  type TokenKind,
} from "../claims.ts";
import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { bytesOf } from "../../keys/jws.ts";

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
    return rotation(tx, ctx, payload as unknown as RefreshClaims) ?? found;
  });
  if (!isDead(state)) return { name: "state", ok: true, detail: "not revoked, and the user's account is in order" };
  const when = state.since === null ? "" : `, ${moment(state.since / 1000, ctx.now() / 1000)}`;
  return { name: "state", ok: false, detail: state.detail + when };
}

/** Verifies a token of any issuer with given keys. It fetches nothing and reads no store. */

type Jwk = Readonly<Record<string, unknown>>;

/** The keys that a signature is checked with. */
export type Keys =
  | { readonly kind: "secret"; readonly secret: string }
  /** `from`: where they were found, in words. */
  | { readonly kind: "public"; readonly jwks: readonly Jwk[]; readonly from: string };

const unknownState = "Revocation was not checked: only the issuer knows it. Use introspection.";

/** Verifies signature, issuer, audience and times; each check is reported. */
export async function verifyForeignToken(token: string, keys: Keys, expected: Expected): Promise<Verification> {
  const said = decodeOrFail(token, expected.now);
  if ("checks" in said) return said;
  const { header, payload } = said;
  const checks = [await checkSignature(token, header, keys), ...checkClaims(payload, expected)];
  const anyIssuer = "The issuer was not checked: name it with --issuer.";
  return verification(checks, [...(expected.issuer === null ? [anyIssuer] : []), unknownState]);
}

/**
 * The algorithms that a public key may be used for (RFC 7518 3.1, RFC 8037 3.1). HS256 is never among them: a public key must not serve
 * as a secret (RFC 8725 2.1).
 */
function algorithmsOf({ kty, crv, alg, use }: Jwk): readonly string[] {
  const byCurve: Readonly<Record<string, readonly string[]>> = {
    "P-256": ["ES256"],
    "P-384": ["ES384"],
    "P-521": ["ES512"],
    Ed25519: ["EdDSA", "Ed25519"],
  };
  const rsa = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
  const fitting =
    kty === "RSA" ? rsa : typeof crv === "string" && Object.hasOwn(byCurve, crv) ? byCurve[crv] : undefined;
  if (fitting === undefined || (use !== undefined && use !== "sig")) return [];
  return alg === undefined ? fitting : fitting.filter((name) => name === alg);
}

async function checkSignature(token: string, header: Jwk, keys: Keys): Promise<Check> {
  const { alg, kid } = header;
  const no = (detail: string): Check => ({ name: "signature", ok: false, detail });
  const yes = (detail: string): Check => ({ name: "signature", ok: true, detail });
  if (typeof alg !== "string") return no("the header has no alg");
  if (alg.toLowerCase() === "none") return no('alg is "none": the token is not signed');
  const critical = criticalProblem(header);
  if (critical !== null) return no(critical);
  // jose accepts a signature in any spelling.
  if (bytesOf(token.split(".")[2] ?? "") === null) return no("it is not canonical base64url (RFC 4648 3.5)");
  if (keys.kind === "secret") {
    if (alg !== "HS256") return no(`signed with ${alg}; a secret verifies HS256 only`);
    const fits = await holds(token, createSecretKey(Buffer.from(keys.secret, "utf8")), alg);
    return fits ? yes("HS256, with the secret that was given") : no("HS256: not signed with the secret that was given");
  }
  if (alg.startsWith("HS")) {
    return no(`signed with ${alg}, which needs the secret (--secret-stdin); a public key never verifies it`);
  }
  const count = `the ${keys.jwks.length} keys of ${keys.from}`;
  const named = kid === undefined ? keys.jwks : keys.jwks.filter((jwk) => jwk["kid"] === kid);
  if (named.length === 0) return no(`kid ${shown(kid)} is not among ${count}`);
  const fitting = named.filter((jwk) => algorithmsOf(jwk).includes(alg));
  if (fitting.length === 0) {
    const good = [...new Set(named.flatMap(algorithmsOf))].join(", ") || "no signature";
    return no(`the token says ${alg}; ${kid === undefined ? count : "the key that it names"}: usable for ${good}`);
  }
  for (const jwk of fitting) {
    const key = publicKey(jwk);
    if (key === null) return no(`the key ${shown(jwk["kid"])} of ${keys.from} cannot be read`);
    const unnamed = kid === undefined ? "; the token names no key" : "";
    if (await holds(token, key, alg)) return yes(`${alg}, kid ${shown(jwk["kid"])} from ${keys.from}${unnamed}`);
  }
  return no(
    `${alg}: not signed with ${kid === undefined ? `any of ${count}; it names none` : "the key that it names"}`,
  );
}

function publicKey(jwk: Jwk): KeyObject | null {
  try {
    return createPublicKey({ key: { ...jwk }, format: "jwk" });
  } catch {
    return null;
  }
}

/** Whether the signature is this key's, by this algorithm. */
async function holds(token: string, key: KeyObject, alg: string): Promise<boolean> {
  // A start loads this file, and its first screen does not wait for jose.
  const { compactVerify } = await import("jose");
  try {
    await compactVerify(token, key, { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}
