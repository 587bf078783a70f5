import type { Client, Grant, ReadTx } from "../../store/store.ts";
import { claimScope, releasingScopes, singleClaim, type Defaults } from "../scopes/claims.ts";
import { activeGrant } from "./grants.ts";
import { mayAsk, splitScope, mayAskClaim } from "../scopes/scopes.ts";

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
  scope: string,
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
