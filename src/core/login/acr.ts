import { OAuthError } from "../errors.ts";

/**
 * `acr` reports what happened, never what was requested. Every sign-in is of one factor: the password or the picker.
 */

const singleFactor = "urn:idp:single-factor";

/** The `acr` of an ID token. */
export const acrOfSignIn = singleFactor;

/** `acr_values_supported` of the metadata: the values that a sign-in can reach. */
export const reachableAcr: readonly string[] = [singleFactor];

/**
 * Checks an essential `acr` of the `claims` parameter. Without values, any sign-in meets it.
 * @throws {OAuthError} unmet_authentication_requirements (OpenID Connect Core 5.5.1.1, RFC 9470 5)
 */
export function checkAcr(values: readonly unknown[]): void {
  if (values.length === 0 || values.some((value) => reachableAcr.includes(String(value)))) return;
  throw new OAuthError(
    "unmet_authentication_requirements",
    `no sign-in here reaches acr "${values.map(String).join(" ")}"; it can be "${reachableAcr.join(" ")}" (OpenID Connect Core 5.5.1.1)`,
  );
}
