import type { ApiControl, Owner } from "../../../check/api/control.ts";
import { claimsOf, headerOf } from "../../../check/api/forge.ts";
import { jsonOf, send } from "../../../client/http.ts";
import type { OperationInput } from "../../../core/operations/table.ts";
import { randomText } from "../../../serve/random.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import { faultsOn, type Opened } from "./opened.ts";

/** Connects the cases of `idp check api` to a server. */

export interface ApiPeople {
  readonly issuer: string;
  /** Username. */
  readonly user: string;
  readonly client: string;
  /** Another user; null: there is none. */
  readonly otherUser: string | null;
  /** This command started the server. */
  readonly isOwn: boolean;
}

/** What good tokens are for. */
export interface ApiTokens {
  /** Absent: the audience of the client, else the issuer. */
  readonly audience: string | undefined;
  /** Space-separated. */
  readonly scope: string;
  /** Claims that all of them have. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The API asks for `auth_time`, which a client that speaks for itself does not have. */
  readonly needsAuthTime: boolean;
}

const json = async (url: string) => jsonOf(await send({ method: "GET", url }));

/** The address of the published keys; empty with the endpoints of GitHub, which has none. */
export async function jwksUriOf(issuer: string): Promise<string> {
  const reply = await send({ method: "GET", url: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration` });
  return reply.status === 404 ? "" : String(jsonOf(reply)["jwks_uri"]);
}

/** One token: the fields of `POST token/issue`. @param user null: the client speaks for itself */
async function issue(
  server: Server,
  { user, client }: { readonly user: string | null; readonly client: string },
  { audience, scope, claims: usual, needsAuthTime }: ApiTokens,
  change: Readonly<Record<string, unknown>>,
): Promise<string> {
  const type = change["type"] ?? "access";
  // A token that expired long ago would also be one of an old sign-in.
  const now = needsAuthTime ? (await callServer(server, "clock.show", {})).now : null;
  const signedIn = now === null ? {} : { auth_time: Math.floor(Date.parse(now) / 1000) };
  const claims = { ...signedIn, ...usual, ...Object(change["claims"]) } as OperationInput<"token.issue">["claims"];
  const given = {
    ...{ client, ...(scope !== "" && { scope }), ...(user !== null && { user }) },
    ...(type === "access" && audience !== undefined && { audience }),
    ...change,
    // Only the server reads a refresh token.
    ...(type !== "refresh" && { claims }),
  };
  return (await callServer(server, "token.issue", given)).token;
}

export async function apiControlOf(
  server: Server,
  people: ApiPeople,
  tokens: ApiTokens,
  opened: Opened,
): Promise<ApiControl> {
  const { issuer, user, client, isOwn } = people;
  const faults = faultsOn(server);
  await opened.add(() => faults.close());
  const jwksUri = await jwksUriOf(issuer);
  let otherIssuer: Promise<Server> | null = null;
  const services = new Map<boolean, Promise<string>>();

  // OpenID Connect is for users.
  const serviceScope = tokens.scope
    .split(" ")
    .filter((scope) => !isStandard(scope))
    .join(" ");

  /** An issuer with the same user and client, tokens of the same kind, and keys of its own. */
  async function addIssuer(typ: unknown): Promise<Server> {
    const name = `check-api-${randomText(6)}`;
    const { id } = await callServer(server, "users.show", { username: user });
    const fixtures = {
      users: [{ username: user, id }],
      clients: [{ client_id: client, redirect_uris: ["http://localhost/callback"] }],
      scopes: Object.fromEntries(tokens.scope.split(" ").flatMap((scope) => (isStandard(scope) ? [] : [[scope, {}]]))),
      settings: { access_token_alg: "RS256", access_token_typ: typ },
    };
    // Nothing may be added that nobody would remove.
    if (opened.isClosed) throw new Error("the check has ended");
    const added = callServer(server, "issuers.add", { name, fixtures });
    await opened.add(async () => {
      await added;
      await callServer(server, "issuers.remove", { name });
    });
    return { ...server, url: (await added).issuer };
  }

  /** A client that may speak for itself, and its id. @param asUser the id is the `sub` of the user */
  async function addService(asUser: boolean): Promise<string> {
    const good = claimsOf(await issue(server, people, tokens, {}));
    const id = asUser ? String(good["sub"]) : `check-api-service-${randomText(6)}`;
    if (opened.isClosed) throw new Error("the check has ended");
    const added = callServer(server, "clients.add", {
      ...{ client_id: id, grant_types: ["client_credentials"], ...(serviceScope !== "" && { scope: serviceScope }) },
    });
    await opened.add(async () => {
      await added;
      await callServer(server, "clients.remove", { client_id: id });
    });
    await added;
    return id;
  }

  const ownerNamed = async (username: string): Promise<Owner> => {
    const { id, email } = await callServer(server, "users.show", { username });
    return { sub: id, username, email };
  };

  return {
    ...{ issuer, isOwn, scope: tokens.scope },
    issue: (change) => issue(server, people, tokens, change),
    async issueService(change, asUser) {
      const good = claimsOf(await issue(server, people, tokens, {}));
      const added = services.get(asUser) ?? addService(asUser);
      services.set(asUser, added);
      const [audience] = [good["aud"]].flat().map(String);
      const client = await added;
      return issue(server, { user: null, client }, { ...tokens, audience, scope: serviceScope }, change);
    },
    async owners() {
      return people.otherUser === null ? null : Promise.all([ownerNamed(user), ownerNamed(people.otherUser)]);
    },
    async issueElsewhere(change) {
      // A token that is wrong in nothing but its issuer.
      const good = await issue(server, people, tokens, {});
      otherIssuer ??= addIssuer(headerOf(good)["typ"]);
      const [audience] = [claimsOf(good)["aud"]].flat().map(String);
      return issue(await otherIssuer, people, { ...tokens, audience }, change);
    },
    async keys() {
      const { keys } = jwksUri === "" ? { keys: [] } : await json(jwksUri);
      return (Array.isArray(keys) ? keys : []) as readonly Readonly<Record<string, unknown>>[];
    },
    async revoke() {
      await callServer(server, "revoke", { user, client });
    },
    async suspend() {
      await callServer(server, "users.suspend", { username: user });
    },
    async restore() {
      await callServer(server, "users.restore", { username: user });
    },
    async rotateKeys() {
      await callServer(server, "keys.rotate", {});
    },
    async takeDown(endpoint) {
      await faults.add({ endpoint, status: 503, always: true });
    },
    removeFaults: () => faults.removeAll(),
    mark: async () => (await callServer(server, "requests.list", {})).at(-1)?.id,
    async asked(since) {
      const all = await callServer(server, "requests.list", since === undefined ? {} : { since });
      const asks = all.filter(({ endpoint }) => endpoint === "introspect" || endpoint === "userinfo");
      // On a server of others, only those that name the client of the check count.
      return isOwn ? asks : asks.filter((record) => JSON.stringify(record).includes(client));
    },
  };
}

const isStandard = (scope: string): boolean =>
  ["openid", "profile", "email", "details", "phone", "social", "offline_access"].includes(scope);
