/*
 * core/records/keys: signing keys and the signing secret. keys.ts makes them at first need and keeps them; admin.ts lists them, and rotates them
 * with an overlap. saml-keys.ts has those of SAML, certificate.ts writes certificates. fetched-keys.ts gets the public keys of others.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPair,
  type KeyObject,
} from "node:crypto";
import { promisify } from "node:util";
import type { Reach } from "../../../net/address.ts";
import type { Key, ReadTx, Store } from "../../../store/store.ts";
import { derive } from "../../base/derived.ts";

/** Algorithms with a published key (RFC 7518 3.1, RFC 8037 3.1). */
export const publicAlgs = ["RS256", "PS256", "ES256", "EdDSA"] as const;
/** Every algorithm that this server can sign with. */
export const keyAlgs = [...publicAlgs, "HS256"] as const;
type PublicAlg = (typeof publicAlgs)[number];

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
}

/** A key that verifies, and the one algorithm it may be used for. */
interface VerifyingKey {
  readonly key: KeyObject;
  readonly alg: string;
}

/** RFC 7517 5. */
export interface JwkSet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Members of a JWK that only its owner may know (RFC 7518 6.2.2, 6.3.2, 6.4.1). */
export const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The keys in use, ready to sign and to verify. */
export interface KeyRing {
  /** Signs HS256 access and refresh tokens. */
  readonly secret: SigningKey;
  /** The key of a public algorithm; it is made if there is none yet. */
  signing(alg: PublicAlg): Promise<SigningKey>;
  /** The secret or public key named by `kid`, also a retired one that is still published. */
  verifying(kid: string | undefined): VerifyingKey | undefined;
  /** The public keys, including RS256 and every kind that a client registered; the same object until they change. */
  jwks(): Promise<JwkSet>;
}

/** Public keys of others, at the addresses that they name. */
export interface FetchedKeys {
  /**
   * The JSON at an address.
   * @param isGood whether what was fetched before will do; `age` in milliseconds
   * @throws {OAuthError} invalid_client if it cannot be fetched
   */
  read(uri: string, reach: Reach, isGood: (keys: unknown, age: number) => boolean): Promise<unknown>;
  /** Says whether what `read` gave verified an assertion. Until then everybody gets the same keys. */
  tried(uri: string, reach: Reach, didHelp: boolean): void;
}

/** Whether any client registered this algorithm for its ID tokens. */
const isUsed = (tx: ReadTx, alg: PublicAlg): boolean => tx.has("clients", "idTokenAlg", alg);

const generate = promisify(generateKeyPair);

/** RFC 7638: the thumbprint names the key, so that two instances never use one `kid` for different keys. */
export function thumbprint(jwk: Readonly<Record<string, unknown>>): string {
  const required = { EC: ["crv", "kty", "x", "y"], OKP: ["crv", "kty", "x"], RSA: ["e", "kty", "n"] };
  const names = required[jwk["kty"] as keyof typeof required];
  const members = Object.fromEntries(names.map((name) => [name, jwk[name]]));
  return createHash("sha256").update(JSON.stringify(members)).digest("base64url");
}

function keyPair(alg: PublicAlg): Promise<{ readonly privateKey: KeyObject }> {
  switch (alg) {
    case "ES256":
      return generate("ec", { namedCurve: "P-256" });
    case "EdDSA":
      return generate("ed25519", {});
    case "RS256":
    case "PS256":
      return generate("rsa", { modulusLength: 2048 });
  }
}

/** A new key of a public algorithm. @param createdAt ISO 8601 */
export async function newPublicKey(alg: PublicAlg, createdAt: string): Promise<Key> {
  const jwk = (await keyPair(alg)).privateKey.export({ format: "jwk" }) as Record<string, unknown>;
  return { kid: thumbprint(jwk), alg, jwk, createdAt, retiredAt: null };
}

/** A new signing secret; 256 bits, since RFC 7518 3.2 asks for at least the size of the hash. */
export const newSecret = (random: (bytes: number) => string, createdAt: string): Key => ({
  kid: random(8),
  alg: "HS256",
  jwk: { kty: "oct", k: random(32) },
  createdAt,
  retiredAt: null,
});

/**
 * The key ring of the data. A missing signing secret is made here. An RS256 key takes a quarter of a second, so it is made when it is first
 * needed.
 * @param random `bytes` random bytes as base64url
 */
