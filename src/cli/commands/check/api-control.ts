import type { ApiControl } from "../../../check/api/control.ts";
import { claimsOf, headerOf } from "../../../check/api/forge.ts";
import { jsonOf, send } from "../../../client/http.ts";
import { randomText } from "../../../serve/random.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import { faultsOn, type Opened } from "./opened.ts";

/** Connects the cases of `idp check api` to a server. */

export interface ApiPeople {
  readonly issuer: string;
  /** Username. */
  readonly user: string;
  readonly client: string;
  /** This command started the server. */
  readonly isOwn: boolean;
}

/** What good tokens are for. */
export interface ApiTokens {
  /** Absent: the audience of the client, else the issuer. */
  readonly audience: string | undefined;
  /** Space-separated. */
  readonly scope: string;
}

const json = async (url: string) => jsonOf(await send({ method: "GET", url }));

/** The address of the published keys. */
export async function jwksUriOf(issuer: string): Promise<string> {
  return String((await json(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`))["jwks_uri"]);
}

/** One token: the fields of `POST token/issue`. */
async function issue(
  server: Server,
  { user, client }: Pick<ApiPeople, "user" | "client">,
  { audience, scope }: ApiTokens,
  change: Readonly<Record<string, unknown>>,
): Promise<string> {
  const isAccess = (change["type"] ?? "access") === "access";
  const given = { user, client, scope, ...(isAccess && audience !== undefined && { audience }), ...change };
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

  return {
    ...{ issuer, isOwn, scope: tokens.scope },
    issue: (change) => issue(server, people, tokens, change),
    async issueElsewhere(change) {
      // A token that is wrong in nothing but its issuer.
      const good = await issue(server, people, tokens, {});
      otherIssuer ??= addIssuer(headerOf(good)["typ"]);
      const [audience] = [claimsOf(good)["aud"]].flat().map(String);
      return issue(await otherIssuer, people, { ...tokens, audience }, change);
    },
    async keys() {
      const { keys } = await json(jwksUri);
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
