import type { Client, ReadTx } from "../../../store/store.ts";
import {
  claimScope,
  isProtocolClaim,
  noClaims,
  releasingScopes,
  type Defaults,
  type RequestedClaims,
} from "./claims.ts";
import { NestingError, parseJson, isObject } from "../../../text/json.ts";
import { OAuthError } from "../../base/errors.ts";
import { mayAskClaim } from "./scopes.ts";

/** The `claims` parameter (OpenID Connect Core 5.5): single claims, beside those of the scopes. */

/** What a request asks for with its `claims` parameter. */
export interface ClaimsRequest {
  readonly claims: RequestedClaims;
  /** The claims that need consent, as scopes of one claim each: the consent page and the grant treat them like other scopes. */
  readonly scopes: readonly string[];
  /** The only user who may sign in (OpenID Connect Core 5.5.1: `sub` with a value). */
  readonly sub: string | null;
  /** The values of `acr` that were asked for, and whether one of them is essential; null: `acr` was not asked for. */
  readonly acr: { readonly values: readonly string[]; readonly essential: boolean } | null;
}

const refuse = (what: string): OAuthError =>
  new OAuthError("invalid_request", `claims ${what}`, {
    rule: "OpenID Connect Core 5.5",
    parameter: "claims",
    fix: 'send a JSON object such as {"id_token":{"email":null}}',
  });

function parse(text: string): Readonly<Record<"userinfo" | "id_token", Record<string, unknown>>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof NestingError) throw refuse(`is not read: ${error.message}`);
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

/** The values asked for; none if any will do. */
function wishedValues(wish: unknown): readonly unknown[] {
  if (!isObject(wish)) return [];
  if (wish["value"] !== undefined) return [wish["value"]];
  return Array.isArray(wish["values"]) ? (wish["values"] as readonly unknown[]) : [];
}

const wishedAcr = (wish: unknown): ClaimsRequest["acr"] =>
  wish === undefined
    ? null
    : { values: wishedValues(wish).map(String), essential: isObject(wish) && wish["essential"] === true };

function wishedSub(wish: unknown): string | null {
  const [value] = wishedValues(wish);
  return typeof value === "string" ? value : null;
}

/**
 * @param text the parameter; undefined: not sent
 * @param scopes the scopes of the request: the claims that they release need no separate consent
 * @throws {OAuthError} invalid_request
 */
export function readClaimsParameter(
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  text: string | undefined,
  scopes: readonly string[],
): ClaimsRequest {
  if (text === undefined) return { claims: noClaims, scopes: [], sub: null, acr: null };
  const { userinfo, id_token: idToken } = parse(text);
  const needConsent = new Set<string>();
  /** Core 5.5.1: unknown claims, and those of scopes that the client may not request, are ignored. */
  const requested = (names: readonly string[], onRequest: readonly string[] = []): readonly string[] =>
    names.filter((name) => {
      if (isProtocolClaim(name)) return onRequest.includes(name);
      const releasing = releasingScopes(tx, ctx, client, name);
      if (releasing.length === 0) return true;
      if (!mayAskClaim(tx, ctx, client, name)) return false;
      if (!releasing.some((scope) => scopes.includes(scope))) needConsent.add(claimScope(name));
      return true;
    });
  const claims = {
    userinfo: requested(Object.keys(userinfo)),
    id_token: requested(Object.keys(idToken), ctx.layout.claimsOnRequest),
  };
  return {
    claims,
    scopes: [...needConsent],
    sub: wishedSub(idToken["sub"]) ?? wishedSub(userinfo["sub"]),
    acr: wishedAcr(Object.hasOwn(idToken, "acr") ? idToken["acr"] : undefined),
  };
}
