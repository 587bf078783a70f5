import type { Grant, Tx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { type GrantSelection, type GrantView, requireGrant, selectGrants, viewGrant } from "./admin.ts";

/** The revocation of grants: by `idp revoke`, the control API, the account page, and with a banned user. */

/** Revokes a grant: every token and unused code of that user and client becomes invalid, permanently. */
export function revokeGrant(
  tx: Tx,
  ctx: Pick<Context, "now">,
  grant: Grant,
  by: NonNullable<Grant["revokedBy"]>,
): Grant {
  const at = new Date(ctx.now()).toISOString();
  const revoked: Grant = { ...grant, status: "revoked", updatedAt: at, revokedAt: at, revokedBy: by };
  tx.put("grants", revoked);
  return revoked;
}

/** Revokes one grant; one that is revoked already stays so. @throws {OperationError} not_found */
export const revokeOneGrant = (ctx: Context, input: { readonly id: string }): Promise<null> =>
  ctx.store.transaction((tx) => {
    const grant = requireGrant(tx, input.id);
    if (grant.status === "active") revokeGrant(tx, ctx, grant, "operator");
    return null;
  });

/**
 * Revokes the selected grants that are active. If there are none, nothing is revoked, which is not an error.
 * @param selection all grants if it names none
 * @throws {OperationError} not_found for an unknown name
 */
export function revokeGrants(
  ctx: Context,
  selection: GrantSelection,
): Promise<{ readonly revoked: readonly GrantView[] }> {
  return ctx.store.transaction((tx) => ({
    revoked: selectGrants(tx, selection)
      .filter((grant) => grant.status === "active")
      .map((grant) => viewGrant(tx, revokeGrant(tx, ctx, grant, "operator"))),
  }));
}
