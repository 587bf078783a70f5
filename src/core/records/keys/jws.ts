import { constants, createHmac, sign, timingSafeEqual, verify, type KeyObject, type SigningOptions } from "node:crypto";
import { promisify } from "node:util";
import { jsonObjectIn, type JsonObject } from "../../../text/json.ts";
import { bytesOf } from "../../../jwt/checks.ts";
import { movedClock, type Clock } from "../../base/clock.ts";
import { OAuthError, type Guidance } from "../../base/errors.ts";
import { relative } from "../../../text/time.ts";

/**
 * Compact JWS (RFC 7515 7.1) with this server's own keys, by `node:crypto`: its HS256 takes a seventh of the time of WebCrypto's, which jose
 * is built on. jose verifies the signatures of others.
 */

export interface Jws {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What is signed: the first two parts as they came. */
  readonly input: string;
  /** The signature as it came, in base64url. */
  readonly signature: string;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const decode = (part: string): JsonObject | null => jsonObjectIn(bytesOf(part) ?? "");

/**
 * @returns null if the text is not a compact JWS with a set of claims in canonical base64url, or needs an extension (RFC 7515 4.1.11): none
 *   is supported
 */
export function readJws(text: string): Jws | null {
  const [head, end] = [text.indexOf("."), text.lastIndexOf(".")];
  if (head < 0 || text.indexOf(".", head + 1) !== end) return null;
  const signature = text.slice(end + 1);
  if (bytesOf(signature) === null) return null;
  const [header, payload] = [decode(text.slice(0, head)), decode(text.slice(head + 1, end))];
  if (header === null || payload === null || header["crit"] !== undefined) return null;
  return { header, payload, input: text.slice(0, end), signature };
}

/** Whether a token that {@link readJws} does not read has `crit` in its header. */
export const needsExtension = (text: string): boolean => decode(text.split(".", 1)[0] ?? "")?.["crit"] !== undefined;

interface PublicKeyAlgorithm {
  /** Null: the algorithm hashes by itself. */
  readonly hash: "sha256" | null;
  readonly options: SigningOptions;
}

/** RFC 7518 3.3 to 3.5, RFC 8037 3.1. */
const publicKeyAlgorithms: Readonly<Record<string, PublicKeyAlgorithm>> = {
  RS256: { hash: "sha256", options: { padding: constants.RSA_PKCS1_PADDING } },
  PS256: { hash: "sha256", options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } },
  ES256: { hash: "sha256", options: { dsaEncoding: "ieee-p1363" } },
  EdDSA: { hash: null, options: {} },
};

function publicKeyAlgorithm(alg: string): PublicKeyAlgorithm {
  const known = Object.hasOwn(publicKeyAlgorithms, alg) ? publicKeyAlgorithms[alg] : undefined;
  if (known === undefined) throw new Error(`idp does not sign with "${alg}"`);
  return known;
}

/** The HMAC in base64url, as in a signature. It is text, because making a Buffer of a digest takes Node.js longer than the digest itself. */
const hmac = (input: string, key: KeyObject): string => createHmac("sha256", key).update(input).digest("base64url");

