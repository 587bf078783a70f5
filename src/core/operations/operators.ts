import { nothing, reads } from "./operation.ts";

/** Who changed what. */

export const actOperations = {
  acts: reads(
    "/acts",
    {
      role: "reader",
      summary: "List the last 200 changes that were asked for, with the name of the token, the oldest first",
      input: nothing,
      answer: async (zod) => zod.array((await import("./schemas/shown.ts")).act),
      run: async (ctx) => (await import("../operators/acts.ts")).listActs(ctx),
    },
    { needsServer: "unless shared" },
  ),
};
