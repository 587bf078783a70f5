import { changes, consent, creates, edits, none, reads, removes } from "./operation.ts";
import { needsOneOf, notBeside, withRules } from "./schemas/rules.ts";

/** Consent grants. */

const grants = () => import("../grants/admin.ts");
const revocation = () => import("../grants/revoke.ts");
const grant = async () => (await import("./schemas/shown.ts")).grant;

export const grantOperations = {
  "grants.list": reads("/grants", {
    role: "reader",
    summary: "List grants",
    input: (zod) => zod.strictObject({ user: zod.string().optional(), client: zod.string().optional() }),
    answer: async (zod) => zod.array(await grant()),
    refuses: [404],
    run: async (ctx, input) => (await grants()).listGrants(ctx, input),
  }),
  "grants.add": changes(
    "/grants",
    {
      role: "tester",
      summary: "Record a consent, as `issue.grant` does",
      input: consent,
      answer: grant,
      refuses: [404, 409],
      run: async (ctx, input) => (await import("../tokens/issue.ts")).issueGrant(ctx, input),
    },
    creates,
  ),
  "grants.show": reads("/grants/:id", {
    role: "reader",
    summary: "Show a grant",
    input: (zod) => zod.strictObject({ id: zod.string() }),
    answer: grant,
    refuses: [404],
    run: async (ctx, input) => (await grants()).showGrant(ctx, input),
  }),
  "grants.edit": changes(
    "/grants/:id",
    {
      summary: "Set the scopes of a grant",
      input: (zod) =>
        zod.strictObject({
          id: zod.string(),
          scope: zod.string().regex(/[^ ]/, { error: "needs at least one scope" }),
        }),
      answer: grant,
      refuses: [404, 409],
      run: async (ctx, input) => (await grants()).editGrant(ctx, input),
    },
    edits,
  ),
  "grants.revoke": changes(
    "/grants/:id",
    {
      role: "tester",
      summary: "Revoke a grant: its tokens become invalid, permanently",
      input: (zod) => zod.strictObject({ id: zod.string() }),
      answer: none,
      refuses: [404],
      run: async (ctx, input) => (await revocation()).revokeOneGrant(ctx, input),
    },
    removes,
  ),
  revoke: changes("/revoke", {
    role: "tester",
    summary: "Revoke grants: of a user, of a client, of both, one, or all",
    input: (zod) =>
      withRules(
        zod.strictObject({
          user: zod.string().optional(),
          client: zod.string().optional(),
          grant: zod.string().optional().describe("The id of one grant"),
          all: zod.literal(true).optional().describe("All grants of all users"),
        }),
        needsOneOf(["user", "client", "grant", "all"], "needs a user, a client, the id of a grant, or all"),
        notBeside("all", ["user", "client", "grant"]),
      ),
    answer: async (zod) => zod.object({ revoked: zod.array(await grant()) }),
    refuses: [404],
    run: async (ctx, input) => (await revocation()).revokeGrants(ctx, input),
  }),
};
