import * as z from "zod";
import { declare } from "./operation.ts";
import { flowForm, lastFlow, requireFlow } from "../../testing/ledger/filter.ts";

/** The inspector. */

const flow = z
  .string()
  .regex(new RegExp(`${flowForm.source}|^${lastFlow}$`), {
    error: `must be the id of a sign-in, such as f7, or "${lastFlow}"`,
  })
  .optional()
  .describe("Where it opens; last: the sign-in that was refused last; absent: the list of all");

export const inspectorOperations = {
  "inspector.open": declare({
    note: "A sign-in that the ledger does not hold: 404.",
    input: z.strictObject({ flow }),
    answer: z.object({ url: z.string().describe("With the key"), expires_in: z.int().describe("Seconds") }),
    refuses: [404],
    run: async (ctx, { flow }, { by }) => {
      const name = flow && (await requireFlow(ctx.ledger, flow));
      return (await import("../../records/inspector/access.ts")).inspectorAddress(ctx, by ?? ctx.inspector.owner, name);
    },
  }),
};
