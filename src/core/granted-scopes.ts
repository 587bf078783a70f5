import type { Client, Grant, ReadTx } from "../store/store.ts";
import { releasingScopes, singleClaim } from "./claims.ts";

/** A claim that was asked for by itself (OpenID Connect Core 5.5), where the grant has a scope that releases it: nobody need be asked. */
export function isCovered(tx: ReadTx, client: Client, grant: Pick<Grant, "scopes">, scope: string): boolean {
  const claim = singleClaim(scope);
  return claim !== null && releasingScopes(tx, client, claim).some((name) => grant.scopes.includes(name));
}

/** Those of these scopes that the grant allows now: it may have been changed since they were asked for (CONTRACT 2.2). */
export const grantedNow = (
  tx: ReadTx,
  client: Client,
  grant: Pick<Grant, "scopes">,
  scopes: readonly string[],
): readonly string[] => scopes.filter((scope) => grant.scopes.includes(scope) || isCovered(tx, client, grant, scope));
