import type { Fault, Recorded } from "../frame/idp.ts";

/** What the cases ask of the server, through its control API. */

/** The parameters of `POST issue/code`. */
interface CodeInput {
  readonly redirect_uri: string;
  readonly scope?: string;
  readonly state?: string;
  readonly nonce?: string;
  readonly code_challenge?: string;
}

/** A user's session at the provider, as the ID token of its browser names it. */
export interface SignedInSession {
  readonly sub: string;
  readonly sid: string;
}

/** How a logout token differs from a good one. */
export interface LogoutClaims {
  /** In place of the usual ones; null leaves one out. `iat` and `exp` are seconds from now. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly spoil?: "signature" | "alg";
  /** In place of `logout+jwt`. */
  readonly typ?: string;
}

export interface Control {
  readonly issuer: string;
  readonly client: string;
  /** It has a secret, or keys. */
  readonly isConfidential: boolean;
  /** The registered ones. */
  readonly redirectUris: readonly string[];
  /** Username. */
  readonly user: string;
  /** Nobody else uses this issuer, so its keys, settings and documents may be changed. */
  readonly isOwn: boolean;
  /** The client's secret; null: it has none, or it may not be seen. */
  secret(): Promise<string | null>;
  /** Adds a user with a name and a sub that nobody had, and the claims by which the app may admit the user. @returns the username */
  addUser(): Promise<string>;
  /** @returns its id @throws {Problem} no response to this client can have it */
  addFault(fault: Fault): Promise<string>;
  /** Removes the faults of this run that are left. */
  removeFaults(): Promise<void>;
  /** The requests of the client, and those that name no client. @param since the id of a request: only later ones */
  requests(since?: string): Promise<readonly Recorded[]>;
  /** A code as the user would get it; null: the client may have none like this. */
  issueCode(input: CodeInput): Promise<string | null>;
  /** Where the client is told that a session ended; null: it has no such address. */
  readonly logoutUri: string | null;
  /** Ends a session. @returns why the client was not told, or null */
  endSession(session: SignedInSession): Promise<string | null>;
  /** A logout token for a session. */
  logoutToken(session: SignedInSession, change: LogoutClaims): Promise<string>;
  revoke(): Promise<void>;
  /** Lets the user's tokens expire. @param what the access tokens alone, or the refresh tokens, too */
  expire(what: "access" | "all"): Promise<void>;
  rotateKeys(): Promise<void>;
  /** Lets new access tokens live for this many seconds; null: as before. */
  setTokenLife(seconds: number | null): Promise<void>;
}
