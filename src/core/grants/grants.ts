/*
 * core/grants: consent grants, one per user and client. grants.ts records and revokes them, and notes when a client last used one;
 * granted-scopes.ts says what a grant allows now, admin.ts is for the operator.
 */
import { userAndClient, type Client, type Grant, type ReadTx, type Tx, type User } from "../../store/store.ts";
import type { Context } from "../context.ts";

/** The grant of this user and client, revoked or not. */
export const findGrant = (tx: ReadTx, userId: string, clientId: string): Grant | undefined =>
  tx.find("grants", "userAndClient", userAndClient(userId, clientId));

/** The grant of this user and client if it is active. */
export function activeGrant(tx: ReadTx, userId: string, clientId: string): Grant | undefined {
  const grant = findGrant(tx, userId, clientId);
  return grant?.status === "active" ? grant : undefined;
}

const sameNames = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((name) => others.includes(name));

/**
 * Records a decision: of the scopes of the request, the allowed ones are granted and the others are not. Granted scopes that are not in
 * the request stay. A revoked grant becomes active under a new epoch, so that the tokens of the old one stay invalid.
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
    /** By which issuer, if by one. */
    readonly issuer?: string;
  },
): Grant {
  const { user, client, asked, allowed, by, issuer } = decision;
  const source = { by, ...(issuer !== undefined && { issuer }) };
  const at = new Date(ctx.now()).toISOString();
  const used = by === "user" || by === "policy" ? { lastUsedAt: at } : null;
  const previous = findGrant(tx, user.id, client.client_id);
  const declinedNow = asked.filter((scope) => !allowed.includes(scope));
  if (previous?.status === "active") {
    const kept = previous.scopes.filter((scope) => !asked.includes(scope) || allowed.includes(scope));
    const scopes = [...kept, ...allowed.filter((scope) => !kept.includes(scope))];
    const declinedBefore = previous.declined ?? [];
    const declined = [...declinedBefore.filter((scope) => !asked.includes(scope)), ...declinedNow];
    if (sameNames(scopes, previous.scopes) && sameNames(declined, declinedBefore)) return previous;
    const { issuer: _, ...rest } = previous;
    const grant: Grant = { ...rest, scopes, declined, ...source, updatedAt: at, ...used };
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
    ...source,
    createdAt: at,
    updatedAt: at,
    revokedAt: null,
    ...(declinedNow.length > 0 && { declined: declinedNow }),
    ...used,
  };
  tx.put("grants", grant);
  return grant;
}

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

/** Milliseconds: `lastUsedAt`, which the account page shows, is exact to an hour, so that few token requests write the grant. */
const grain = 3_600_000;

/** The app received a token. A new consent has just written the time, so the first token writes nothing. */
export function recordUse(tx: Tx, ctx: Pick<Context, "now">, grant: Grant): void {
  const { lastUsedAt } = grant;
  if (lastUsedAt !== undefined && ctx.now() - Date.parse(lastUsedAt) < grain) return;
  tx.put("grants", { ...grant, lastUsedAt: new Date(ctx.now()).toISOString() });
}
