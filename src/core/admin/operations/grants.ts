import * as z from "zod";
import { consent, declare, none } from "./operation.ts";
import * as shown from "./schemas/shown.ts";
import { needsOneOf, notBeside, withRules } from "./schemas/rules.ts";

/** Consent grants. */

const grants = () => import("../../sign-in/grants/admin.ts");
const revocation = () => import("../../sign-in/grants/revoke.ts");

export const grantOperations = {
  "grants.list": declare({
    input: z.strictObject({ user: z.string().optional(), client: z.string().optional() }),
    answer: z.array(shown.grant),
    refuses: [404],
    run: async (ctx, input) => (await grants()).listGrants(ctx, input),
  }),
  "grants.add": declare({
    input: consent,
    answer: shown.grant,
    refuses: [404, 409],
    run: async (ctx, input) => (await import("../../protocol/tokens/issue.ts")).issueGrant(ctx, input),
  }),
  "grants.show": declare({
    input: z.strictObject({ id: z.string() }),
    answer: shown.grant,
    refuses: [404],
    run: async (ctx, input) => (await grants()).showGrant(ctx, input),
  }),
  "grants.edit": declare({
    input: z.strictObject({
      id: z.string(),
      scope: z.string().regex(/[^ ]/, { error: "needs at least one scope" }),
    }),
    answer: shown.grant,
    refuses: [404, 409],
    run: async (ctx, input) => (await grants()).editGrant(ctx, input),
  }),
  "grants.revoke": declare({
    input: z.strictObject({ id: z.string() }),
    answer: none,
    refuses: [404],
    run: async (ctx, input) => (await revocation()).revokeOneGrant(ctx, input),
  }),
  revoke: declare({
    input: withRules(
      z.strictObject({
        user: z.string().optional(),
        client: z.string().optional(),
        grant: z.string().optional().describe("The id of one grant"),
        all: z.literal(true).optional().describe("All grants of all users"),
      }),
      needsOneOf(["user", "client", "grant", "all"], "needs a user, a client, the id of a grant, or all"),
      notBeside("all", ["user", "client", "grant"]),
    ),
    answer: z.object({ revoked: z.array(shown.grant) }),
    refuses: [404],
    run: async (ctx, input) => (await revocation()).revokeGrants(ctx, input),
  }),
};
