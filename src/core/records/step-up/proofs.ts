import { isIP } from "node:net";

/** The factors, by their names in fixtures. */
export const factorNames = ["pwd", "otp", "passkey"] as const;
export type Factor = (typeof factorNames)[number];

/** How somebody proved who they are. `user`: picked from the list; `button`: the passkey of a test user, by the button of the page. */
export type Proof = Factor | "user" | "button";

/** The proofs of a session and when each was given, in seconds since 1970. */
export type Met = Readonly<Partial<Record<Proof, number>>>;

/** The `acr` that every sign-in reaches. */
export const singleFactor = "urn:idp:single-factor";

/** Where passkeys work (WebAuthn 5.1): in a secure context, and at a name. */

const hostOf = (address: string): string => new URL(address).hostname;

/** The RP ID: the host of the issuer, whatever name a request came by. */
export const relyingParty = (address: string): { readonly id: string; readonly origin: string } => ({
  id: hostOf(address),
  origin: new URL(address).origin,
});

/** Whether a browser would register or use a passkey there. */
export function worksAt(address: string): boolean {
  const host = hostOf(address);
  // WebAuthn 5.1.2: the RP ID is a domain. A URL has an IPv6 address in brackets.
  if (isIP(host.replace(/^\[|\]$/g, "")) !== 0) return false;
  return address.startsWith("https:") || host === "localhost" || host.endsWith(".localhost");
}
