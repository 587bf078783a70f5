/** What proves who a user or a client is, beside passwords and secrets. */

/** A user at another issuer, which is named as in the setting `trusted_issuers`. */
export interface FederatedSubject {
  readonly issuer: string;
  readonly sub: string;
}

/** A passkey of a user: a WebAuthn credential. */
export interface Passkey {
  /** The credential ID, base64url. */
  readonly id: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** The signature counter when it was last used; 0 where the authenticator has none. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
}

/** The claims that a token of a workload must have to act as a client: iss, sub and aud. */
export interface FederatedCredential {
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
}
