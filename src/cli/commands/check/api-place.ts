import { OperationError } from "../../../core/errors.ts";
import { readSource, type FixtureSource } from "../../../core/fixture-files/source.ts";
import { isObject } from "../../../text/json.ts";
import { randomText } from "../../../serve/random.ts";
import type { Invocation } from "../../invocation.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import { jwksUriOf, type ApiPeople } from "./api-control.ts";
import type { CommonFlags } from "./flags.ts";
import type { Opened } from "./opened.ts";
import { ownServer, requireServer } from "./place.ts";
import { theApi } from "./subject.ts";

/** The issuer whose tokens the API takes. */

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

/** A server in memory. */
export async function ownApiServer(cli: Invocation, flags: CommonFlags, opened: Opened): Promise<ApiPlace> {
  const place = await ownServer(cli, flags, opened, theApi, withPublishedKeys);
  const env = { ...place.env, OIDC_JWKS_URI: await jwksUriOf(place.issuer) };
  return { ...place, client: place.client.client_id, env };
}

/**
 * The running server, with a user and a client of the check's own, which are removed at the end.
 * @throws {OperationError} no_server, usage
 */
export async function runningApiServer(cli: Invocation, flags: CommonFlags, opened: Opened): Promise<ApiPlace> {
  for (const flag of ["user", "client", "fixtures"] as const) {
    if (flags[flag] === undefined) continue;
    throw new OperationError("usage", `--${flag} is for an API that this command starts`, {
      hint: "On a running server, the check has a user and a client of its own. To start the API, add -- and its command",
    });
  }
  const { server, issuer } = await requireServer(cli, theApi);
  const name = `check-api-${randomText(6)}`;
  const user = callServer(server, "users.add", { username: name });
  await opened.add(async () => {
    await user;
    await callServer(server, "users.remove", { username: name });
  });
  await user;
  const redirect_uris = ["http://localhost/callback"];
  const client = callServer(server, "clients.add", { client_id: name, redirect_uris });
  await opened.add(async () => {
    await client;
    await callServer(server, "clients.remove", { client_id: name });
  });
  await client;
  return { server, issuer, user: name, client: name, isOwn: false, env: cli.env };
}
