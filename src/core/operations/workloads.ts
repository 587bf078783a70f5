import { changes, creates, reads } from "./operation.ts";

/** Workloads, and their tokens. */

const workloads = () => import("../workloads/workloads.ts");

export const workloadOperations = {
  "workloads.list": reads("/workloads", {}, async (ctx) => (await workloads()).listWorkloads(ctx)),
  "workloads.issue": changes(
    "/workloads/:name/token",
    {
      name: "string",
      audience: "string?",
      expires_in: "number?",
      claims: "any?",
      expired: "boolean?",
      not_yet_valid: "boolean?",
      wrong_issuer: "boolean?",
      wrong_audience: "boolean?",
      missing_issuer: "boolean?",
      missing_audience: "boolean?",
      missing_expiry: "boolean?",
      wrong_type: "boolean?",
      bad_signature: "boolean?",
      unknown_kid: "boolean?",
      alg_none: "boolean?",
    },
    async (ctx, input) => (await import("../workloads/issue.ts")).issueWorkloadToken(ctx, input),
    creates,
  ),
};
