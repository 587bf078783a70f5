import type { ClientView } from "../../core/records/clients/admin.ts";
import type { OperationInput } from "../../core/admin/operations/table.ts";
import type { Server } from "../../serve/remote.ts";
import { idpAt } from "../frame/idp.ts";
import type { Opened } from "../frame/opened.ts";
import { addOwnUser, type Admitted } from "../frame/people.ts";
import { logoutTokenOf, type LogoutClaims, type SignedInSession } from "./logout-token.ts";

/** What the cases may do at the issuer: faults for the client, codes, sessions, tokens and keys. */

/** What the cases know of the issuer and its client. */
interface About {
  readonly issuer: string;
  readonly client: string;
  /** It has a secret, or keys. */
  readonly isConfidential: boolean;
  /** The registered ones. */
  readonly redirectUris: readonly string[];
  /** Where the client is told that a session ended; null: it has no such address. */
  readonly logoutUri: string | null;
  /** Username. */
  readonly user: string;
  /** Nobody else uses this issuer, so its keys, settings and documents may be changed. */
  readonly isOwn: boolean;
}

export function aboutOf(
  issuer: string,
  { client_id: client, public: isPublic, redirect_uris: redirectUris, backchannel_logout_uri: uri }: ClientView,
  { user, isOwn }: Pick<About, "user" | "isOwn">,
): About {
  const logoutUri = typeof uri === "string" ? uri : null;
  return { issuer, client, isConfidential: !isPublic, redirectUris, logoutUri, user, isOwn };
}

export type Control = ReturnType<typeof controlOf>;

/** @param like somebody whom the app admits; absent: the user */
export function controlOf(server: Server, about: About, opened: Opened, like?: Admitted) {
  const { client, user } = about;
  const idp = idpAt(server, opened);
  const { call, ifAny, addFault, removeFaults } = idp;
  let usualLife: number | null = null;

  return {
    ...{ ...about, addFault, removeFaults },
    /** Adds a user with a name and a sub that nobody had, and the claims by which the app may admit the user. @returns the username */
    addUser: async (): Promise<string> =>
      addOwnUser(server, like ?? (await call("users.show", { username: user })), opened),
    /** What the body of UserInfo calls somebody, below `user`. */
    async namesOf(username: string) {
      const { displayName } = await call("users.show", { username });
      return { username, displayName };
    },
    /** The client's secret; null: it has none, or it may not be seen. */
    async secret(): Promise<string | null> {
      const secret = (await ifAny("clients.show", { client_id: client, secrets: true }))?.["client_secret"];
      return typeof secret === "string" ? secret : null;
    },
    /** The requests of the client, and those that name no client. @param since the id of a request: only later ones */
    requests: (since?: string) => idp.requestsOf(client, since),
    /** A code as the user would get it; null: the client may have none like this. */
    issueCode: async (input: Omit<OperationInput<"issue.code">, "user" | "client">): Promise<string | null> =>
      (await ifAny("issue.code", { user, client, ...input }))?.code ?? null,
    /** Ends a session. @returns why the client was not told, or null */
    async endSession({ sid }: SignedInSession): Promise<string | null> {
      const { notices } = await call("sessions.end", { id: sid });
      return notices.find((notice) => notice.client === client && !notice.ok)?.detail ?? null;
    },
    /** A logout token for a session. */
    logoutToken: (session: SignedInSession, change: LogoutClaims) => logoutTokenOf(server, about, session, change),
    async revoke(): Promise<void> {
      await call("revoke", { user, client });
    },
    /** Lets the user's tokens expire. @param what the access tokens alone, or the refresh tokens, too */
    async expire(what: "access" | "all"): Promise<void> {
      await call("expire", { user, client, access: true, refresh: what === "all" });
    },
    async rotateKeys(): Promise<void> {
      await call("keys.rotate", {});
    },
    /** Lets new access tokens live for this many seconds; null: as before. */
    async setTokenLife(seconds: number | null): Promise<void> {
      usualLife ??= (await call("issue.tokens", { user, client })).expires_in;
      await call("seed", { settings: { access_token_ttl: seconds ?? usualLife } });
    },
  };
}
