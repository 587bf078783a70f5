/** What the cases ask of the server, through its control API. */

/** The members of a record of the ledger that are used here. */
interface Recorded {
  readonly id: string;
  readonly endpoint: string;
}

/** Somebody to whom something belongs. */
export interface Owner {
  readonly sub: string;
  readonly username: string;
  readonly email: string | null;
}

export interface ApiControl {
  readonly issuer: string;
  /** This command started the server, so its keys and endpoints may be changed. */
  readonly isOwn: boolean;
  /** A token for the user and the client of the check: the fields of `POST token/issue`. */
  issue(change: Readonly<Record<string, unknown>>): Promise<string>;
  /** The same of another issuer, whose metadata and keys can be fetched. */
  issueElsewhere(change: Readonly<Record<string, unknown>>): Promise<string>;
  /** A token of a client that speaks for itself. @param asUser its `sub` is a user's */
  issueService(change: Readonly<Record<string, unknown>>, asUser: boolean): Promise<string>;
  /** Two users: who asks, and whose it is; null: there is one user alone. */
  owners(): Promise<readonly [Owner, Owner] | null>;
  /** The published keys. */
  keys(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The scope of good tokens, space-separated. */
  readonly scope: string;
  revoke(): Promise<void>;
  suspend(): Promise<void>;
  restore(): Promise<void>;
  rotateKeys(): Promise<void>;
  /** Lets an endpoint answer 503 until `removeFaults`. */
  takeDown(endpoint: string): Promise<void>;
  removeFaults(): Promise<void>;
  /** The id of the latest request to idp. */
  mark(): Promise<string | undefined>;
  /** The later requests that may ask about a token. */
  asked(since: string | undefined): Promise<readonly Recorded[]>;
}
