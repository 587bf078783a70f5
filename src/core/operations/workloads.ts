import { changes, creates, nothing, reads } from "./operation.ts";
import { noFlawsTogether, tokenFlawFields } from "./schemas/token-flaws.ts";
import { withRules } from "./schemas/rules.ts";

/** Workloads, and their tokens. */

const workloads = () => import("../workloads/workloads.ts");
const kinds = () => import("../workloads/kinds.ts");

export const workloadOperations = {
  "workloads.list": reads("/workloads", {
    summary: "List the workloads: those of the fixtures, and one of each kind",
    input: nothing,
    answer: async (zod) =>
      zod.array(zod.object({ name: zod.string(), as: zod.enum((await kinds()).workloadKinds), issuer: zod.string() })),
    run: async (ctx) => (await workloads()).listWorkloads(ctx),
  }),
  "workloads.issue": changes(
    "/workloads/:name/token",
    {
      role: "tester",
      summary: "Issue a token of a workload, as the place where it runs would, or bad on purpose",
      input: async (zod) => {
        const { tenYears } = await import("../../text/time.ts");
        const { ownWorkloadClaims, whole } = await import("./schemas/given.ts");
        return withRules(
          zod.strictObject({
            name: zod.string(),
            audience: zod.string().optional(),
            expires_in: whole(1, tenYears).optional().describe("Seconds"),
            claims: ownWorkloadClaims.optional(),
            ...tokenFlawFields(zod),
          }),
          ...noFlawsTogether,
        );
      },
      answer: (zod) =>
        zod.object({
          token: zod.string(),
          issuer: zod.string().describe("The issuer of the workload, which publishes the key"),
          expires_in: zod.int().describe("Seconds; negative for one that has expired"),
          warnings: zod.array(zod.string()),
        }),
      refuses: [404],
      run: async (ctx, input) => (await import("../workloads/workloads.ts")).issueWorkloadToken(ctx, input),
    },
    creates,
  ),
};
