import type { Client, ReadTx } from "../store/store.ts";
import { claimScope, releasingScopes } from "./claims.ts";
import { OAuthError } from "./errors.ts";
import { isObject } from "./json-object.ts";
import { mayAsk } from "./scopes.ts";

/** The `claims` parameter (OpenID Connect Core 5.5): single claims, beside those of the scopes. */

/** What a request asks for by its `claims` parameter. */
export interface ClaimsRequest {
  /** As scopes of one claim each, so that consent, grant and tokens treat them as they treat every scope. */
  readonly scopes: readonly string[];
  /** The one user that will do (OpenID Connect Core 5.5.1: `sub` with a value). */
  readonly sub: string | null;
  readonly acr: string | null;
}

const refuse = (what: string): OAuthError =>
  new OAuthError("invalid_request", `claims ${what} (OpenID Connect Core 5.5)`);

function parse(text: string): Readonly<Record<"userinfo" | "id_token", Record<string, unknown>>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse("is not JSON");
  }
  if (!isObject(value)) throw refuse("is not a JSON object");
  const member = (name: "userinfo" | "id_token"): Record<string, unknown> => {
    const given = Object.hasOwn(value, name) ? value[name] : {};
    if (!isObject(given)) throw refuse(`has a member "${name}" that is not an object`);
    for (const [claim, wish] of Object.entries(given)) {
      if (wish !== null && !isObject(wish)) throw refuse(`asks for "${claim}" with neither null nor an object`);
    }
    return given;
  };
  return { userinfo: member("userinfo"), id_token: member("id_token") };
}

/** The value asked for, or the first of several. */
function wishedValue(wish: unknown): string | null {
  if (!isObject(wish)) return null;
  const value = wish["value"] ?? (Array.isArray(wish["values"]) ? (wish["values"] as unknown[])[0] : undefined);
  return typeof value === "string" ? value : null;
}

/** Whether one of the scopes that release a claim is one that the client may ask for. */
export const mayAskClaim = (tx: ReadTx, client: Client, name: string): boolean =>
  releasingScopes(tx, client, name).some((scope) => mayAsk(client, scope));

/**
 * @param text the parameter; undefined: not sent
 * @param scopes the scopes of the request: what those release needs no asking
 * @throws {OAuthError} invalid_request
 */
export function readClaimsParameter(
  tx: ReadTx,
  client: Client,
  text: string | undefined,
  scopes: readonly string[],
): ClaimsRequest {
  if (text === undefined) return { scopes: [], sub: null, acr: null };
  const { userinfo, id_token: idToken } = parse(text);
  const wanted = new Set<string>();
  for (const name of [...Object.keys(userinfo), ...Object.keys(idToken)]) {
    if (releasingScopes(tx, client, name).some((scope) => scopes.includes(scope))) continue;
    // Ignored (5.5.1): claims that nobody knows, and those of scopes that the client may not ask for. What is always there needs no consent.
    if (mayAskClaim(tx, client, name)) wanted.add(claimScope(name));
  }
  return {
    scopes: [...wanted],
    sub: wishedValue(idToken["sub"]) ?? wishedValue(userinfo["sub"]),
    acr: wishedValue(idToken["acr"]),
  };
}
