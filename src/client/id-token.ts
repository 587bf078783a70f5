import { createHash } from "node:crypto";
import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, type JSONWebKeySet } from "jose";
import { asNumber, parseExact, type JsonObject } from "../text/json.ts";
import { attempt, Problem, shown } from "./check.ts";
import { send, successOf } from "./http.ts";
import { requireEndpoint } from "./provider.ts";
import type { SignIn } from "./tokens.ts";

/** Checks of the ID token (OpenID Connect Core 3.1.3.7). The report has a line for each. */

export interface Expected {
  /** Null if none was sent. */
  readonly nonce: string | null;
  readonly accessToken: string;
  /** `max_age` of the request, in seconds; null without one. */
  readonly maxAge: number | null;
  /** `acr_values` of the request. */
  readonly acr: readonly string[];
}

/** How far the provider's clock may be from this one, in seconds. */
const tolerance = 30;

const known = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/;
const symmetric = /^HS(256|384|512)$/;

/** The claims, whatever the checks found; null if the token cannot be read. */
export async function checkIdToken(run: SignIn, token: unknown, expected: Expected): Promise<JsonObject | null> {
  const { report } = run;
  const read = await attempt(report, "id_token", () => readIdToken(token));
  if (read === null) return null;
  const { header, claims, text } = read;
  await attempt(report, "id_token.signature", async () => {
    report.check("id_token.signature", true, await verifySignature(run, text, header));
  });
  checkClaims(run, claims);
  checkBinding(run, claims, String(header["alg"]), expected);
  return claims;
}

function readIdToken(token: unknown): {
  readonly text: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
} {
  if (typeof token !== "string") throw new Problem("the token response has no id_token, although scope has openid");
  if (token.split(".").length === 5) throw new Problem("the ID token is encrypted, and this client has no key for it");
  try {
    return { text: token, header: { ...decodeProtectedHeader(token) }, claims: jwtClaims(token) };
  } catch {
    throw new Problem("the ID token is not a JWT");
  }
}

