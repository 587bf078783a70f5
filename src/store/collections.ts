/** The collections: the key of each, and each way its records are looked up. */
import type {
  Act,
  Code,
  DeviceRequest,
  InspectorPass,
  Interaction,
  PushedRequest,
  Testing,
  UsedId,
} from "./pending.ts";
import type {
  AppliedFixture,
  Client,
  DeadToken,
  Expiration,
  FixturesInUse,
  MadeFrom,
  Grant,
  Key,
  Meta,
  OpaqueToken,
  Scope,
  ScimResource,
  Session,
  Snapshot,
  TokenFamily,
  User,
} from "./records.ts";

export interface Collections {
  users: User;
  clients: Client;
  scopes: Scope;
  grants: Grant;
  families: TokenFamily;
  deadTokens: DeadToken;
  opaqueTokens: OpaqueToken;
  expirations: Expiration;
  sessions: Session;
  scim: ScimResource;
  keys: Key;
  appliedFixtures: AppliedFixture;
  fixtures: FixturesInUse | MadeFrom;
  snapshots: Snapshot;
  meta: Meta;
  interactions: Interaction;
  codes: Code;
  pushedRequests: PushedRequest;
  deviceRequests: DeviceRequest;
  usedAssertions: UsedId;
  testing: Testing;
  acts: Act;
  inspectorKeys: InspectorPass;
  inspectorSessions: InspectorPass;
  usedProofs: UsedId;
}

export type CollectionName = keyof Collections;

interface Definition<T> {
  /** The field that is the key. */
  readonly key: string;
  readonly volatile?: true;
  /** The limit for records that anybody can create. Beyond it, the oldest hundredth is removed: of whoever has most, where `share` says who. */
  readonly max?: number;
  /** The limit for the records with one value in an index, so that nobody can push out those of others. */
  readonly share?: { readonly index: string; readonly max: number };
  readonly unique?: Readonly<Record<string, (record: T) => string>>;
  readonly index?: Readonly<Record<string, (record: T) => string | readonly string[]>>;
}

const define =
  <T>() =>
  <const D extends Definition<T>>(definition: D): D =>
    definition;

/** The key of the one grant of a user and a client: neither id has a line break, and both may have spaces. */
export const userAndClient = (userId: string, clientId: string): string => `${userId}\n${clientId}`;

/** The key of the sessions in which a service provider knows a user by this name. */
export const nameIdAtClient = (clientId: string, nameId: string): string => `${clientId}\n${nameId}`;
/** The key of what an app was sent about a user (`local`: the id) or a group (`local`: the name). */
export const scimKey = (clientId: string, kind: "user" | "group", local: string): string =>
  JSON.stringify([clientId, kind, local]);

