/*
 * core/sign-in/grants: consent grants, one per user and client. grants.ts records them, notes when a client last used one, and says what a
 * grant allows now; revoke.ts revokes them, for the user and for the operator; admin.ts shows and edits them, for the operator.
 */
import { userAndClient, type Client, type Grant, type ReadTx, type Tx, type User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { claimScope, releasingScopes, singleClaim, type Defaults } from "../../records/scopes/claims.ts";
import { mayAsk, splitScope, mayAskClaim } from "../../records/scopes/scopes.ts";

/** The grant of this user and client, revoked or not. */
export const findGrant = (tx: ReadTx, userId: string, clientId: string): Grant | undefined =>
  tx.find("grants", "userAndClient", userAndClient(userId, clientId));

/** The grant of this user and client if it is active. */
export function activeGrant(tx: ReadTx, userId: string, clientId: string): Grant | undefined {
  const grant = findGrant(tx, userId, clientId);
  return grant?.status === "active" ? grant : undefined;
}

/** Whether the user has not allowed a host yet that a pattern of the client lets in. */
export const isNewHost = ({ hosts = [] }: Pick<Grant, "hosts">, host: string): boolean => !hosts.includes(host);

/** So many are remembered; the user is asked again for one that was forgotten. */
const maxHosts = 100;

const withHost = (hosts: readonly string[] = [], host: string | null): readonly string[] =>
  host === null ? hosts : [...hosts.filter((one) => one !== host), host].slice(-maxHosts);

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
    /** The issuer that allowed them, if one did. */
    readonly issuer?: string;
    /** The host that the user allowed, where a pattern of the client let it in. */
    readonly host?: string | null;
  },
): Grant {
  const { user, client, asked, allowed, by, issuer, host = null } = decision;
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
    const hosts = withHost(previous.hosts, host);
    const isSame = sameNames(scopes, previous.scopes) && sameNames(declined, declinedBefore);
    if (isSame && sameNames(hosts, previous.hosts ?? [])) return previous;
    const { issuer: _, ...rest } = previous;
    const more = { ...(hosts.length > 0 && { hosts }), ...source, updatedAt: at, ...used };
    const grant: Grant = { ...rest, scopes, declined, ...more };
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
    ...(host !== null && { hosts: [host] }),
    ...used,
  };
  tx.put("grants", grant);
  return grant;
}

/** Milliseconds: `lastUsedAt`, which the account page shows, is exact to an hour, so that few token requests write the grant. */
const grain = 3_600_000;

/** The app received a token. A new consent has just written the time, so the first token writes nothing. */
export function recordUse(tx: Tx, ctx: Pick<Context, "now">, grant: Grant): void {
  const { lastUsedAt } = grant;
  if (lastUsedAt !== undefined && ctx.now() - Date.parse(lastUsedAt) < grain) return;
  tx.put("grants", { ...grant, lastUsedAt: new Date(ctx.now()).toISOString() });
}

/** Whom a token speaks for (`tokens/state.ts`). */
interface GrantedToken {
  readonly client: Client;
  /** Null for a token without a user. */
  readonly grant: Grant | null;
  /** For a token from a token exchange: the clients of the tokens it was exchanged for. */
  readonly origins: readonly Client[];
}

/** Whether this is a single claim (OpenID Connect Core 5.5) that a granted scope already releases: then no consent is needed. */
export function isCovered(
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  grant: Pick<Grant, "scopes">,
  scope: string,
): boolean {
  const claim = singleClaim(scope);
  return claim !== null && releasingScopes(tx, ctx, client, claim).some((name) => grant.scopes.includes(name));
}

/** Whether the client's registered `scope`, which may have been changed since, still lets it ask for this one. */
export function mayStillAsk(tx: ReadTx, ctx: Defaults, client: Client, scope: string): boolean {
  const claim = singleClaim(scope);
  return claim === null ? mayAsk(client, scope) : mayAskClaim(tx, ctx, client, claim);
}

/**
 * The scopes that the grant and the client's registration still allow: both may have changed since the request.
 * After a token exchange the token belongs to another client than the grant: then both clients must be allowed to ask for a scope.
 */
export const grantedNow = (
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  grant: Pick<Grant, "scopes" | "clientId">,
  scopes: readonly string[],
): readonly string[] => {
  const owner = grant.clientId === client.client_id ? undefined : tx.get("clients", grant.clientId);
  return scopes.filter(
    (scope) =>
      (grant.scopes.includes(scope) || isCovered(tx, ctx, client, grant, scope)) &&
      mayStillAsk(tx, ctx, client, scope) &&
      (owner === undefined || mayStillAsk(tx, ctx, owner, scope)),
  );
};

/** The active grant of this user and client, if it allows all of these scopes now. */
export function grantFor(
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  userId: string,
  scopes: readonly string[],
): Grant | undefined {
  const grant = activeGrant(tx, userId, client.client_id);
  const allows = grant !== undefined && grantedNow(tx, ctx, client, grant, scopes).length === scopes.length;
  return allows ? grant : undefined;
}

/**
 * The scopes of a token that still count; for a token without a user, those that its client may ask for. After a token exchange, the
 * clients of the exchanged tokens must be allowed to ask for them too.
 */
export const scopesNow = (
  tx: ReadTx,
  ctx: Defaults,
  { client, grant, origins }: GrantedToken,
  scope: string | undefined,
): readonly string[] => {
  const names = splitScope(scope);
  const own =
    grant === null
      ? names.filter((name) => mayStillAsk(tx, ctx, client, name))
      : grantedNow(tx, ctx, client, grant, names);
  return origins.length === 0
    ? own
    : own.filter((name) => origins.every((origin) => mayStillAsk(tx, ctx, origin, name)));
};

/** The claims requested by name that are still allowed. A claim that no scope releases needs no grant. */
export const claimsNow = (
  tx: ReadTx,
  ctx: Defaults,
  token: GrantedToken,
  names: readonly string[],
): readonly string[] =>
  names.filter(
    (name) =>
      releasingScopes(tx, ctx, token.client, name).length === 0 ||
      scopesNow(tx, ctx, token, claimScope(name)).length === 1,
  );
