import { changes, creates } from "./operation.ts";

/** The inspector. */

export const inspectorOperations = {
  "inspector.open": changes(
    "/inspector/open",
    {},
    async (ctx) => (await import("../inspector/access.ts")).inspectorAddress(ctx),
    { ...creates, changes: false, needsServer: true },
  ),
};
