import type { Client, Grant, ReadTx, Tx, User } from "../store/store.ts";
import type { Context } from "./context.ts";
import { requireClient } from "./clients-admin.ts";
import { OperationError } from "./errors.ts";
import { commandFor } from "../shell-word.ts";
import { isDefined, mayAsk, splitScope } from "./scopes.ts";
import { requireUser } from "./users.ts";

/** Consent grants: one a user and client (CONTRACT 2.2). */

/** A grant as the command line, the control API and the library show it (CONTRACT 6). */
export interface GrantView {
  readonly id: string;
  /** The user's name; the id where the user is gone. */
  readonly user: string;
  readonly client: string;
  /** Space-separated. */
  readonly scope: string;
  readonly status: Grant["status"];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revokedAt: string | null;
}

export const viewGrant = (tx: ReadTx, grant: Grant): GrantView => ({
  id: grant.id,
  user: tx.get("users", grant.userId)?.username ?? grant.userId,
  client: grant.clientId,
  scope: grant.scopes.join(" "),
  status: grant.status,
  createdAt: grant.createdAt,
  updatedAt: grant.updatedAt,
  revokedAt: grant.revokedAt,
});

/** The grant of this user and client, revoked or not. */
export const findGrant = (tx: ReadTx, userId: string, clientId: string): Grant | undefined =>
  tx.find("grants", "userAndClient", `${userId} ${clientId}`);

/** The grant of this user and client if it is active. */
export function activeGrant(tx: ReadTx, userId: string, clientId: string): Grant | undefined {
  const grant = findGrant(tx, userId, clientId);
  return grant?.status === "active" ? grant : undefined;
}

/**
 * Records what was decided: the scopes of the request become those allowed, granted scopes that were not asked for stay.
 * A revoked grant becomes active under a new epoch, so that what was issued before stays dead.
 * @param asked the scopes of the request
 * @param allowed those of them that were allowed
 */
export function recordGrant(
  tx: Tx,
  ctx: Context,
  decision: {
    readonly user: User;
    readonly client: Client;
    readonly asked: readonly string[];
    readonly allowed: readonly string[];
    readonly by: Grant["by"];
  },
): Grant {
  const { user, client, asked, allowed, by } = decision;
  const at = new Date(ctx.now()).toISOString();
  const used = by === "user" || by === "policy" ? { lastUsedAt: at } : null;
  const previous = findGrant(tx, user.id, client.client_id);
  if (previous?.status === "active") {
    const kept = previous.scopes.filter((scope) => !asked.includes(scope) || allowed.includes(scope));
    const scopes = [...kept, ...allowed.filter((scope) => !kept.includes(scope))];
    if (scopes.length === previous.scopes.length && scopes.every((scope) => previous.scopes.includes(scope))) {
      return previous;
    }
    const grant: Grant = { ...previous, scopes, by, updatedAt: at, ...used };
    tx.put("grants", grant);
    return grant;
  }
  const grant: Grant = {
    id: previous?.id ?? `g_${ctx.random(9)}`,
    userId: user.id,
    clientId: client.client_id,
    scopes: [...allowed],
    status: "active",
    epoch: ctx.random(9),
    by,
    createdAt: at,
    updatedAt: at,
    revokedAt: null,
    ...used,
  };
  tx.put("grants", grant);
  return grant;
}

/** Revokes a grant: with it every token and unused code of that user and client dies, for good. */
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

/** Which grants are meant: by user, by client, by both, or one by its id. */
export interface GrantSelection {
  readonly user?: string | undefined;
  readonly client?: string | undefined;
  readonly grant?: string | undefined;
}

function requireGrant(tx: ReadTx, id: string): Grant {
  const grant = tx.get("grants", id);
  if (grant === undefined) {
    throw new OperationError("not_found", `no grant "${id}"`, { hint: "See them: idp grants list" });
  }
  return grant;
}

function selectGrants(tx: ReadTx, selection: GrantSelection): readonly Grant[] {
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
        hint: "Make it anew: idp issue grant",
      });
    }
    const scopes = scopesFor(tx, requireClient(tx, grant.clientId), input.scope);
    const updatedAt = new Date(ctx.now()).toISOString();
    const changed: Grant = { ...grant, scopes, by: "cli", updatedAt };
    tx.put("grants", changed);
    return viewGrant(tx, changed);
  });

/** A scope that nobody defined is a mistake here, where an authorization request would go on without it. */
function scopesFor(tx: ReadTx, client: Client, scope: string): readonly string[] {
  const names = splitScope(scope);
  const wrong = names.filter((name) => !isDefined(tx, name) || !mayAsk(client, name));
  if (names.length > 0 && wrong.length === 0) return names;
  const why =
    names.length === 0
      ? "a grant needs at least one scope"
      : `"${wrong.join(" ")}" is not defined, or not in the scope of client "${client.client_id}"`;
  throw new OperationError("refused", why, {
    hint: `What it may ask for: ${commandFor("idp clients show", client.client_id)}`,
  });
}

/** Revokes one grant; one that is revoked already stays so. @throws {OperationError} not_found */
export const revokeOneGrant = (ctx: Context, input: { readonly id: string }): Promise<null> =>
  ctx.store.transaction((tx) => {
    const grant = requireGrant(tx, input.id);
    if (grant.status === "active") revokeGrant(tx, ctx, grant, "operator");
    return null;
  });

/**
 * Revokes the active ones of the grants that are meant. Known names without an active grant: nothing is revoked, and that is no error.
 * @throws {OperationError} not_found for an unknown name; usage where nothing is named
 */
export async function revokeGrants(
  ctx: Context,
  selection: GrantSelection,
): Promise<{ readonly revoked: readonly GrantView[] }> {
  if (selection.user === undefined && selection.client === undefined && selection.grant === undefined) {
    throw new OperationError("usage", "revoke needs a user, a client or a grant id", {
      hint: "idp revoke --user alice --client demo-app",
    });
  }
  return ctx.store.transaction((tx) => ({
    revoked: selectGrants(tx, selection)
      .filter((grant) => grant.status === "active")
      .map((grant) => viewGrant(tx, revokeGrant(tx, ctx, grant, "operator"))),
  }));
}
