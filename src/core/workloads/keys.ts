import { createPrivateKey, type KeyObject } from "node:crypto";
import type { Key, ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { ownValue } from "../../text/json-object.ts";
import { newPublicKey, privateMembers } from "../keys/keys.ts";

/** The keys of workloads: each has one of its own, made when it is first needed and kept with the data. */

type Keys = Readonly<Record<string, Key>>;

const stored = (tx: ReadTx): Keys => (tx.get("meta", "workloadKeys")?.value ?? {}) as Keys;

/** @param name of a workload that exists */
async function keyOf(ctx: Pick<Context, "store" | "now">, name: string): Promise<Key> {
  const known = await ctx.store.read((tx) => ownValue(stored(tx), name));
  if (known !== undefined) return known;
  const made = await newPublicKey("RS256", new Date(ctx.now()).toISOString());
  return ctx.store.transaction((tx) => {
    const keys = stored(tx);
    // Another request may have been faster.
    const first = ownValue(keys, name);
    if (first !== undefined) return first;
    tx.put("meta", { id: "workloadKeys", value: { ...keys, [name]: made } });
    return made;
  });
}

/** What signs the tokens of a workload. */
export async function workloadSigner(
  ctx: Pick<Context, "store" | "now">,
  name: string,
): Promise<{ readonly alg: string; readonly kid: string; readonly privateKey: KeyObject }> {
  const { alg, kid, jwk } = await keyOf(ctx, name);
  return { alg, kid, privateKey: createPrivateKey({ key: { ...jwk }, format: "jwk" }) };
}

/** The JWK Set of a workload's issuer (RFC 7517 5). */
export async function workloadJwks(
  ctx: Pick<Context, "store" | "now">,
  name: string,
): Promise<{ readonly keys: readonly Readonly<Record<string, unknown>>[] }> {
  const { alg, kid, jwk } = await keyOf(ctx, name);
  const shown = Object.entries(jwk).filter(([member]) => !privateMembers.includes(member));
  return { keys: [{ ...Object.fromEntries(shown), kid, alg, use: "sig" }] };
}