/** Origin of a redirect URI as browsers send it in `Origin`, without a default port; "" for a private-use scheme. */
const originOf = (uri: string): string =>
  (/^https?:\/\/[^/?#]+/i.exec(uri)?.[0].toLowerCase() ?? "").replace(/^(http:.*):80$|^(https:.*):443$/, "$1$2");

/** Whether nobody but the client itself says what it is: it registered itself, or has a metadata document. A stranger can cause its record. */
export const describesItself = ({ fromDocument, registrationTokenHash }: Client): boolean =>
  fromDocument === true || registrationTokenHash !== undefined;

/** The origins of the redirect URIs, each once. */
const redirectOrigins = ({ redirect_uris: uris }: Client): readonly string[] => [
  ...new Set(uris.map(originOf).filter((origin) => origin !== "")),
];

/** Requests that wait for a person, of each kind. */
const maxWaiting = 10_000;

/** Those of one address: whoever sends many pushes out their own. */
const share = { index: "from", max: 1000 } as const;
const shareOf = ({ from }: { readonly from?: string }): string | readonly string[] => from ?? [];

/** The most sessions: with `login: auto:` every request without a cookie begins one. */
const maxSessions = 100_000;

/** Any app can get one for a signed-in browser. At up to 1,600 a second, no code is removed before it expires. */
const maxCodes = 100_000;

/** Every collection: its key, and each way its records are looked up. */
export const collections = {
  users: define<User>()({
    key: "id",
    unique: { username: (user) => user.username },
    index: {
      email: (user) => (user.email === null ? [] : user.email.toLowerCase()),
      federated: ({ federated = [] }) => federated.map(({ issuer, sub }) => `${issuer} ${sub}`),
    },
  }),
  clients: define<Client>()({
    key: "client_id",
    index: {
      // Only the operator can set `allowed_origins`.
      origin: (client) => [
        ...new Set([...(describesItself(client) ? [] : redirectOrigins(client)), ...(client.allowed_origins ?? [])]),
      ],
      fromDocument: ({ fromDocument }) => (fromDocument === true ? ["true"] : []),
      // Alone, and with the id of the client.
      ownOrigin: (client) =>
        describesItself(client)
          ? redirectOrigins(client).flatMap((origin) => [origin, `${origin} ${client.client_id}`])
          : [],
      postLogoutUri: (client) => (describesItself(client) ? [] : [...new Set(client.post_logout_redirect_uris ?? [])]),
      idJag: ({ id_jag_audiences: issuers }) => (issuers === undefined ? [] : ["true"]),
      idTokenAlg: ({ id_token_signed_response_alg: alg }) => (alg === undefined ? [] : [alg]),
    },
  }),
  scopes: define<Scope>()({ key: "name", index: { claim: ({ claims }) => [...new Set(claims)] } }),
  grants: define<Grant>()({
    key: "id",
    unique: { userAndClient: ({ userId, clientId }) => userAndClient(userId, clientId) },
    index: { user: (grant) => grant.userId, client: (grant) => grant.clientId },
  }),
  families: define<TokenFamily>()({ key: "id" }),
  deadTokens: define<DeadToken>()({ key: "jti" }),
  opaqueTokens: define<OpaqueToken>()({ key: "id", max: maxCodes }),
  expirations: define<Expiration>()({ key: "id" }),
  sessions: define<Session>()({
    key: "id",
    max: maxSessions,
    unique: { sid: (session) => session.sid },
    index: {
      user: (session) => session.userId,
      nameId: ({ serviceProviders = [] }) => [
        ...new Set(serviceProviders.map(({ clientId, nameId }) => nameIdAtClient(clientId, nameId))),
      ],
    },
  }),
  scim: define<ScimResource>()({
    key: "id",
    index: {
      client: ({ clientId }) => clientId,
      groupsOf: ({ clientId, kind }) => (kind === "group" ? clientId : []),
      failedUsersOf: ({ clientId, kind, error }) => (kind === "user" && error !== null ? clientId : []),
    },
  }),
  keys: define<Key>()({ key: "kid" }),
  appliedFixtures: define<AppliedFixture>()({ key: "id" }),
  fixtures: define<FixturesInUse | MadeFrom>()({ key: "id" }),
  snapshots: define<Snapshot>()({ key: "name" }),
  meta: define<Meta>()({ key: "id" }),
  interactions: define<Interaction>()({
    ...{ key: "uid", volatile: true, max: maxWaiting, share },
    index: { from: shareOf },
  }),
  codes: define<Code>()({ key: "id", volatile: true, max: maxCodes }),
  pushedRequests: define<PushedRequest>()({
    ...{ key: "id", volatile: true, max: maxWaiting, share },
    index: { from: shareOf },
  }),
  deviceRequests: define<DeviceRequest>()({
    ...{ key: "id", volatile: true, max: maxWaiting, share },
    unique: { userCode: (request) => request.userCode },
    index: { from: shareOf },
  }),
  // On disk: an assertion may live for longer than the process.
  usedAssertions: define<UsedId>()({ key: "id" }),
  // What a tester did to a running server ends with it, unless other processes go on.
  testing: define<Testing>()({ key: "id", volatile: true }),
  acts: define<Act>()({ key: "id", volatile: true }),
  inspectorKeys: define<InspectorPass>()({ key: "id", volatile: true, index: { token: (pass) => pass.tokenHash } }),
  inspectorSessions: define<InspectorPass>()({ key: "id", volatile: true, index: { token: (pass) => pass.tokenHash } }),
  usedProofs: define<UsedId>()({ key: "id", volatile: true }),
} as const satisfies { [C in CollectionName]: Definition<Collections[C]> };

type IndexNames<D> =
  (D extends { unique: infer U } ? keyof U : never) | (D extends { index: infer I } ? keyof I : never);
type UniqueNames<D> = D extends { unique: infer U } ? keyof U : never;

/** Names of the unique indexes of a collection. */
export type UniqueIndex<C extends CollectionName> = UniqueNames<(typeof collections)[C]> & string;
/** Names of all indexes of a collection. */
export type AnyIndex<C extends CollectionName> = IndexNames<(typeof collections)[C]> & string;
