import { OperationError } from "../../core/base/errors.ts";
import type { OperationInput } from "../../core/admin/operations/table.ts";
import { randomText } from "../../serve/random.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { PlaceFlags } from "../frame/flags.ts";
import type { Opened } from "../frame/opened.ts";
import { otherThan, userOf } from "../frame/people.ts";
import { onOwnServer, ownServer } from "../frame/place.ts";
import { jwksUriOf, withPublishedKeys } from "../shared/tokens.ts";
import type { Session } from "../frame/check.ts";
import type { ApiPeople } from "./control.ts";

/** The issuer whose tokens the API takes. */

type Claims = NonNullable<OperationInput<"users.add">["claims"]>;

interface ApiPlace extends ApiPeople {
  readonly server: Server;
  /** The environment of the API that is started; `OIDC_AUDIENCE` is added to it. */
  readonly env: NodeJS.ProcessEnv;
}

/** The flags that say whose tokens are sent. */
type ApiPlaceFlags = PlaceFlags & {
  readonly fixtures?: readonly string[];
  readonly like?: string;
  readonly otherUser?: string;
  readonly ownedUrl?: string;
};

/** The issuer of a server that the check starts, or of the running one. @throws {OperationError} no_server, usage, not_found */
export const apiPlace = (session: Session, flags: ApiPlaceFlags): Promise<ApiPlace> =>
  session.command === null ? runningApiServer(session, flags) : ownApiServer(session, flags);

/** A server in memory. @throws {OperationError} usage, not_found */
async function ownApiServer(session: Session, flags: ApiPlaceFlags): Promise<ApiPlace> {
  if (flags.like !== undefined) {
    throw new OperationError("usage", "--like is for a user that the check adds to a running server", {
      hint: "With -- CMD, name a user of the fixtures: --user USERNAME",
    });
  }
  const place = await ownServer(session, flags, { change: withPublishedKeys });
  const env = { ...place.env, OIDC_JWKS_URI: await jwksUriOf(place.issuer) };
  const otherUser = await otherUserOf(place.server, flags.otherUser, place.user);
  return { ...place, otherUser, client: place.client.client_id, env };
}

/** Another user than the one whose tokens are sent; null: there is none. @throws {OperationError} not_found, usage */
async function otherUserOf(server: Server, wanted: string | undefined, user: string): Promise<string | null> {
  if (wanted === undefined) return otherThan(server, user);
  const found = await onOwnServer(userOf(server, wanted));
  if (found !== user) return found;
  throw new OperationError("usage", `--other-user ${wanted} is the user whose tokens are sent`, {
    hint: "Name two users: --user and --other-user",
  });
}

/**
 * The running server, with a user and a client of the check's own, which are removed at the end.
 * @throws {OperationError} no_server, usage, not_found
 */
async function runningApiServer({ host, opened }: Session, flags: ApiPlaceFlags): Promise<ApiPlace> {
  for (const flag of ["user", "otherUser", "client", "fixtures"] as const) {
    if (flags[flag] === undefined) continue;
    const shown = flag === "otherUser" ? "other-user" : flag;
    throw new OperationError("usage", `--${shown} is for an API that this command starts`, {
      hint: "On a running server, the check has users and a client of its own, with the claims of --like USER. To start the API, add -- and its command",
    });
  }
  const { server, issuer } = await host.runningServer(true);
  const name = `check-api-${randomText(6)}`;
  const claims = await claimsLike(server, flags.like);
  const user = await addedUser(server, opened, name, claims);
  const otherUser = flags.ownedUrl === undefined ? null : await addedUser(server, opened, `${name}-other`, claims);
  const redirect_uris = ["http://localhost/callback"];
  await opened.adds(
    () => callServer(server, "clients.add", { client_id: name, redirect_uris }),
    () => callServer(server, "clients.remove", { client_id: name }),
  );
  return { server, issuer, user, otherUser, client: name, isOwn: false, env: host.env };
}

async function addedUser(server: Server, opened: Opened, username: string, claims: Claims): Promise<string> {
  await opened.adds(
    () => callServer(server, "users.add", { username, claims }),
    () => callServer(server, "users.remove", { username }),
  );
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
