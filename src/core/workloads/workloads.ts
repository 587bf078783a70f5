/*
 * core/workloads: the tokens that GitHub, GitLab and Kubernetes give to what runs there. workloads.ts says which workloads there are, and what
 * the issuer of each publishes; kinds.ts has their claims, keys.ts their keys, and issue.ts issues a token.
 */
import type { Context } from "../context.ts";
import { baseOf } from "../endpoints.ts";
import { OperationError } from "../errors.ts";
import { workloadKinds, type WorkloadKind, type WorkloadSetting } from "./kinds.ts";

export interface Workload extends WorkloadSetting {
  readonly name: string;
  /** At `<base>/w/NAME`: discovery and keys, and nothing else. */
  readonly issuer: string;
}

type Where = Pick<Context, "settings" | "address">;

/** The names of all workloads: those of the fixtures, and one of each kind. */
export const workloadNames = ({ settings }: Where): readonly string[] => [
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

/** How a workload is shown. */
export interface WorkloadView {
  readonly name: string;
  readonly as: WorkloadKind;
  readonly issuer: string;
}

export const listWorkloads = (ctx: Where): readonly WorkloadView[] =>
  workloadNames(ctx).flatMap((one) => {
    const found = findWorkload(ctx, one);
    return found === null ? [] : [{ name: one, as: found.as, issuer: found.issuer }];
  });
