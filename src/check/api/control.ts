import { jsonOf, send } from "../../client/http.ts";
import { OperationError, RemoteError } from "../../core/base/errors.ts";
import type { OperationInput } from "../../core/admin/operations/table.ts";
import { randomText } from "../../serve/random.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import { idpAt } from "../frame/idp.ts";
import type { Opened } from "../frame/opened.ts";
import { claimsOf, headerOf, isJwt, jwksUriOf, signedBy } from "../shared/tokens.ts";

/** What the cases may do at the issuer: tokens of all kinds, its users and keys, and what it was asked. */

export interface ApiPeople {
  readonly issuer: string;
  /** Username. */
  readonly user: string;
  readonly client: string;
  /** Another user; null: there is none. */
  readonly otherUser: string | null;
  /** This command started the server, so its keys and endpoints may be changed. */
  readonly isOwn: boolean;
}

/** What good tokens are for. */
interface ApiTokens {
  /** Absent: the audience of the client, else the issuer. */
  readonly audience: string | undefined;
  /** Space-separated. */
  readonly scope: string;
  /** Claims that all of them have. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The API asks for `auth_time`, which a client that speaks for itself does not have. */
  readonly needsAuthTime: boolean;
}

/** A user, by everything that an address of the API may have. */
export interface Owner {
  readonly sub: string;
  readonly username: string;
  readonly email: string | null;
}

type Change = Readonly<Record<string, unknown>>;

/** One token: the fields of `POST token/issue`. @param user null: the client speaks for itself */
async function issue(
  server: Server,
  { user, client }: { readonly user: string | null; readonly client: string },
  { audience, scope, claims: usual, needsAuthTime }: ApiTokens,
  change: Change,
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

export type ApiControl = Awaited<ReturnType<typeof apiControlOf>>;

export async function apiControlOf(server: Server, people: ApiPeople, tokens: ApiTokens, opened: Opened) {
  const { issuer, user, client, isOwn } = people;
  const idp = idpAt(server, opened);
  const { call, removeFaults, mark } = idp;
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
    const { id } = await call("users.show", { username: user });
    const fixtures = {
      users: [{ username: user, id }],
      clients: [{ client_id: client, redirect_uris: ["http://localhost/callback"] }],
      scopes: Object.fromEntries(tokens.scope.split(" ").flatMap((scope) => (isStandard(scope) ? [] : [[scope, {}]]))),
      settings: { access_token_alg: "RS256", access_token_typ: typ },
    };
    const added = await opened.adds(
      () => call("issuers.add", { name, fixtures }),
      () => call("issuers.remove", { name }),
    );
    return { ...server, url: added.issuer };
  }

  /** A client that may speak for itself, and its id. @param asUser the id is the `sub` of the user */
  async function addService(asUser: boolean): Promise<string> {
    const good = claimsOf(await issue(server, people, tokens, {}));
    const id = asUser ? String(good["sub"]) : `check-api-service-${randomText(6)}`;
    const scope = serviceScope !== "" && { scope: serviceScope };
    await opened.adds(
      () => call("clients.add", { client_id: id, grant_types: ["client_credentials"], ...scope }),
      () => call("clients.remove", { client_id: id }),
    );
    return id;
  }

  const ownerNamed = async (username: string): Promise<Owner> => {
    const { id, email } = await call("users.show", { username });
    return { sub: id, username, email };
  };

  return {
    ...{ issuer, isOwn, removeFaults, mark },
    /** The scope of good tokens, space-separated. */
    scope: tokens.scope,
    /** A token for the user and the client of the check: the fields of `POST token/issue`. */
    issue: (change: Change): Promise<string> => issue(server, people, tokens, change),
    /** A token of a client that speaks for itself. @param asUser its `sub` is a user's */
    async issueService(change: Change, asUser: boolean): Promise<string> {
      const good = claimsOf(await issue(server, people, tokens, {}));
      const added = services.get(asUser) ?? addService(asUser);
      services.set(asUser, added);
      const [audience] = [good["aud"]].flat().map(String);
      const client = await added;
      return issue(server, { user: null, client }, { ...tokens, audience, scope: serviceScope }, change);
    },
    /** Two users: who asks, and whose it is; null: there is one user alone. */
    async owners(): Promise<readonly [Owner, Owner] | null> {
      return people.otherUser === null ? null : Promise.all([ownerNamed(user), ownerNamed(people.otherUser)]);
    },
    /** A token of another issuer, whose metadata and keys can be fetched. */
    async issueElsewhere(change: Change): Promise<string> {
      // A token that is wrong in nothing but its issuer.
      const good = await issue(server, people, tokens, {});
      otherIssuer ??= addIssuer(headerOf(good)["typ"]);
      const [audience] = [claimsOf(good)["aud"]].flat().map(String);
      return issue(await otherIssuer, people, { ...tokens, audience }, change);
    },
    /** The token without one claim; null: it is not signed with a key that this caller may have. */
    async withoutClaim(token: string, name: string): Promise<string | null> {
      if (!isJwt(token)) return null;
      const { alg, typ } = headerOf(token);
      const claims = Object.fromEntries(Object.entries(claimsOf(token)).filter(([one]) => one !== name));
      try {
        return await signedBy(server, String(alg), String(typ), claims);
      } catch (error) {
        if (error instanceof RemoteError || error instanceof OperationError) return null;
        throw error;
      }
    },
    /** The published keys. */
    async keys(): Promise<readonly Change[]> {
      const { keys } = jwksUri === "" ? { keys: [] } : jsonOf(await send({ method: "GET", url: jwksUri }));
      return (Array.isArray(keys) ? keys : []) as readonly Change[];
    },
    async revoke(): Promise<void> {
      await call("revoke", { user, client });
    },
    async suspend(): Promise<void> {
      await call("users.suspend", { username: user });
    },
    async restore(): Promise<void> {
      await call("users.restore", { username: user });
    },
    async rotateKeys(): Promise<void> {
      await call("keys.rotate", {});
    },
    /** Lets an endpoint answer 503 until `removeFaults`. */
    async takeDown(endpoint: string): Promise<void> {
      await idp.addFault({ endpoint, status: 503, always: true });
    },
    /** The later requests that may ask about a token. */
    asked: (since: string | undefined) => idp.asked(isOwn ? null : client, since),
  };
}

const isStandard = (scope: string): boolean =>
  ["openid", "profile", "email", "details", "phone", "social", "offline_access"].includes(scope);
