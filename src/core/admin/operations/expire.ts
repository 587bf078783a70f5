import * as z from "zod";
import { declare } from "./operation.ts";
import { needsOneOf, notBeside, withRules } from "./schemas/rules.ts";
import { expirable, expire } from "../../testing/controls/expire.ts";

/** Tokens, sessions and codes that expire before their time. */

const flag = z.boolean().optional();

export const expireOperations = {
  expire: declare({
    input: withRules(
      z.strictObject({
        user: z.string().optional(),
        client: z.string().optional(),
        all: flag,
        access: flag,
        refresh: flag,
        sessions: flag,
        codes: flag,
      }),
      needsOneOf(["user", "client", "all"], "needs user, client or all"),
      notBeside("all", ["user", "client"]),
    ),
    answer: z.object({
      user: z.string().nullable().describe("null: of all users"),
      client: z.string().nullable().describe("null: of all clients"),
      expired: z.array(z.enum(expirable)),
      sessions: z.int().describe("How many ended"),
      codes: z.int().describe("How many waited to be used"),
    }),
    refuses: [404],
    run: async (ctx, input) => expire(ctx, input),
  }),
};
