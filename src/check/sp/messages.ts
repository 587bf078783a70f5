/** What the cases, their control and the judge name alike: people, and messages of SAML. */

/** A user whom idp signs in. */
export interface Person {
  readonly username: string;
  /** What a page may show of this user, and of no other: NameID, e-mail, name. */
  readonly names: readonly string[];
  /** The check has added this user. */
  readonly isNew?: true;
}

export const signChoices = ["assertion", "response", "both"] as const;
/** What of a response is signed, and whether its assertion is encrypted. */
export interface Way {
  readonly sign: (typeof signChoices)[number];
  readonly encrypt: boolean | "cbc";
}

/** What the app asked for (SAML Core 3.4.1). */
export interface Asked {
  readonly id: string;
  readonly issuer: string;
  /** Null: none is named. */
  readonly acs: string | null;
  readonly acsIndex: string | null;
}

/** A LogoutRequest, as a browser brings it. */
export interface LogoutMessage {
  readonly binding: "POST" | "Redirect";
  /** Absent: by nobody. `other`: by a key that idp does not publish. */
  readonly signedBy?: "idp" | "other";
  /** In place of the NameID of the session. */
  readonly nameId?: string;
  /** The answer to a LogoutRequest of the app, in place of a LogoutRequest. */
  readonly isResponse?: true;
}
