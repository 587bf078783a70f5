import * as z from "zod";
import { issuerName } from "../../base/identifiers.ts";
import { reservedInWorkloads } from "../../records/scopes/claim-table.ts";
import { workloadKinds } from "./kinds.ts";
import { jsonValue } from "../../records/fields.ts";

/** What fixtures may say of workloads. */

const claimOfWorkload = z
  .string()
  .regex(new RegExp(`^(?!(?:${reservedInWorkloads.join("|")})$).`), { error: "is set by the issuer of the workload" });

const workloadSchema = z.strictObject({
  as: z.enum(workloadKinds).describe("Whose tokens they are like"),
  claims: z.record(claimOfWorkload, jsonValue).optional().describe("In place of the usual ones; sub may be among them"),
});

export const workloadsSchema = z
  .record(z.string().regex(issuerName, { error: "must be 1 to 64 letters, digits, _ and -" }), workloadSchema)
  .describe("Workloads, whose tokens idp exec --workload and idp token issue --workload give");
