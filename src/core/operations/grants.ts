import { changes, consentFields, creates, edits, reads, removes } from "./operation.ts";

/** Consent grants. */

const grants = () => import("../grants/admin.ts");
const issue = () => import("../tokens/issue.ts");

export const grantOperations = {
  "grants.list": reads("/grants", { user: "string?", client: "string?" }, async (ctx, input) =>
    (await grants()).listGrants(ctx, input),
  ),
  "grants.add": changes(
    "/grants",
    consentFields,
    async (ctx, input) => (await issue()).issueGrant(ctx, input),
    creates,
  ),
  "grants.show": reads("/grants/:id", { id: "string" }, async (ctx, input) => (await grants()).showGrant(ctx, input)),
  "grants.edit": changes(
    "/grants/:id",
    { id: "string", scope: "string" },
    async (ctx, input) => (await grants()).editGrant(ctx, input),
    edits,
  ),
  "grants.revoke": changes(
    "/grants/:id",
    { id: "string" },
    async (ctx, input) => (await grants()).revokeOneGrant(ctx, input),
    removes,
  ),
  revoke: changes("/revoke", { user: "string?", client: "string?", grant: "string?" }, async (ctx, input) =>
    (await grants()).revokeGrants(ctx, input),
  ),
};
