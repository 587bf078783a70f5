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
  /** The certificate of a key of SAML, in PEM. */
  readonly certificate?: string;
}

/** The SCIM server of an app. */
export interface ScimServer {
  readonly url: string;
  /** The bearer token, or user and password. */
  readonly token?: string | { readonly basic: string } | undefined;
  readonly profile?: "standard" | "okta" | "okta-put" | "entra" | "entra-compliant" | undefined;
  readonly users?: "all" | "granted" | undefined;
  readonly groups?: "all" | "none" | readonly string[] | undefined;
  readonly user_name?: "email" | "username" | undefined;
  /** Claims, by the SCIM attribute that each is sent as. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  readonly live?: "on" | "off" | boolean | undefined;
}

/** What the app of a client was last sent about a user or a group, and the id that it has there. */
export interface ScimResource {
  /** The key: {@link scimKey}. */
  readonly id: string;
  readonly clientId: string;
  readonly kind: "user" | "group";
  /** The id of the user, or the name of the group. */
  readonly local: string;
  /** The username, for a user who is gone. */
  readonly name: string;
  /** The SCIM server that has it. Where the client has another one now, nothing was sent yet. */
  readonly url: string;
  /** The id there; null: the app does not have it. */
  readonly remoteId: string | null;
  /** The attributes that were last sent and accepted; null: none. */
  readonly sent: Readonly<Record<string, unknown>> | null;
  /** The ids there of the members of a group. */
  readonly members?: readonly string[];
  /** When it was last sent, ISO 8601; null: never. */
  readonly pushedAt: string | null;
  /** Why the last push failed; null: it did not. */
  readonly error: string | null;
}
