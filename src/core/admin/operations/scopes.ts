import * as z from "zod";
import { declare, nothing } from "./operation.ts";

/** Scopes. */

export const scopeOperations = {
  "scopes.list": declare({
    input: nothing,
    answer: z.array(
      z.object({
        name: z.string(),
        builtIn: z.boolean().describe("false: a fixture defines it"),
        description: z.record(z.string(), z.string()).describe("By language"),
        claims: z.array(z.string()).describe("What it releases"),
      }),
    ),
    run: async (ctx) => (await import("../../records/scopes/scopes.ts")).listScopes(ctx),
  }),
};
