/**
 * The port: which records there are, how they are found, and what every store guarantees.
 * It knows records and nothing of OAuth; it imports nothing.
 *
 * Guarantees (each is a test of `test/store/contract.ts`, run against every adapter):
 *
 * 1. **Frozen out, frozen in.** A record handed out or put in can be changed by nobody: change it by putting a new one.
 * 2. **Conflict.** `insert` of a taken key, or of a taken value of a unique index, throws {@link ConflictError} and changes nothing.
 * 3. **One remover.** Of twenty that remove the same record at once, exactly one is handed it.
 * 4. **All or nothing.** A transaction that throws leaves no trace, in the records or in any index.
 * 5. **No lost update.** Transactions run one after the other: what one has read nobody changes before it ends.
 * 6. **Durable before the answer.** `transaction` resolves after its changes are on disk (where the store has a disk).
 *    It rejects with {@link StorageError} if they could not be written, and then memory holds what the disk holds.
 * 7. **Nothing unwritten is read.** What `read` resolves with is on disk too: a change whose write failed is never seen.
 * 8. **Expiry.** A record whose `expiresAt` (milliseconds) is not after `now()` is absent; it is removed in the course of time.
 * 9. **Indexed.** `get`, `find` and `findAll` cost the same however many records there are.
 * 10. **Volatile** collections may be lost when the process ends; nothing else about them differs.
 */

