import type { Client, Grant, ReadTx } from "../../../store/store.ts";
import { requireClient } from "../../records/clients/admin.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { findGrant } from "./grants.ts";
import { isDefined, mayAsk, splitScope } from "../../records/scopes/scopes.ts";
import { commandOn } from "../../base/hint.ts";
import { requireUser } from "../../records/users/users.ts";

/** Grants as an operator sees and changes them. */

/** A grant as the command line, the control API and the library show it. */
export type GrantView = ReturnType<typeof viewGrant>;

export const viewGrant = (tx: ReadTx, grant: Grant) => ({
  id: grant.id,
  /** The user's name; the id where the user is gone. */
  user: tx.get("users", grant.userId)?.username ?? grant.userId,
  client: grant.clientId,
  /** Space-separated. */
  scope: grant.scopes.join(" "),
  status: grant.status,
  // The issuer whose ID-JAG named the scopes.
  ...(grant.issuer !== undefined && { by: grant.issuer }),
  createdAt: grant.createdAt,
  updatedAt: grant.updatedAt,
  revokedAt: grant.revokedAt,
});

/** Which grants are meant: by user, by client, by both, or one by its id. */
export interface GrantSelection {
  /** Username. */
  readonly user?: string | undefined;
  /** Client id. */
  readonly client?: string | undefined;
  /** The id of one grant. */
  readonly grant?: string | undefined;
}

export function requireGrant(tx: ReadTx, id: string): Grant {
  const grant = tx.get("grants", id);
  if (grant === undefined) {
    throw new OperationError("not_found", `no grant "${id}"`, {
      hint: { text: "All grants", command: ["idp", "grants", "list"] },
    });
  }
  return grant;
}

export function selectGrants(tx: ReadTx, selection: GrantSelection): readonly Grant[] {
  if (selection.grant !== undefined) return [requireGrant(tx, selection.grant)];
  const user = selection.user === undefined ? undefined : requireUser(tx, selection.user);
  const client = selection.client === undefined ? undefined : requireClient(tx, selection.client);
  if (user !== undefined && client !== undefined) {
    const grant = findGrant(tx, user.id, client.client_id);
    return grant === undefined ? [] : [grant];
  }
  if (user !== undefined) return tx.findAll("grants", "user", user.id);
  if (client !== undefined) return tx.findAll("grants", "client", client.client_id);
  return [...tx.all("grants")];
}

/** The grants of a user, of a client, of both, or all. @throws {OperationError} not_found for an unknown name */
export const listGrants = (ctx: Context, selection: GrantSelection): Promise<GrantView[]> =>
  ctx.store.read((tx) => selectGrants(tx, selection).map((grant) => viewGrant(tx, grant)));

/** One grant. @throws {OperationError} not_found */
export const showGrant = (ctx: Context, input: { readonly id: string }): Promise<GrantView> =>
  ctx.store.read((tx) => viewGrant(tx, requireGrant(tx, input.id)));

/**
 * Sets what an active grant allows; it and its tokens stay.
 * @param input `scope`: space-separated, all of it
 * @throws {OperationError} not_found; conflict for a revoked grant; refused for a scope that its client may not ask for
 */
export const editGrant = (ctx: Context, input: { readonly id: string; readonly scope: string }): Promise<GrantView> =>
  ctx.store.transaction((tx) => {
    const grant = requireGrant(tx, input.id);
    if (grant.status !== "active") {
      throw new OperationError("conflict", `grant "${grant.id}" is revoked, and stays so`, {
        hint: { text: "To make a new one", command: ["idp", "issue", "grant"] },
      });
    }
    const scopes = scopesFor(tx, ctx, requireClient(tx, grant.clientId), input.scope);
    const updatedAt = new Date(ctx.now()).toISOString();
    const { issuer: _, ...rest } = grant;
    const changed: Grant = { ...rest, scopes, by: "cli", updatedAt };
    tx.put("grants", changed);
    return viewGrant(tx, changed);
  });

/** A scope that nobody defined is a mistake here, where an authorization request would go on without it. */
function scopesFor(tx: ReadTx, ctx: Context, client: Client, scope: string): readonly string[] {
  const names = splitScope(scope);
  const wrong = names.filter((name) => !isDefined(tx, ctx, name) || !mayAsk(client, name));
  if (wrong.length === 0) return names;
  const why = `"${wrong.join(" ")}" is not defined, or not in the scope of client "${client.client_id}"`;
  throw new OperationError("refused", why, {
    hint: { text: "To see its scope", command: commandOn(["idp", "clients", "show"], client.client_id) },
  });
}
