import * as z from "zod";
import { declare, nothing } from "./operation.ts";
import * as given from "./schemas/given.ts";
import { whole } from "./schemas/times.ts";
import { noFlawsTogether, tokenFlawFields } from "./schemas/token-flaws.ts";
import { withRules } from "./schemas/rules.ts";
import { workloadKinds } from "../../protocol/workloads/kinds.ts";
import { tenYears } from "../../../text/time.ts";

/** Workloads, and their tokens. */

const workloads = () => import("../../protocol/workloads/workloads.ts");

export const workloadOperations = {
  "workloads.list": declare({
    input: nothing,
    answer: z.array(z.object({ name: z.string(), as: z.enum(workloadKinds), issuer: z.string() })),
    run: async (ctx) => (await workloads()).listWorkloads(ctx),
  }),
  "workloads.issue": declare({
    input: withRules(
      z.strictObject({
        name: z.string(),
        audience: z.string().optional(),
        expires_in: whole(1, tenYears).optional().describe("Seconds"),
        claims: given.ownWorkloadClaims.optional(),
        ...tokenFlawFields,
      }),
      ...noFlawsTogether,
    ),
    answer: z.object({
      token: z.string(),
      issuer: z.string().describe("The issuer of the workload, which publishes the key"),
      expires_in: z.int().describe("Seconds; negative for one that has expired"),
      warnings: z.array(z.string()),
    }),
    refuses: [404],
    run: async (ctx, input) => (await import("../../testing/workload-token.ts")).issueWorkloadToken(ctx, input),
  }),
};
