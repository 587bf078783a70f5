import type { Client, Grant, ReadTx } from "../store/store.ts";
import { releasingScopes, singleClaim } from "./claims.ts";
import { mayAskClaim } from "./claims-parameter.ts";
import { mayAsk } from "./scopes.ts";

/** A claim that was asked for by itself (OpenID Connect Core 5.5), where the grant has a scope that releases it: nobody need be asked. */
export function isCovered(tx: ReadTx, client: Client, grant: Pick<Grant, "scopes">, scope: string): boolean {
  const claim = singleClaim(scope);
  return claim !== null && releasingScopes(tx, client, claim).some((name) => grant.scopes.includes(name));
}

/** Whether the client's registered `scope`, which may have been changed since, still lets it ask for this one. */
export function mayStillAsk(tx: ReadTx, client: Client, scope: string): boolean {
  const claim = singleClaim(scope);
  return claim === null ? mayAsk(client, scope) : mayAskClaim(tx, client, claim);
}

/** Those of these scopes that the grant and the client's registration allow now: both may have been changed since they were asked for (CONTRACT 2.1, 2.2). */
export const grantedNow = (
  tx: ReadTx,
  client: Client,
  grant: Pick<Grant, "scopes">,
  scopes: readonly string[],
): readonly string[] =>
  scopes.filter(
    (scope) => (grant.scopes.includes(scope) || isCovered(tx, client, grant, scope)) && mayStillAsk(tx, client, scope),
  );