/** The claims of a JWT, with all digits of its numbers. @throws if it is not a JWT */
export function jwtClaims(token: string): JsonObject {
  decodeJwt(token);
  return parseExact(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as JsonObject;
}

/** A time, which may be a number that JavaScript rounds: "never", as Java writes it. */
const timeIn = (claims: JsonObject, name: string): unknown => asNumber(claims[name]) ?? claims[name];

/** @returns what it was verified with @throws {Problem} */
export async function verifySignature(
  { provider, client }: SignIn,
  token: string,
  header: JsonObject,
  algs: readonly string[] = provider.idTokenAlgs,
): Promise<string> {
  const { alg, kid } = header;
  if (typeof alg !== "string" || !algs.includes(alg)) {
    throw new Problem(`alg is ${shown(alg)}; the metadata lists ${algs.join(", ")}`);
  }
  if (symmetric.test(alg) && client.secret !== null) {
    await verifyWith(token, alg, new TextEncoder().encode(client.secret));
    return `${alg}, the client's secret`;
  }
  // Neither an alg without a key ("none"), nor one whose key would be public ("HS256" without a secret).
  if (!known.test(alg)) throw new Problem(`alg is ${shown(alg)}, which proves nothing to this client`);
  const url = requireEndpoint(provider, "jwks_uri");
  const keys = successOf(await send({ method: "GET", url }));
  await verifyWith(token, alg, keySet(keys, url));
  return `${alg}, key ${typeof kid === "string" ? kid : "without a name"}`;
}

type Keys = ReturnType<typeof createLocalJWKSet>;

function keySet(keys: JsonObject, url: string): Keys {
  try {
    return createLocalJWKSet(keys as unknown as JSONWebKeySet);
  } catch {
    throw new Problem(`${url} is not a JWK Set (RFC 7517 5)`);
  }
}

async function verifyWith(token: string, alg: string, key: Keys | Uint8Array): Promise<void> {
  const algorithms = [alg];
  try {
    await (typeof key === "function"
      ? compactVerify(token, key, { algorithms })
      : compactVerify(token, key, { algorithms }));
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithAny(token, alg, error);
    if (error instanceof errors.JWKSNoMatchingKey) {
      throw new Problem(`the provider has no key for ${alg} with the token's kid`);
    }
    if (error instanceof errors.JWSSignatureVerificationFailed) {
      throw new Problem(`the signature does not match the key that the token names (${alg})`);
    }
    throw new Problem(`the signature cannot be verified: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Verifies a token without `kid` with any key that fits. */
async function verifyWithAny(token: string, alg: string, keys: errors.JWKSMultipleMatchingKeys): Promise<void> {
  for await (const key of keys) {
    try {
      await compactVerify(token, key, { algorithms: [alg] });
      return;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new Problem(`the signature matches none of the provider's keys for ${alg}`);
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/** Checks what every ID token has: issuer, audience and times. */
function checkClaims({ provider, client, report, now }: SignIn, claims: JsonObject): void {
  const check = (name: string, ok: boolean, detail: string): void => {
    report.check(`id_token.${name}`, ok, detail);
  };
  const { iss, aud, azp, sub } = claims;
  const [exp, iat] = [timeIn(claims, "exp"), timeIn(claims, "iat")];
  check("iss", iss === provider.issuer, iss === provider.issuer ? provider.issuer : expectedText(provider.issuer, iss));
  const audiences = [aud].flat();
  const isFor = audiences.includes(client.id);
  check("aud", isFor, isFor ? shown(aud) : expectedText(client.id, aud));
  // OpenID Connect Core 3.1.3.7, items 4 and 5.
  const azpNeeded = audiences.length > 1;
  const rightAzp = azp === undefined ? !azpNeeded : azp === client.id;
  const noAzp = azpNeeded ? "missing, although aud names several" : "missing; required only with several audiences";
  check("azp", rightAzp, azp === undefined ? noAzp : rightAzp ? shown(azp) : expectedText(client.id, azp));
  const isSubject = typeof sub === "string" && sub !== "" && sub.length <= 255;
  check("sub", isSubject, isSubject ? shown(sub) : `must be a string of 1 to 255 characters; it is ${shown(sub)}`);
  const time = now() / 1000;
  const lives = isTime(exp) && exp > time - tolerance;
  check("exp", lives, isTime(exp) ? `expire${lives ? "s" : "d"} ${when(exp, time)}` : `not a time: ${shown(exp)}`);
  const begun = isTime(iat) && iat < time + tolerance;
  check(
    "iat",
    begun,
    isTime(iat) ? `issued ${when(iat, time)}${begun ? "" : ", by a clock that is ahead"}` : `not a time: ${shown(iat)}`,
  );
}

/** Checks what binds the token to this request and its access token. */
function checkBinding({ report, now }: SignIn, claims: JsonObject, alg: string, expected: Expected): void {
  const check = (name: string, ok: boolean, detail: string): void => {
    report.check(`id_token.${name}`, ok, detail);
  };
  const { nonce, auth_time: authTime, acr, at_hash: atHash } = claims;
  if (expected.nonce !== null) {
    const same = nonce === expected.nonce;
    check("nonce", same, same ? "matches the request" : expectedText(expected.nonce, nonce));
  }
  if (expected.maxAge !== null) {
    const time = now() / 1000;
    const recent = isTime(authTime) && time - authTime <= expected.maxAge + tolerance;
    const asked = `max_age asked for at most ${expected.maxAge} s`;
    check("auth_time", recent, isTime(authTime) ? `signed in ${when(authTime, time)}; ${asked}` : `no time; ${asked}`);
  }
  if (expected.acr.length > 0) {
    const reached = typeof acr === "string" && expected.acr.includes(acr);
    check("acr", reached, reached ? acr : expectedText(expected.acr.join(" or "), acr));
  }
  const right = accessTokenHash(expected.accessToken, alg);
  const same = atHash === undefined || atHash === right;
  const optional = "missing; optional with a code (OpenID Connect Core 3.1.3.6)";
  check(
    "at_hash",
    same,
    atHash === undefined ? optional : same ? "matches the access token" : expectedText(right, atHash),
  );
}

const expectedText = (expected: string, found: unknown): string =>
  `expected ${shown(expected)}, the token has ${shown(found)}`;

/** "in 30 min", "5 s ago". Both in seconds since 1970. */
function when(time: number, now: number): string {
  const away = Math.round(Math.abs(time - now));
  if (away === 0) return "now";
  const length =
    away < 120 ? `${away} s` : away < 7200 ? `${Math.round(away / 60)} min` : `${Math.round(away / 3600)} h`;
  return time > now ? `in ${length}` : `${length} ago`;
}

/** OpenID Connect Core 3.1.3.6: the left half of the hash that the signature uses; EdDSA uses SHA-512. */
function accessTokenHash(accessToken: string, alg: string): string {
  const hash = createHash(alg.endsWith("256") ? "sha256" : alg.endsWith("384") ? "sha384" : "sha512");
  const digest = hash.update(accessToken).digest();
  return digest.subarray(0, digest.length / 2).toString("base64url");
}
