import { changes } from "./operation.ts";
import { needsOneOf, notBeside, withRules } from "./schemas/rules.ts";

/** Tokens, sessions and codes that expire before their time. */

const expiry = () => import("../controls/expire.ts");

export const expireOperations = {
  expire: changes("/expire", {
    role: "tester",
    summary: "Let what was issued so far expire now: access tokens, unless something else is named",
    input: (zod) => {
      const flag = zod.boolean().optional();
      return withRules(
        zod.strictObject({
          user: zod.string().optional(),
          client: zod.string().optional(),
          all: flag,
          access: flag,
          refresh: flag,
          sessions: flag,
          codes: flag,
        }),
        needsOneOf(["user", "client", "all"], "needs user, client or all"),
        notBeside("all", ["user", "client"]),
      );
    },
    answer: async (zod) =>
      zod.object({
        user: zod.string().nullable().describe("null: of all users"),
        client: zod.string().nullable().describe("null: of all clients"),
        expired: zod.array(zod.enum((await expiry()).expirable)),
        sessions: zod.int().describe("How many ended"),
        codes: zod.int().describe("How many waited to be used"),
      }),
    refuses: [404],
    run: async (ctx, input) => (await expiry()).expire(ctx, input),
  }),
};
