import { OperationError } from "../../../core/errors.ts";
import { readSource, type FixtureSource } from "../../../core/fixture-files/source.ts";
import type { OperationInput } from "../../../core/operations/table.ts";
import { isObject } from "../../../text/json.ts";
import { randomText } from "../../../serve/random.ts";
import type { Invocation } from "../../invocation.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import { jwksUriOf, type ApiPeople } from "./api-control.ts";
import type { CommonFlags } from "./flags.ts";
import type { Opened } from "./opened.ts";
import { onOwnServer, ownServer, requireServer, userOf } from "./place.ts";
import { theApi } from "./subject.ts";

/** The issuer whose tokens the API takes. */

type Claims = NonNullable<OperationInput<"users.add">["claims"]>;

/** The flags that say whose tokens are sent. */
export interface ApiPlaceFlags extends CommonFlags {
  /** A user whose claims those of the check have. */
  readonly like?: string;
  readonly otherUser?: string;
  readonly ownedUrl?: string;
}

export interface ApiPlace extends ApiPeople {
  readonly server: Server;
  /** The environment of the API that is started; `OIDC_AUDIENCE` is added to it. */
  readonly env: NodeJS.ProcessEnv;
}

/** Most APIs verify tokens with the published keys, so tokens are RS256 unless the fixtures say otherwise. */
export async function withPublishedKeys(sources: readonly FixtureSource[]): Promise<FixtureSource[]> {
  const documents = await Promise.all(sources.map(readSource));
  const saysAlg = documents.some(
    ({ value }) => isObject(value) && isObject(value["settings"]) && "access_token_alg" in value["settings"],
  );
  return saysAlg ? [...sources] : [{ value: { settings: { access_token_alg: "RS256" } } }, ...sources];
}

/** A server in memory. @throws {OperationError} usage, not_found */
export async function ownApiServer(cli: Invocation, flags: ApiPlaceFlags, opened: Opened): Promise<ApiPlace> {
  if (flags.like !== undefined) {
    throw new OperationError("usage", "--like is for a user that the check adds to a running server", {
      hint: "With -- CMD, name a user of the fixtures: --user USERNAME",
    });
  }
  const place = await ownServer(cli, flags, opened, theApi, withPublishedKeys);
  const env = { ...place.env, OIDC_JWKS_URI: await jwksUriOf(place.issuer) };
  const otherUser = await otherUserOf(place.server, flags.otherUser, place.user);
  return { ...place, otherUser, client: place.client.client_id, env };
}

/** Another user than the one whose tokens are sent; null: there is none. @throws {OperationError} not_found, usage */
async function otherUserOf(server: Server, wanted: string | undefined, user: string): Promise<string | null> {
  if (wanted !== undefined) {
    const found = await onOwnServer(userOf(server, wanted));
    if (found !== user) return found;
    throw new OperationError("usage", `--other-user ${wanted} is the user whose tokens are sent`, {
      hint: "Name two users: --user and --other-user",
    });
  }
  const all = await callServer(server, "users.list", {});
  return all.find(({ username, status }) => status === "active" && username !== user)?.username ?? null;
}

/**
 * The running server, with a user and a client of the check's own, which are removed at the end.
 * @throws {OperationError} no_server, usage, not_found
 */
export async function runningApiServer(cli: Invocation, flags: ApiPlaceFlags, opened: Opened): Promise<ApiPlace> {
  for (const flag of ["user", "otherUser", "client", "fixtures"] as const) {
    if (flags[flag] === undefined) continue;
    const shown = flag === "otherUser" ? "other-user" : flag;
    throw new OperationError("usage", `--${shown} is for an API that this command starts`, {
      hint: "On a running server, the check has users and a client of its own, with the claims of --like USER. To start the API, add -- and its command",
    });
  }
  const { server, issuer } = await requireServer(cli, theApi);
  const name = `check-api-${randomText(6)}`;
  const claims = await claimsLike(server, flags.like);
  const user = await addedUser(server, opened, name, claims);
  const otherUser = flags.ownedUrl === undefined ? null : await addedUser(server, opened, `${name}-other`, claims);
  const redirect_uris = ["http://localhost/callback"];
  const client = callServer(server, "clients.add", { client_id: name, redirect_uris });
  await opened.add(async () => {
    await client;
    await callServer(server, "clients.remove", { client_id: name });
  });
  await client;
  return { server, issuer, user, otherUser, client: name, isOwn: false, env: cli.env };
}

async function addedUser(server: Server, opened: Opened, username: string, claims: Claims): Promise<string> {
  const user = callServer(server, "users.add", { username, claims });
  await opened.add(async () => {
    await user;
    await callServer(server, "users.remove", { username });
  });
  await user;
  return username;
}

/** What makes a user that user: two users do not share it. */
const personal = new Set(
  "name family_name given_name middle_name nickname preferred_username profile email email_verified".split(" "),
);

/** The claims of a user that another one can have, too. @param like absent: the first active user @throws {OperationError} not_found */
async function claimsLike(server: Server, like: string | undefined): Promise<Claims> {
  const named = like === undefined ? null : await userOf(server, like);
  const all = await callServer(server, "users.list", {});
  const found = all.find(({ username, status }) => (named === null ? status === "active" : username === named));
  return Object.fromEntries(Object.entries(found?.claims ?? {}).filter(([name]) => !personal.has(name)));
}
