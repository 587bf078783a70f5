import type { AuthorizationResponse } from "../../client/app/visit.ts";
import type { Fault, Recorded } from "../frame/idp.ts";

/** What the cases ask of the server, through its control API. */

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
}

export interface SpControl {
  readonly issuer: string;
  /** The entityID. */
  readonly client: string;
  /** Nobody else uses this issuer, so its keys and the client may be changed. */
  readonly isOwn: boolean;
  readonly user: Person;
  readonly attacker: Person;
  /** The client's own choice. */
  readonly way: Way;
  /** The app has an address for LogoutRequests. */
  readonly hasLogout: boolean;
  /** The registered addresses, the default first. */
  acs(): readonly { readonly url: string; readonly index: number | null }[];
  /** Registers one more. @throws {Problem} it may not be registered */
  addAcs(url: string): Promise<void>;
  /** @returns its id @throws {Problem} no response to this client can have it */
  addFault(fault: Fault): Promise<string>;
  removeFaults(): Promise<void>;
  /** The requests of the client, and those that name no client. @param since the id of a request: only later ones */
  requests(since?: string): Promise<readonly Recorded[]>;
  /** The AuthnRequests among them. */
  asked(records: readonly Recorded[]): readonly Asked[];
  /** A response that answers no request. */
  issue(relayState?: string): Promise<AuthorizationResponse>;
  /** Changes how the client's responses are made. @throws {Problem} the client cannot have them like this */
  setWay(way: Way): Promise<void>;
  /** Signs with a new key until `restoreKeys`. */
  rotateKeys(): Promise<void>;
  restoreKeys(): Promise<void>;
  /**
   * The same response, changed before it is signed.
   * @param change of its text without signatures @throws {Problem} it is encrypted, or cannot be signed here
   */
  signAgain(response: AuthorizationResponse, change: (text: string) => string): Promise<AuthorizationResponse>;
  /**
   * A LogoutRequest for the session that a response began.
   * @returns where it goes, and its parameters @throws {Problem} the response does not say which session that is
   */
  logoutRequest(
    response: AuthorizationResponse,
    message: LogoutMessage,
  ): Promise<{ readonly url: string; readonly parameters: URLSearchParams }>;
}

/** Another connection of the app, to the identity provider of another tenant. */
export interface Second {
  readonly start: string;
  readonly issuer: string;
  /** Adds somebody there whom nobody knows. @returns the username */
  addUser(): Promise<string>;
  /** Makes responses there like those of the first connection, where nobody else uses it. */
  setWay(way: Way): Promise<void>;
  /**
   * A response to that user, who is the user of the first connection in it, and signed again.
   * @param like a response that names the user @throws {Problem} it is encrypted, or cannot be signed here
   */
  naming(
    response: AuthorizationResponse,
    username: string,
    like: AuthorizationResponse,
  ): Promise<AuthorizationResponse>;
}
