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

/** A signing key or secret. */
export interface Key {
  readonly kid: string;
  readonly alg: string;
  /** Private JWK; of kty `oct` for the signing secret. */
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  /** When it stopped signing, in milliseconds; null: it signs. */
  readonly retiredAt: number | null;
  /** Retired keys are published until here. */
  readonly expiresAt?: number;
  /** It signs messages of SAML, and no token. Absent: it signs tokens. */
  readonly use?: "saml";
  /** Of a key of SAML, in PEM. */
  readonly certificate?: string;
}
