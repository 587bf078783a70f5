import type { Context } from "../context.ts";
import { tokenFlaws, type TokenFlaw } from "./controls/faults/flaws/access-token.ts";
import { bendClaims, bendType, madeAt, signFlawed, warningsOf } from "./controls/faults/token-flaws.ts";
import { tokenTypes } from "../records/keys/signer.ts";
import { seconds, tenYears } from "../../text/time.ts";
import { kinds } from "../protocol/workloads/kinds.ts";
import { requireWorkload, workloadSigner } from "../protocol/workloads/workloads.ts";

/** Issues a token of a workload, as the place where it runs would. */

type WorkloadTokenInput = Readonly<Partial<Record<TokenFlaw, boolean | undefined>>> & {
  /** The name of a workload. */
  readonly name: string;
  readonly audience?: string | undefined;
  /** Seconds. */
  readonly expires_in?: number | undefined;
  /** Claims in place of those of the workload; `sub` may be among them. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
};

export interface WorkloadToken {
  readonly token: string;
  readonly issuer: string;
  /** Seconds until it expires; negative for one that has. */
  readonly expires_in: number;
  /** One sentence for each thing that is wrong on purpose. */
  readonly warnings: readonly string[];
}

/** @throws {OperationError} not_found */
export async function issueWorkloadToken(ctx: Context, input: WorkloadTokenInput): Promise<WorkloadToken> {
  const workload = requireWorkload(ctx, input.name);
  const flaws = tokenFlaws.filter((flaw) => input[flaw] === true);
  const kind = kinds[workload.as];
  const life = input.expires_in ?? kind.life;
  const claims = kind.claims({ ...workload.claims, ...input.claims });
  const audience = input.audience ?? kind.audience(claims);
  const at = madeAt(ctx, flaws, life);
  const now = seconds(at);
  const whole = {
    jti: ctx.random(16),
    iss: workload.issuer,
    // Kubernetes has a list (RFC 7519 4.1.3).
    aud: workload.as === "kubernetes" ? [audience] : audience,
    iat: now,
    nbf: now,
    exp: now + life,
    ...claims,
  };
  const bent = bendClaims(ctx, whole, flaws, life);
  const signer = await workloadSigner(ctx, workload.name);
  const token = await signFlawed(ctx, { typ: bendType(tokenTypes.id, flaws), signer, claims: bent }, flaws);
  const { exp = seconds(ctx) + tenYears } = bent;
  return { token, issuer: workload.issuer, expires_in: Number(exp) - seconds(ctx), warnings: warningsOf(flaws) };
}
