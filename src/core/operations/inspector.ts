import { changes, creates } from "./operation.ts";

/** The inspector. */

export const inspectorOperations = {
  "inspector.open": changes(
    "/inspector/open",
    { flow: "string?" },
    async (ctx, { flow }) => {
      if (flow !== undefined) (await import("../testing/filter.ts")).requireFlow(ctx.ledger, flow);
      return (await import("../inspector/access.ts")).inspectorAddress(ctx, flow);
    },
    { ...creates, changes: false, needsServer: true },
  ),
};
