import { createHash } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { checkClaims as checkTokenClaims } from "../jwt/checks.ts";
import { checkSignature, keysIn, type Keys } from "../jwt/signature.ts";
import { parseExact, type JsonObject } from "../text/json.ts";
import { relative } from "../text/time.ts";
import { attempt, Problem, shown } from "./check.ts";
import { send, successOf } from "./http.ts";
import { requireEndpoint, type Provider } from "./provider.ts";
import type { SignIn } from "./tokens.ts";

/** Checks of the ID token (OpenID Connect Core 3.1.3.7). The report has a line for each. */

interface Expected {
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
  const secret = alg.startsWith("HS") ? client.secret : null;
  if (alg.startsWith("HS") && secret === null)
    throw new Problem(`alg is ${shown(alg)}, which proves nothing to a client without a secret`);
  const { ok, detail } = await checkSignature(
    token,
    header,
    secret === null ? await keysOf(provider) : { kind: "secret", secret, from: "the client's secret" },
  );
  if (!ok) throw new Problem(detail);
  return secret === null ? `${alg}, key ${typeof kid === "string" ? kid : "without a name"}` : detail;
}

/** @throws {Problem} */
async function keysOf(provider: Provider): Promise<Keys> {
  const url = requireEndpoint(provider, "jwks_uri");
  const jwks = keysIn(successOf(await send({ method: "GET", url })));
  if (jwks === null) throw new Problem(`${url} is not a JWK Set (RFC 7517 5)`);
  return { kind: "public", jwks, from: "the provider" };
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

/** Checks what every ID token has: issuer, audience, times and subject. */
function checkClaims({ provider, client, report, now }: SignIn, claims: JsonObject): void {
  const check = (name: string, ok: boolean, detail: string): void => {
    report.check(`id_token.${name}`, ok, detail);
  };
  const { aud, azp, sub, iat } = claims;
  const expected = { issuer: provider.issuer, audience: client.id, leeway: tolerance, now: now() };
  for (const { name, ok, detail } of checkTokenClaims(claims, expected)) {
    // OpenID Connect Core 2: an ID token says when it was issued.
    check(name, ok && !(name === "iat" && iat === undefined), detail);
  }
  // OpenID Connect Core 3.1.3.7, items 4 and 5.
  const azpNeeded = [aud].flat().length > 1;
  const rightAzp = azp === undefined ? !azpNeeded : azp === client.id;
  const noAzp = azpNeeded ? "missing, although aud names several" : "missing; required only with several audiences";
  check("azp", rightAzp, azp === undefined ? noAzp : rightAzp ? shown(azp) : expectedText(client.id, azp));
  const isSubject = typeof sub === "string" && sub !== "" && sub.length <= 255;
  check("sub", isSubject, isSubject ? shown(sub) : `must be a string of 1 to 255 characters; it is ${shown(sub)}`);
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
    check(
      "auth_time",
      recent,
      isTime(authTime) ? `signed in ${relative(authTime - time)}; ${asked}` : `no time; ${asked}`,
    );
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

/** OpenID Connect Core 3.1.3.6: the left half of the hash that the signature uses; EdDSA uses SHA-512. */
function accessTokenHash(accessToken: string, alg: string): string {
  const hash = createHash(alg.endsWith("256") ? "sha256" : alg.endsWith("384") ? "sha384" : "sha512");
  const digest = hash.update(accessToken).digest();
  return digest.subarray(0, digest.length / 2).toString("base64url");
}
