/*
 * core/protocol/workloads: the tokens that GitHub, GitLab and Kubernetes give to what runs there. workloads.ts says which workloads there are, and has
 * their keys and what the issuer of each publishes; kinds.ts has their claims, and
 * core/testing/workload-token.ts issues their tokens.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import type { Context } from "../../context.ts";
import { baseOf } from "../../base/endpoints.ts";
import { OperationError } from "../../base/errors.ts";
import { workloadKinds, type WorkloadSetting } from "./kinds.ts";
import type { Key, ReadTx } from "../../../store/store.ts";
import { ownValue } from "../../../text/json.ts";
import { newPublicKey, privateMembers } from "../../records/keys/keys.ts";

interface Workload extends WorkloadSetting {
  readonly name: string;
  /** At `<base>/w/NAME`: discovery and keys, and nothing else. */
  readonly issuer: string;
}

type Where = Pick<Context, "settings" | "address">;

/** The names of all workloads: those of the fixtures, and one of each kind. */
const workloadNames = ({ settings }: Where): readonly string[] => [
  ...new Set([...Object.keys(settings.workloads), ...workloadKinds]),
];

/** @returns null if there is no such workload */
export function findWorkload({ settings, address }: Where, name: string): Workload | null {
  const kind = workloadKinds.find((one) => one === name);
  const setting = Object.hasOwn(settings.workloads, name) ? settings.workloads[name] : kind && { as: kind };
  return setting === undefined ? null : { ...setting, name, issuer: `${baseOf(address)}/w/${name}` };
}

/** @throws {OperationError} not_found */
export function requireWorkload(ctx: Where, name: string): Workload {
  const workload = findWorkload(ctx, name);
  if (workload !== null) return workload;
  throw new OperationError("not_found", `there is no workload "${name}"`, {
    hint: `Workloads: ${workloadNames(ctx).join(", ")}. Others are in the fixtures: workloads: { ${name}: { as: github-actions } }`,
  });
}

/** What the issuer of a workload publishes (OpenID Connect Discovery 3): it has no endpoint but its keys. */
export const workloadMetadata = ({ issuer }: Workload): Readonly<Record<string, unknown>> => ({
  issuer,
  jwks_uri: `${issuer}${workloadJwksPath}`,
  response_types_supported: ["id_token"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
  claims_supported: ["sub", "aud", "exp", "iat", "iss", "jti", "nbf"],
  scopes_supported: ["openid"],
});

export const workloadJwksPath = "/.well-known/jwks";

export const listWorkloads = (ctx: Where) =>
  workloadNames(ctx).flatMap((one) => {
    const found = findWorkload(ctx, one);
    return found === null ? [] : [{ name: one, as: found.as, issuer: found.issuer }];
  });

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
