import { changes, creates, nothing, reads } from "./operation.ts";
import { atMostOne, notBoth } from "./schemas/rules.ts";

/** Workloads, and their tokens. */

const workloads = () => import("../workloads/workloads.ts");
const kinds = () => import("../workloads/kinds.ts");

/** At most one of each group: two would contradict each other. */
const apart = [
  ["expired", "not_yet_valid", "missing_expiry"],
  ["wrong_issuer", "missing_issuer"],
  ["wrong_audience", "missing_audience"],
  ["bad_signature", "unknown_kid", "alg_none"],
] as const;

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
      summary: "Issue a token of a workload, as the place where it runs would, or bad on purpose",
      input: async (zod) => {
        const { tenYears } = await import("../time.ts");
        const { whole } = await import("./schemas/given.ts");
        const reserved = (await kinds()).reservedInWorkloads.join("|");
        const claim = zod.string().regex(new RegExp(`^(?!(?:${reserved})$)`), {
          error: (issue) => `claim "${String(issue.input)}" cannot be set in the token of a workload`,
        });
        const flag = zod.boolean().optional();
        return zod
          .strictObject({
            name: zod.string(),
            audience: zod.string().optional(),
            expires_in: whole(1, tenYears).optional().describe("Seconds"),
            claims: zod.record(claim, (await import("../fields.ts")).jsonValue).optional(),
            expired: flag,
            not_yet_valid: flag,
            wrong_issuer: flag,
            wrong_audience: flag,
            missing_issuer: flag,
            missing_audience: flag,
            missing_expiry: flag,
            wrong_type: flag,
            bad_signature: flag,
            unknown_kid: flag,
            alg_none: flag,
          })
          .superRefine((input, issues) => {
            for (const flaws of apart) {
              if (atMostOne(...flaws)(input)) continue;
              const [first = "", ...others] = flaws.filter((flaw) => input[flaw] === true);
              const message = `excludes ${others.join(" and ")}. Make a token for each`;
              issues.addIssue({ code: "custom", path: [first], message });
            }
          })
          .meta({
            allOf: apart.flatMap((flaws) =>
              flaws.flatMap((one, at) => flaws.slice(at + 1).map((other) => notBoth(one, other))),
            ),
          });
      },
      answer: (zod) =>
        zod.object({
          token: zod.string(),
          issuer: zod.string().describe("The issuer of the workload, which publishes the key"),
          expires_in: zod.int().describe("Seconds; negative for one that has expired"),
          warnings: zod.array(zod.string()),
        }),
      refuses: [404],
      run: async (ctx, input) => (await import("../workloads/issue.ts")).issueWorkloadToken(ctx, input),
    },
    creates,
  ),
};
