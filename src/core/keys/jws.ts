import { constants, createHmac, sign, timingSafeEqual, verify, type KeyObject, type SigningOptions } from "node:crypto";
import { promisify } from "node:util";
import { parseJson, isObject } from "../../text/json.ts";

/**
 * Compact JWS (RFC 7515 7.1) with this server's own keys, by `node:crypto`: its HS256 takes a seventh of the time of WebCrypto's, which jose
 * is built on. jose verifies the signatures of others.
 */

export interface Jws {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What is signed: the first two parts as they came. */
  readonly input: string;
  /** As it came, base64url. */
  readonly signature: string;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * The bytes of a part of a token. Bits that the last character does not need must be zero (RFC 4648 3.5), and there is no padding (RFC 7515
 * 2), so that a token can be written in one way only.
 * @returns null if the text is not base64url in that form
 */
export function bytesOf(part: string): Buffer | null {
  const bytes = Buffer.from(part, "base64url");
  return bytes.toString("base64url") === part ? bytes : null;
}

function decode(part: string): unknown {
  try {
    return parseJson(bytesOf(part) ?? "");
  } catch {
    return undefined;
  }
}

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
  if (!isObject(header) || !isObject(payload) || header["crit"] !== undefined) return null;
  return { header, payload, input: text.slice(0, end), signature };
}

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

/** In base64url, as in a signature. Text, because making a Buffer of a digest takes Node.js longer than the digest itself. */
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

/** On a thread of Node.js's pool, so that other requests go on meanwhile. */
const signInPool = promisify(sign);

/** A token with these claims, signed by the algorithm that the header names. */
export async function signJws(header: Header, claims: object, key: KeyObject): Promise<string> {
  const input = `${encode(header)}.${encode(claims)}`;
  if (header.alg === "HS256") return `${input}.${hmac(input, key)}`;
  const { hash, options } = publicKeyAlgorithm(header.alg);
  const signature = await signInPool(hash, Buffer.from(input), { key, ...options });
  return `${input}.${signature.toString("base64url")}`;
}
