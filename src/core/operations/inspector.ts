import { changes, creates } from "./operation.ts";

/** The inspector. */

export const inspectorOperations = {
  "inspector.open": changes(
    "/inspector/open",
    {
      role: "reader",
      summary: "Make a key that opens the inspector once, within ten minutes",
      note: "A sign-in that the ledger does not hold: 404.",
      input: async (zod) => {
        const { flowForm, lastFlow } = await import("../ledger/filter.ts");
        const error = `must be the id of a sign-in, such as f7, or "${lastFlow}"`;
        const flow = zod.string().regex(new RegExp(`${flowForm.source}|^${lastFlow}$`), { error });
        const about = "Where it opens; last: the sign-in that was refused last; absent: the list of all";
        return zod.strictObject({ flow: flow.optional().describe(about) });
      },
      answer: (zod) =>
        zod.object({ url: zod.string().describe("With the key"), expires_in: zod.int().describe("Seconds") }),
      refuses: [404],
      run: async (ctx, { flow }, { by }) => {
        const name = flow && (await (await import("../ledger/filter.ts")).requireFlow(ctx.ledger, flow));
        return (await import("../inspector/access.ts")).inspectorAddress(ctx, by ?? ctx.inspector.owner, name);
      },
    },
    { ...creates, changes: false, needsServer: true },
  ),
};