export async function openKeyRing(
  store: Store,
  now: () => number,
  random: (bytes: number) => string,
): Promise<KeyRing> {
  const has = (tx: ReadTx, alg: string): boolean =>
    [...tx.all("keys")].some((key) => key.alg === alg && key.retiredAt === null && key.use === undefined);
  const secret = newSecret(random, new Date(now()).toISOString());
  await store.transaction((tx) => {
    if (!has(tx, "HS256")) tx.insert("keys", secret);
  });

  const ring = await derive(store, ["keys"], load);
  const making = new Map<PublicAlg, Promise<void>>();
  /** Keys that could not be written so far: the next attempt uses them. */
  const unwritten = new Map<PublicAlg, Key>();
  async function make(alg: PublicAlg): Promise<void> {
    const key = unwritten.get(alg) ?? (await newPublicKey(alg, new Date(now()).toISOString()));
    unwritten.set(alg, key);
    await store.transaction((tx) => {
      if (!has(tx, alg)) tx.insert("keys", key);
    });
    unwritten.delete(alg);
  }

  async function signing(alg: PublicAlg): Promise<SigningKey> {
    let signer = ring.value.signers.get(alg);
    // Again where an import has replaced all keys meanwhile.
    while (signer === undefined) {
      // Several that need it at once wait for the same one.
      const made = making.get(alg) ?? make(alg).finally(() => making.delete(alg));
      making.set(alg, made);
      await made;
      signer = ring.value.signers.get(alg);
    }
    return signer;
  }

  return {
    get secret() {
      return signerOf(ring.value, "HS256");
    },
    signing,
    verifying(kid) {
      const found = kid === undefined ? undefined : ring.value.verifiers.get(kid);
      return found === undefined || found.expiresAt <= now() ? undefined : found;
    },
    async jwks() {
      // A client may read the keys once, before it gets the first token: so the key must exist by now.
      await signing("RS256");
      const needed = await store.read((tx) =>
        publicAlgs.filter((alg) => !ring.value.signers.has(alg) && isUsed(tx, alg)),
      );
      // A key that cannot be written does not block the others: only its users get an error.
      await Promise.allSettled(needed.map(signing));
      return publishedAt(ring.value, now());
    },
  };
}

/** All keys, also those that have expired: the clock may be set back. */
interface Ring {
  readonly signers: ReadonlyMap<string, SigningKey>;
  readonly verifiers: ReadonlyMap<string, VerifyingKey & { readonly expiresAt: number }>;
  readonly published: readonly { readonly jwk: JwkSet["keys"][number]; readonly expiresAt: number }[];
  /** What {@link publishedAt} returned last. */
  shown: JwkSet;
}

/** The public keys that have not expired: the same object as before, if they are the same. */
function publishedAt(ring: Ring, now: number): JwkSet {
  const keys = ring.published.filter(({ expiresAt }) => expiresAt > now).map(({ jwk }) => jwk);
  // The later the time, the fewer are left, so the number tells which they are.
  if (keys.length !== ring.shown.keys.length) ring.shown = { keys };
  return ring.shown;
}

function signerOf(ring: Ring, alg: string): SigningKey {
  const key = ring.signers.get(alg);
  if (key === undefined) throw new Error(`no ${alg} key in the data`);
  return key;
}

function load(tx: ReadTx): Ring {
  const signers = new Map<string, SigningKey>();
  const verifiers = new Map<string, VerifyingKey & { readonly expiresAt: number }>();
  const published: Ring["published"][number][] = [];
  for (const { kid, alg, jwk, retiredAt, use, expiresAt = Infinity } of tx.everything("keys")) {
    // That of SAML signs no tokens, and verifies none.
    if (use !== undefined) continue;
    if (alg === "HS256") {
      const secret = createSecretKey(Buffer.from(String(jwk["k"]), "base64url"));
      verifiers.set(kid, { key: secret, alg, expiresAt });
      if (retiredAt === null) signers.set(alg, { kid, alg, privateKey: secret });
      continue;
    }
    const privateKey = createPrivateKey({ key: { ...jwk }, format: "jwk" });
    const publicKey = createPublicKey(privateKey);
    verifiers.set(kid, { key: publicKey, alg, expiresAt });
    published.push({ jwk: { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig" }, expiresAt });
    if (retiredAt === null) signers.set(alg, { kid, alg, privateKey });
  }
  return { signers, verifiers, published, shown: { keys: [] } };
}
