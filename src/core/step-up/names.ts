/** The names of factors. */

export const factorNames = ["pwd", "otp", "passkey"] as const;
export type Factor = (typeof factorNames)[number];

/** How somebody proved who they are. `user`: picked from the list; `button`: the passkey of a test user, by the button of the page. */
export type Proof = Factor | "user" | "button";

/** The proofs of a session and when each was given, in seconds since 1970. */
export type Met = Readonly<Partial<Record<Proof, number>>>;

/** What every sign-in reaches. */
export const singleFactor = "urn:idp:single-factor";