/** A user: section "users" of a fixture, each field with its value. Times are ISO 8601. */
export interface User {
  /** Snowflake id, a string of digits: the `sub` of every token. */
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** `scrypt$N$r$p$salt$hash` (base64url); null: signs in from the picker only. */
  readonly passwordHash: string | null;
  /** The password is known (from a fixture) and its hash is still being worked out. */
  readonly passwordPending: boolean;
  /** Keyed digest of the fixture's password that the hash is of: one that is the same is not hashed anew. Null: no fixture's. */
  readonly passwordDigest: string | null;
  readonly status: "active" | "suspended" | "banned";
  readonly avatar: { readonly baseUrl: string; readonly path: string; readonly color: string };
  readonly about: string;
  readonly language: string;
  readonly theme: "light" | "dark" | "system" | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly website: string | null;
  readonly location: string | null;
  readonly birthDate: string | null;
  readonly phone: string | null;
  readonly socialLinks: readonly { readonly platform: string; readonly url: string; readonly label: string }[];
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * A client: RFC 7591 and OpenID Connect registration metadata, under those names, beside `idp`'s own.
 * Metadata that is absent was not registered; what then holds is decided in `core/clients.ts`.
 */
export interface Client {
  readonly client_id: string;
  /** Absent, and no method that needs keys: a public client. */
  readonly client_secret?: string;
  readonly client_name?: string;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly allowed_origins?: readonly string[];
  /** Space-separated; absent: every scope. */
  readonly scope?: string;
  readonly token_endpoint_auth_method?: string;
  readonly token_endpoint_auth_signing_alg?: string;
  readonly grant_types?: readonly string[];
  readonly require_pkce?: boolean;
  readonly userinfo_format?: "native" | "standard" | "combined";
  readonly id_token_claims?: "all" | "minimal";
  readonly id_token_signed_response_alg?: string;
  readonly skip_consent?: boolean;
  readonly audience?: string | readonly string[];
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  readonly jwks_uri?: string;
  readonly backchannel_logout_uri?: string;
  readonly backchannel_logout_session_required?: boolean;
  readonly default_max_age?: number;
  readonly default_acr_values?: readonly string[];
  readonly require_auth_time?: boolean;
  /**
   * Names one registration of this id. Tokens that speak for the client alone carry it, so that those of a client that was removed
   * stay dead when the id comes back. (Those of users hang on the epoch of their grant.)
   */
  readonly epoch: string;
  readonly initiate_login_uri?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** SHA-256 of the token that manages a client which registered itself (RFC 7592), base64url. */
  readonly registrationTokenHash?: string;
  /** Any other registered metadata, kept as it was given. */
  readonly [metadata: string]: unknown;
}

/** A scope beyond those built in: what it says on the consent page (by language), and the claims it releases. */
export interface Scope {
  readonly name: string;
  readonly description: Readonly<Record<string, string>>;
  readonly claims: readonly string[];
}

/** The consent of one user for one client. Times are ISO 8601. */
export interface Grant {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly status: "active" | "revoked";
  /**
   * Names one activation of the grant. Tokens carry it, and a new one is drawn at every activation: so what was
   * issued before a revocation stays dead after a new consent.
   */
  readonly epoch: string;
  readonly by: "user" | "policy" | "cli" | "fixture";
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revokedAt: string | null;
  /** Who revoked it; absent where it is active, or nobody knows any more. */
  readonly revokedBy?: "user" | "operator" | "ban";
  /** When its client last received a token, exact to an hour (`core/grant-use.ts`). Absent: never. */
  readonly lastUsedAt?: string;
}

/**
 * What happened to the tokens of one code redemption. Kept for exceptions only: a family that has no record was
 * neither rotated nor killed, so its refresh token is of generation 0.
 */
export interface TokenFamily {
  readonly id: string;
  /** The generation of the refresh token that is good now; an older one is a reuse. */
  readonly generation: number;
  /** When that generation began, in milliseconds; for `refresh_grace`. */
  readonly rotatedAt: number;
  /** Why the family is dead, in words for an operator; null: it lives. */
  readonly deadBecause: string | null;
  /** Since when, in milliseconds; absent where that is not known. */
  readonly deadAt?: number;
  readonly expiresAt: number;
}

/** One token that died alone (RFC 7009 of an access token). */
export interface DeadToken {
  readonly jti: string;
  readonly reason: string;
  /** Since when, in milliseconds; absent where that is not known. */
  readonly at?: number;
  readonly expiresAt: number;
}

/** A browser in which a user has signed in. */
export interface Session {
  /** SHA-256 of the cookie's value, base64url: the file gives nobody a session. */
  readonly id: string;
  /** The `sid` of ID tokens. */
  readonly sid: string;
  readonly userId: string;
  /** When the user last proved who they are, in seconds since 1970: `auth_time`. */
  readonly authTime: number;
  readonly amr: readonly string[];
  /** Clients that received an ID token of this session. */
  readonly clientIds: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: number;
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
}

/** What a fixture last brought to a record, as a keyed hash, so that run-time changes are kept while the fixture stays the same. */
export interface AppliedFixture {
  /** `user:alice`, `client:demo-app`, … */
  readonly id: string;
  readonly digest: string;
}

/** Single values that belong to the data as a whole. */
export interface Meta {
  readonly id: "issuer" | "settings" | "longestLife";
  readonly value: unknown;
}

/** An authorization request as it was sent, parsed and checked, that waits for the person in front of the browser. */
export interface Interaction {
  readonly uid: string;
  /** SHA-256 of the browser cookie that began it. */
  readonly browser: string;
  readonly csrf: string;
  /** Of `core/interactions.ts`: what the person is asked for. */
  readonly request: unknown;
  /** Who signed in during this interaction, and when (seconds); null: nobody yet. */
  readonly login: { readonly userId: string; readonly at: number } | null;
  readonly expiresAt: number;
}

/** An authorization code. After its redemption the record stays a while, so that a replay is known for what it is. */
export interface Code {
  /** SHA-256 of the code, base64url. */
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly epoch: string;
  /** Of `core/codes.ts`: what of the request the token endpoint needs. */
  readonly request: unknown;
  readonly family: string;
  /** Seconds since 1970. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly sid: string | null;
  readonly usableUntil: number;
  readonly usedAt: number | null;
  readonly expiresAt: number;
}

/** An authorization request that its client pushed beforehand (RFC 9126). */
export interface PushedRequest {
  /** The `request_uri`. */
  readonly id: string;
  readonly clientId: string;
  readonly parameters: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly expiresAt: number;
}

/** A device that waits for its user (RFC 8628). */
export interface DeviceRequest {
  /** SHA-256 of the device code, base64url. */
  readonly id: string;
  /** As it is compared: capital letters without the dash. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly status: "waiting" | "allowed" | "denied" | "used";
  /** Set with `allowed`. */
  readonly grant: { readonly userId: string; readonly grantId: string; readonly epoch: string } | null;
  /** Set with `allowed`: seconds since 1970, and how the user signed in. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly sid: string | null;
  /** Milliseconds: a device that asks again before this is told to slow down. */
  readonly nextPollAt: number;
  /** Seconds between two polls. */
  readonly interval: number;
  /** Milliseconds. The record stays a while longer, so that a code that came too late is known for what it is. */
  readonly usableUntil: number;
  readonly expiresAt: number;
}

/** An identifier that may be used once only: the `jti` of a client assertion or of a DPoP proof. */
export interface UsedId {
  readonly id: string;
  readonly expiresAt: number;
}

export interface Collections {
  users: User;
  clients: Client;
  scopes: Scope;
  grants: Grant;
  families: TokenFamily;
  deadTokens: DeadToken;
  sessions: Session;
  keys: Key;
  appliedFixtures: AppliedFixture;
  meta: Meta;
  interactions: Interaction;
  codes: Code;
  pushedRequests: PushedRequest;
  deviceRequests: DeviceRequest;
  usedAssertions: UsedId;
  usedProofs: UsedId;
}

export type CollectionName = keyof Collections;

interface Definition<T> {
  /** The field that is the key. */
  readonly key: string;
  readonly volatile?: true;
  /** Of what anybody may make: with one more, the hundredth of it that was made first goes. */
  readonly most?: number;
  readonly unique?: Readonly<Record<string, (record: T) => string>>;
  readonly index?: Readonly<Record<string, (record: T) => string | readonly string[]>>;
}

const define =
  <T>() =>
  <const D extends Definition<T>>(definition: D): D =>
    definition;

/** Origin of a redirect URI as browsers send it in `Origin`, without a default port; "" for a private-use scheme. */
const originOf = (uri: string): string =>
  (/^https?:\/\/[^/?#]+/i.exec(uri)?.[0].toLowerCase() ?? "").replace(/^(http:.*):80$|^(https:.*):443$/, "$1$2");

/** Requests that wait for a person, of each kind. */
const mostWaiting = 10_000;

/** With `login: auto:` every request without a cookie begins one. */
const mostSessions = 100_000;

/** Any app page that a browser has a session for draws one. At 1,600 a second none is forgotten while it is good. */
const mostCodes = 100_000;

/** Every collection: its key, and each way its records are looked up. */
export const collections = {
  users: define<User>()({
    key: "id",
    unique: { username: (user) => user.username },
    index: { email: (user) => user.email.toLowerCase() },
  }),
  clients: define<Client>()({
    key: "client_id",
    index: {
      origin: (client) => [
        ...new Set(
          [...client.redirect_uris.map(originOf), ...(client.allowed_origins ?? [])].filter((origin) => origin !== ""),
        ),
      ],
      idTokenAlg: ({ id_token_signed_response_alg: alg }) => (alg === undefined ? [] : [alg]),
    },
  }),
  scopes: define<Scope>()({ key: "name" }),
  grants: define<Grant>()({
    key: "id",
    unique: { userAndClient: (grant) => `${grant.userId} ${grant.clientId}` },
    index: { user: (grant) => grant.userId, client: (grant) => grant.clientId },
  }),
  families: define<TokenFamily>()({ key: "id" }),
  deadTokens: define<DeadToken>()({ key: "jti" }),
  sessions: define<Session>()({
    key: "id",
    most: mostSessions,
    unique: { sid: (session) => session.sid },
    index: { user: (session) => session.userId },
  }),
  keys: define<Key>()({ key: "kid" }),
  appliedFixtures: define<AppliedFixture>()({ key: "id" }),
  meta: define<Meta>()({ key: "id" }),
  interactions: define<Interaction>()({ key: "uid", volatile: true, most: mostWaiting }),
  codes: define<Code>()({ key: "id", volatile: true, most: mostCodes }),
  pushedRequests: define<PushedRequest>()({ key: "id", volatile: true, most: mostWaiting }),
  deviceRequests: define<DeviceRequest>()({
    key: "id",
    volatile: true,
    most: mostWaiting,
    unique: { userCode: (request) => request.userCode },
  }),
  // On disk: an assertion may live for longer than the process.
  usedAssertions: define<UsedId>()({ key: "id" }),
  usedProofs: define<UsedId>()({ key: "id", volatile: true }),
} as const satisfies { [C in CollectionName]: Definition<Collections[C]> };

type IndexNames<D> =
  (D extends { unique: infer U } ? keyof U : never) | (D extends { index: infer I } ? keyof I : never);
type UniqueNames<D> = D extends { unique: infer U } ? keyof U : never;

/** Names of the unique indexes of a collection. */
type UniqueIndex<C extends CollectionName> = UniqueNames<(typeof collections)[C]> & string;
/** Names of all indexes of a collection. */
type AnyIndex<C extends CollectionName> = IndexNames<(typeof collections)[C]> & string;

/** What can be read; within a transaction its own changes are seen. */
export interface ReadTx {
  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined;
  /** The record with this value in a unique index. */
  find<C extends CollectionName>(collection: C, index: UniqueIndex<C>, value: string): Collections[C] | undefined;
  /** Whether any record has this value in an index: costs the same however many do. */
  has<C extends CollectionName>(collection: C, index: AnyIndex<C>, value: string): boolean;
  /** The records with this value in an index, in the order of their insertion. */
  findAll<C extends CollectionName>(collection: C, index: AnyIndex<C>, value: string): readonly Collections[C][];
  /** All records in the order of their insertion. Its cost grows: not for a request's way. */
  all<C extends CollectionName>(collection: C): IterableIterator<Collections[C]>;
  count(collection: CollectionName): number;
}

export interface Tx extends ReadTx {
  /** @throws {ConflictError} where the key or a unique value is taken */
  insert<C extends CollectionName>(collection: C, record: Collections[C]): void;
  /** Inserts the record or replaces the one of its key. @throws {ConflictError} where a unique value is another's */
  put<C extends CollectionName>(collection: C, record: Collections[C]): void;
  /** Takes the record away and hands it out; undefined where there is none. */
  remove<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined;
}

export interface Store {
  /** Where the data is: the whole path of `data.json`, or "memory". */
  readonly location: string;
  /** Runs `work` at once, without an await inside; see guarantees 4 to 6. What it throws is thrown. */
  transaction<T>(work: (tx: Tx) => T): Promise<T>;
  /** See guarantee 7. `work` may run more than once. */
  read<T>(work: (tx: ReadTx) => T): Promise<T>;
  /** Writes what is left to write and gives the data free. Nothing may be called after it. */
  close(): Promise<void>;
}

/** A key or a unique value is taken. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
  readonly collection: CollectionName;
  readonly field: string;
  readonly value: string;
  constructor(collection: CollectionName, field: string, value: string) {
    super(`${collection}: ${field} "${value}" is taken`);
    this.collection = collection;
    this.field = field;
    this.value = value;
  }
}

/** The data could not be written (disk full, folder gone): nothing of the change was kept, unless `partly` says otherwise. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** What commands call it. */
  readonly code = "temporarily_unavailable";
  /** Some of what was asked for was made before; the message tells what. */
  readonly partly: boolean;
  constructor(
    message: string,
    { cause, partly = false }: { readonly cause?: unknown; readonly partly?: boolean } = {},
  ) {
    super(message, { cause });
    this.partly = partly;
  }
}

/** The data is another process's: `holder` says whose. */
export class LockedError extends Error {
  override readonly name = "LockedError";
  /** What commands call it. */
  readonly code = "conflict";
  readonly holder: {
    readonly pid: number;
    readonly url: string | null;
    readonly startedAt: string;
  };
  /** Whether the holder is on another machine or in another container, where no command of here ends it: the message says what to do. */
  readonly elsewhere: boolean;
  constructor(message: string, holder: LockedError["holder"], elsewhere = false) {
    super(message);
    this.holder = holder;
    this.elsewhere = elsewhere;
  }
}

/** The data cannot be read, is not `idp`'s, or is newer than this `idp`: it is left as it is. */
export class DataFileError extends Error {
  override readonly name = "DataFileError";
  /** What commands call it. */
  readonly code = "invalid";
  readonly file: string;
  readonly hint: string;
  constructor(message: string, file: string, hint: string) {
    super(message);
    this.file = file;
    this.hint = hint;
  }
}
