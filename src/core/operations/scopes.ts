import { nothing, reads } from "./operation.ts";

/** Scopes. */

export const scopeOperations = {
  "scopes.list": reads("/scopes", {
    role: "reader",
    summary: "List the scopes that clients can request",
    input: nothing,
    answer: (zod) =>
      zod.array(
        zod.object({
          name: zod.string(),
          builtIn: zod.boolean().describe("false: a fixture defines it"),
          description: zod.record(zod.string(), zod.string()).describe("By language"),
          claims: zod.array(zod.string()).describe("What it releases"),
        }),
      ),
    run: async (ctx) => (await import("../scopes/scopes.ts")).listScopes(ctx),
  }),
};