/** Whether the signature is this key's. @param alg the key's own algorithm, whatever the header says */
export function isSignedBy({ input, signature }: Jws, alg: string, key: KeyObject): boolean {
  const given = Buffer.from(signature, "base64url");
  if (alg === "HS256") {
    const expected = Buffer.from(hmac(input, key), "base64url");
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
  const { hash, options } = publicKeyAlgorithm(alg);
  return verify(hash, Buffer.from(input), { key, ...options }, given);
}

interface Header {
  readonly alg: string;
  readonly typ: string;
  readonly kid?: string;
}

/** Signs on a thread of Node.js's pool, so that other requests go on meanwhile. */
const signInPool = promisify(sign);

/** A token with these claims, signed by the algorithm that the header names. */
export async function signJws(header: Header, claims: object, key: KeyObject): Promise<string> {
  const input = `${encode(header)}.${encode(claims)}`;
  if (header.alg === "HS256") return `${input}.${hmac(input, key)}`;
  const { hash, options } = publicKeyAlgorithm(header.alg);
  const signature = await signInPool(hash, Buffer.from(input), { key, ...options });
  return `${input}.${signature.toString("base64url")}`;
}

/** Why a JWT that somebody else made is not accepted: assertions of clients, tokens of workloads, ID-JAGs, DPoP proofs. */

/** The message is about "it"; whoever refuses the JWT says what that is. */
export class JwtProblem extends Error {
  override readonly name = "JwtProblem";
  readonly guidance: Guidance;
  constructor(message: string, guidance: Guidance, cause?: unknown) {
    super(message, { cause });
    this.guidance = guidance;
  }
}

/** A value of a JWT in a message. */
export const quoted = (value: unknown): string => (value === undefined ? "missing" : JSON.stringify(value));

interface Timed {
  readonly clock: Clock;
  now(): number;
}

/** A time that is not accepted. Its maker uses the real time, so a clock that was moved may be the reason, and is named. */
export function timeProblem(ctx: Timed, reason: string, rule: Guidance["rule"], cause?: unknown): JwtProblem {
  const moved = movedClock(ctx);
  const fix = moved?.fix ?? "make a new one, and compare the clocks of both machines";
  return new JwtProblem(moved === null ? reason : `${reason}; ${moved.note}`, { rule, fix }, cause);
}

/** @param exp seconds since 1970 */
export const expired = (ctx: Timed, exp: number, cause?: unknown): JwtProblem =>
  timeProblem(ctx, `it expired ${relative(exp - ctx.now() / 1000)} ("exp")`, "RFC 7519 4.1.4", cause);

/** RFC 7519 4.1 has a paragraph for each of these claims; the one of a missing claim is its own too. */
const claims: Readonly<Record<string, Guidance>> = {
  iss: { rule: "RFC 7519 4.1.1", fix: "set iss to the issuer that this server expects" },
  sub: { rule: "RFC 7519 4.1.2", fix: "set sub to the subject that this server expects" },
  aud: { rule: "RFC 7519 4.1.3", fix: "set aud to the issuer of this server" },
  exp: { rule: "RFC 7519 4.1.4", fix: "set exp to a time soon after the request" },
  iat: { rule: "RFC 7519 4.1.6", fix: "set iat to the time at which it was made" },
  jti: { rule: "RFC 7519 4.1.7", fix: "set jti to a new random text for each one" },
  typ: { rule: "RFC 8725 3.11", fix: "set typ in its header as the standard of this kind of token says" },
};

/** The errors of jose, by their codes. */
const codes: Readonly<Record<string, Guidance>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: {
    rule: "RFC 7515 5.2",
    fix: "sign it with the key that is registered here, and send it unchanged",
  },
  ERR_JWKS_NO_MATCHING_KEY: {
    rule: "RFC 7515 4.1.4",
    fix: "sign it with a key of the registered key set, and name that key in kid",
  },
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: {
    rule: "RFC 7515 4.1.4",
    fix: "name the key in kid: several keys of the set would do",
  },
  ERR_JOSE_ALG_NOT_ALLOWED: { rule: "RFC 8725 3.1", fix: "sign it with an algorithm that discovery lists" },
};

/** The problem that an error of jose, or of a check of ours, stands for. */
export function problemOf(ctx: Timed, error: unknown): JwtProblem {
  if (error instanceof JwtProblem) return error;
  if (error instanceof OAuthError) {
    return new JwtProblem(error.message, { rule: error.rule, fix: error.fix }, error);
  }
  const { code, claim, reason, payload } = Object(error) as Readonly<Record<string, unknown>>;
  const { exp, nbf } = Object(payload) as { readonly exp?: unknown; readonly nbf?: unknown };
  if (reason === "check_failed" && claim === "exp" && typeof exp === "number") return expired(ctx, exp, error);
  if (reason === "check_failed" && claim === "nbf" && typeof nbf === "number") {
    const when = relative(nbf - ctx.now() / 1000);
    return timeProblem(ctx, `it becomes valid ${when} ("nbf")`, "RFC 7519 4.1.5", error);
  }
  const message = error instanceof Error ? error.message : "it cannot be verified";
  const guidance = claims[String(claim)] ??
    codes[String(code)] ?? { rule: "RFC 7519 7.2", fix: "send a signed JWT as RFC 7515 7.1 writes it" };
  return new JwtProblem(message, guidance, error);
}
