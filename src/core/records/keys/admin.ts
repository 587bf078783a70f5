import type { Key, Meta, ReadTx, Tx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { hashOf } from "../../base/secrets.ts";
import { cut } from "../../../text/redacted.ts";
import { fingerprintsOf, pemOf } from "./certificate.ts";
import { newPublicKey, newSecret, publicAlgs, type keyAlgs } from "./keys.ts";
import { isOfSaml, newSamlKey } from "./saml-keys.ts";

/** The longest life of the tokens in use: their keys and their state are kept as long. */

/** The longest life (seconds) that a token may have had so far. */
function maxLife(tx: ReadTx, { settings }: Context): number {
  const noted = tx.get("meta", "longestLife")?.value;
  return Math.max(settings.refresh_token_ttl, settings.access_token_ttl, typeof noted === "number" ? noted : 0);
}

/** Milliseconds: the latest end of a token is noted exact to a day, so that few requests write it. */
const grain = 86_400_000;

/** The latest end (milliseconds) that a token may have had so far, less a day at most. */
function latestEnd(tx: ReadTx): number {
  const noted = tx.get("meta", "latestEnd")?.value;
  return typeof noted === "number" ? noted : 0;
}

/**
 * Call it where tokens are issued. It stores the longest lifetime so far, because the settings may become shorter while tokens are in use,
 * and the latest end, because the clock may be set back: the state of those tokens, and the keys that signed them, must be kept until all
 * have expired.
 */
export function noteLife(tx: Tx, ctx: Context): void {
  const value = maxLife(tx, ctx);
  if (tx.get("meta", "longestLife")?.value !== value) tx.put("meta", { id: "longestLife", value });
  const end = ctx.now() + value * 1000;
  if (end >= latestEnd(tx) + grain) tx.put("meta", { id: "latestEnd", value: end });
}

/** The time (milliseconds) until which the keys of the tokens in use are needed. */
const tokensEnd = (tx: ReadTx, ctx: Context): number => Math.max(ctx.now() + maxLife(tx, ctx) * 1000, latestEnd(tx));

/** The time until which the state of those tokens must be kept: without it they would be valid again. */
export const stateEnd = (tx: ReadTx, ctx: Context): number => tokensEnd(tx, ctx) + grain;

/** The keys as an operator sees and changes them; a private part is never shown. */

export type KeyView = ReturnType<typeof viewKey>;

const viewKey = ({ kid, alg, use, retiredAt, createdAt, expiresAt, certificate }: Key) => ({
  kid,
  alg,
  /** `sig`: it signs tokens. */
  use: use ?? ("sig" as const),
  status: retiredAt === null ? ("signing" as const) : ("retired" as const),
  createdAt,
  /** A retired key verifies until here; ISO 8601. */
  expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  /** The fingerprints of its certificate, which a key of SAML has. */
  fingerprints: certificate === undefined ? null : fingerprintsOf(pemOf(certificate)),
});

/** Every key that signs or still verifies. */
export async function listKeys(ctx: Context): Promise<readonly KeyView[]> {
  await ctx.keys.jwks();
  return viewKeys(ctx);
}

const viewKeys = (ctx: Context): Promise<readonly KeyView[]> =>
  ctx.store.read((tx) => [...tx.all("keys")].map(viewKey));

function requireKey(tx: ReadTx, kid: string): Key {
  const key = tx.get("keys", kid);
  if (key !== undefined) return key;
  throw new OperationError("not_found", `no key "${kid}"`, {
    hint: { text: "All keys", command: ["idp", "keys", "list"] },
  });
}

/** One key. @param input `id`: its `kid` @throws {OperationError} not_found */
export const showKey = (ctx: Context, { id }: { readonly id: string }): Promise<KeyView> =>
  ctx.store.read((tx) => viewKey(requireKey(tx, id)));

/** The digest of the private part of a key, since anybody can name a `kid`. */
const digestOf = ({ jwk }: Key): string => hashOf(String(jwk["k"] ?? jwk["d"]));

/** Digests of these keys, and of those that this meta record says there were once. */
export const everyKey = (keys: readonly Key[], meta?: Meta): ReadonlySet<string> =>
  new Set([...((meta?.value ?? []) as readonly string[]), ...keys.map(digestOf)]);

/** Digests of the keys that the data has, and of those that it had once. */
export const knownKeys = (tx: ReadTx): ReadonlySet<string> =>
  everyKey(tx.everything("keys"), tx.get("meta", "knownKeys"));

/** Call it before keys are replaced or removed: an import asks whether the export had one of them (`transfer/ended.ts`). */
export const rememberKeys = (tx: Tx): void => tx.put("meta", { id: "knownKeys", value: [...knownKeys(tx)] });

/**
 * Makes a new key of each kind that is in use, and signs with it from then on. The old ones stay published until every token that
 * they signed has expired.
 * @param input `alg`: only this kind, even if there was no such key; `saml`: only the key of SAML
 */
export async function rotateKeys(
  ctx: Context,
  input: { readonly alg?: (typeof keyAlgs)[number] | undefined; readonly saml?: boolean | undefined },
): Promise<readonly KeyView[]> {
  if (input.saml === true) return rotateSamlKey(ctx);
  const isMeant = (key: Key): boolean =>
    key.retiredAt === null && !isOfSaml(key) && (input.alg === undefined || key.alg === input.alg);
  const algs = await ctx.store.read((tx) => new Set([...tx.all("keys")].filter(isMeant).map(({ alg }) => alg)));
  // RS256 is the default of ID tokens, so it is in use even if no token has needed the key yet.
  algs.add(input.alg ?? "RS256");
  const createdAt = new Date(ctx.now()).toISOString();
  const made = await Promise.all(
    [...algs].map(async (alg) => {
      const publicAlg = publicAlgs.find((name) => name === alg);
      return publicAlg === undefined ? newSecret(ctx.random, createdAt) : newPublicKey(publicAlg, createdAt);
    }),
  );
  await ctx.store.transaction((tx) => {
    rememberKeys(tx);
    const retired = { retiredAt: ctx.now(), expiresAt: tokensEnd(tx, ctx) };
    // Looked up inside the transaction, because another rotation at the same time may have added keys.
    const old = [...tx.all("keys")].filter((key) => key.retiredAt === null && !isOfSaml(key) && algs.has(key.alg));
    for (const key of old) tx.put("keys", { ...key, ...retired });
    for (const key of made) tx.insert("keys", key);
  });
  // Unlike listKeys, this makes no missing key, which may fail: the rotation is already on disk.
  return viewKeys(ctx);
}

/** Signs messages of SAML with a new key. The metadata lists its certificate, then the old ones, until they are removed. */
async function rotateSamlKey(ctx: Context): Promise<readonly KeyView[]> {
  const made = await newSamlKey(ctx);
  await ctx.store.transaction((tx) => {
    rememberKeys(tx);
    const old = [...tx.all("keys")].filter((key) => isOfSaml(key) && key.retiredAt === null);
    for (const key of old) tx.put("keys", { ...key, retiredAt: ctx.now() });
    tx.insert("keys", made);
  });
  return viewKeys(ctx);
}

/**
 * Removes a retired key at once, for example after a leak: it is no longer published, and tokens that it signed become invalid.
 * @param input `id`: its `kid`
 * @throws {OperationError} not_found; conflict for a key that still signs
 */
export async function removeKey(ctx: Context, { id }: { readonly id: string }): Promise<null> {
  await ctx.store.transaction((tx) => {
    const key = requireKey(tx, id);
    if (key.retiredAt === null) {
      throw new OperationError("conflict", `key "${cut(id, 11)}" still signs (${key.alg}), so it cannot be removed`, {
        hint: {
          text: "Make another one first",
          command: ["idp", "keys", "rotate", ...(isOfSaml(key) ? ["--saml"] : [])],
        },
      });
    }
    rememberKeys(tx);
    tx.remove("keys", id);
  });
  return null;
}
