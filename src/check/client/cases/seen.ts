import type { Recorded } from "../../frame/idp.ts";
import type { Claims } from "../attempt.ts";

/** What the app got of idp: the claims of the user. */

/** Where an app reads claims. */
export const places = ["token", "userinfo"] as const;
export type Place = (typeof places)[number];

/** The claims of the user as the app got them. */
export function claimsIn(records: readonly Recorded[]): Readonly<Record<Place, Claims>> {
  const bodyOf = (endpoint: string): Claims =>
    Object(records.findLast((one) => one.endpoint === endpoint && one.status === 200)?.response?.["body"]) as Claims;
  const idToken = Object(bodyOf("token")["id_token"]) as Claims;
  return { token: Object(idToken["claims"]) as Claims, userinfo: bodyOf("userinfo") };
}

/** What UserInfo has of a person below `user`, beside the claims of OpenID Connect; empty in an ID token. */
export const nested = (claims: Claims): Claims =>
  typeof claims["user"] === "object" && claims["user"] !== null ? (claims["user"] as Claims) : {};

/** Those of these names that are there. */
export const pick = (claims: Claims, names: readonly string[]): Claims =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => names.includes(name)));
