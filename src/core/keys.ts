import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPair,
  type KeyObject,
} from "node:crypto";
import { promisify } from "node:util";
import type { Key, ReadTx, Store } from "../store/store.ts";

/** Algorithms of ID tokens with a published key (RFC 7518 3.1, RFC 8037). */
export type PublicAlg = "RS256";

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
}

/** The keys in use, ready to sign and to verify; made anew from the store when they change. */
export interface KeyRing {
  /** Signs HS256 access and refresh tokens. */
  readonly secret: SigningKey;
  /** The secret named by `kid`, also a retired one. */
  secretOf(kid: string | undefined): KeyObject | undefined;
  signing(alg: PublicAlg): SigningKey;
  /** The public key named by `kid`, also a retired one, with the one algorithm it may be used for. */
  publicOf(kid: string | undefined): { readonly key: KeyObject; readonly alg: string } | undefined;
  /** RFC 7517 5: what the JWKS endpoint answers. */
  readonly jwks: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
}

const generate = promisify(generateKeyPair);

/** RFC 7638: the thumbprint names the key, so that two instances never use one `kid` for different keys. */
const thumbprint = (members: Record<string, unknown>): string =>
  createHash("sha256").update(JSON.stringify(members)).digest("base64url");

async function newRsaKey(createdAt: string): Promise<Key> {
  const { privateKey } = await generate("rsa", { modulusLength: 2048 });
  const jwk = privateKey.export({ format: "jwk" });
  const kid = thumbprint({ e: jwk.e, kty: jwk.kty, n: jwk.n });
  return { kid, alg: "RS256", jwk: { ...jwk }, createdAt, retiredAt: null };
}

function newSecret(random: (bytes: number) => string, createdAt: string): Key {
  // 256 bits: RFC 7518 3.2 asks for at least the size of the hash.
  return { kid: random(8), alg: "HS256", jwk: { kty: "oct", k: random(32) }, createdAt, retiredAt: null };
}

/**
 * The key ring of the data; what is missing is made and kept.
 * @param random `bytes` random bytes as base64url
 */
export async function openKeyRing(
  store: Store,
  now: () => number,
  random: (bytes: number) => string,
): Promise<KeyRing> {
  const stored = await store.read((tx) => [...tx.all("keys")]);
  const has = (alg: string): boolean => stored.some((key) => key.alg === alg && key.retiredAt === null);
  const createdAt = new Date(now()).toISOString();
  const made = [
    ...(has("HS256") ? [] : [newSecret(random, createdAt)]),
    ...(has("RS256") ? [] : [await newRsaKey(createdAt)]),
  ];
  if (made.length > 0) {
    await store.transaction((tx) => {
      for (const key of made) tx.insert("keys", key);
    });
  }
  return store.read(loadKeyRing);
}

function loadKeyRing(tx: ReadTx): KeyRing {
  const signers = new Map<string, SigningKey>();
  const secrets = new Map<string, KeyObject>();
  const publics = new Map<string, { key: KeyObject; alg: string }>();
  const published: Record<string, unknown>[] = [];
  for (const key of tx.all("keys")) {
    if (key.alg === "HS256") {
      const secret = createSecretKey(Buffer.from(String(key.jwk.k), "base64url"));
      secrets.set(key.kid, secret);
      if (key.retiredAt === null) signers.set(key.alg, { kid: key.kid, alg: key.alg, privateKey: secret });
      continue;
    }
    const privateKey = createPrivateKey({ key: { ...key.jwk }, format: "jwk" });
    const publicKey = createPublicKey(privateKey);
    publics.set(key.kid, { key: publicKey, alg: key.alg });
    published.push({ ...publicKey.export({ format: "jwk" }), kid: key.kid, alg: key.alg, use: "sig" });
    if (key.retiredAt === null) signers.set(key.alg, { kid: key.kid, alg: key.alg, privateKey });
  }
  const signer = (alg: string): SigningKey => {
    const key = signers.get(alg);
    if (key === undefined) throw new Error(`no ${alg} key in the data`);
    return key;
  };
  return {
    secret: signer("HS256"),
    secretOf: (kid) => (kid === undefined ? undefined : secrets.get(kid)),
    signing: signer,
    publicOf: (kid) => (kid === undefined ? undefined : publics.get(kid)),
    jwks: { keys: published },
  };
}
