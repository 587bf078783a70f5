import { changes } from "./operation.ts";

/** Tokens, sessions and codes that expire before their time. */

const kinds = ["access", "refresh", "sessions", "codes"] as const;

export const expireOperations = {
  expire: changes("/expire", {
    role: "tester",
    summary: "Let what was issued so far expire now: access tokens, unless something else is named",
    input: (zod) => {
      const flag = zod.boolean().optional();
      return zod
        .strictObject({
          user: zod.string().optional(),
          client: zod.string().optional(),
          all: flag,
          access: flag,
          refresh: flag,
          sessions: flag,
          codes: flag,
        })
        .refine(({ user, client, all }) => (user ?? client) !== undefined || all === true, {
          error: "needs user, client or all",
          params: { fields: ["user", "client", "all"] },
        })
        .refine(({ user, client, all }) => all !== true || (user ?? client) === undefined, {
          error: "is given beside user or client; leave one of them out",
          path: ["all"],
        })
        .meta({
          anyOf: [
            { anyOf: [{ required: ["user"] }, { required: ["client"] }], properties: { all: { const: false } } },
            { required: ["all"], properties: { all: { const: true }, user: false, client: false } },
          ],
        });
    },
    answer: (zod) =>
      zod.object({
        user: zod.string().nullable().describe("null: of all users"),
        client: zod.string().nullable().describe("null: of all clients"),
        expired: zod.array(zod.enum(kinds)),
        sessions: zod.int().describe("How many ended"),
        codes: zod.int().describe("How many waited to be used"),
      }),
    refuses: [404],
    run: async (ctx, input) => (await import("../controls/expire.ts")).expire(ctx, input),
  }),
};
