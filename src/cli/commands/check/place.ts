import { filesIn, type FixtureSource } from "../../../core/fixture-files/source.ts";
import { findFixtures, readFixtures } from "../../../serve/fixture-files.ts";
import { createIdp } from "../../../index.ts";
import type { ClientView } from "../../../core/clients/admin.ts";
import { OperationError, RemoteError } from "../../../core/errors.ts";
import type { Hint } from "../../../core/hint.ts";
import { unknownHere } from "../../../core/nearest.ts";
import type { Browser } from "../../../client/app/visit.ts";
import { likelyClient, samlClientAmong } from "../env/app-client.ts";
import type { Invocation } from "../../invocation.ts";
import { fixturePaths, withStdin } from "../../flags/fixtures.ts";
import { environmentOf } from "../exec/exec.ts";
import type { OperationOutput } from "../../../core/operations/table.ts";
import { callServer, issuerAt, type Server } from "../../../serve/remote.ts";
import { findServer, startHint } from "../../target/target.ts";
import { serverOfUrl } from "../../target/server-of-url.ts";
import type { CheckFlags, CommonFlags } from "./flags.ts";
import type { Opened } from "./opened.ts";
import type { Subject } from "./subject.ts";

/** The issuer that the app signs in to. */

export interface CheckPlace {
  readonly server: Server;
  readonly issuer: string;
  readonly client: ClientView;
  /** Username. */
  readonly user: string;
  /** Whether nobody else uses this issuer. */
  readonly isOwn: boolean;
  /** The environment of the app that is started. */
  readonly env: NodeJS.ProcessEnv;
}

/** How many milliseconds a server has to say which issuer it is. */
const timeoutMs = 5000;

/**
 * A server in memory, with the environment that `exec` gives.
 * @param change of the fixtures
 */
export async function ownServer(
  cli: Invocation,
  flags: CommonFlags,
  opened: Opened,
  subject: Subject,
  change: (sources: readonly FixtureSource[]) => Promise<FixtureSource[]> = (sources) => Promise.resolve([...sources]),
): Promise<CheckPlace> {
  const idp = await createIdp({
    port: 0,
    fixtures: await change(findFixtures(await withStdin(cli, fixturePaths(cli, flags)), process.cwd()).sources),
    // The user is picked on the login page, so that nobody needs a password.
    settings: { login: "picker" },
  });
  await opened.add(() => idp.close());
  const server: Server = { url: idp.issuer, adminToken: idp.adminToken };
  const env = await environmentOf(cli, idp, flags);
  return { server, ...(await onOwnServer(peopleOf(server, idp.issuer, flags, subject))), isOwn: true, env };
}

/**
 * What the server of this check answers. A refusal of it names no command: the server is gone then, and the command would reach another one.
 * @throws {RemoteError}
 */
export async function onOwnServer<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof RemoteError) || error.hint?.command === undefined) throw error;
    const hint = { text: "Name another --user or --client, or change the fixtures" };
    throw new RemoteError(error.code, error.message, hint, error.problems);
  }
}

/** The issuer of an app: of the server that the check starts for it, or of the running one. @throws {OperationError} no_server, usage, not_found */
export const appPlace = (
  cli: Invocation,
  flags: CommonFlags,
  { command, opened }: { readonly command: readonly string[] | null; readonly opened: Opened },
  subject: Subject,
): Promise<CheckPlace> =>
  command === null ? runningServer(cli, flags, opened, subject) : ownServer(cli, flags, opened, subject);

/** The name of the issuer on a running server, and of the snapshot of it: `check-client`, `check-sp`. */
const ownNameOf = ({ name }: Subject): string => `check-${name}`;

/**
 * A client of the running server, or without a named client an own issuer on that server.
 * @param settings of that issuer
 * @throws {OperationError} no_server, usage, not_found
 */
export async function runningServer(
  cli: Invocation,
  flags: CommonFlags,
  opened: Opened,
  subject: Subject,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<CheckPlace> {
  const { server, issuer: found } = await requireServer(cli, subject);
  const isOwn = flags.client === undefined;
  const issuer = isOwn ? await ownIssuer(cli, server, flags, opened, ownNameOf(subject), settings) : found;
  const place = { ...server, url: issuer };
  return { server: place, ...(await peopleOf(place, issuer, flags, subject)), isOwn, env: cli.env };
}

/** The running server. @throws {OperationError} no_server, conflict */
export async function requireServer(
  cli: Invocation,
  { takesUrl }: Subject,
): Promise<Pick<CheckPlace, "server" | "issuer">> {
  const word = takesUrl === true ? "IDP_URL=" : "--url ";
  const server = cli.url === null ? await findServer(cli, word) : serverOfUrl(cli, cli.url);
  const issuer = server === null ? null : await issuerAt(server.url, timeoutMs);
  if (server !== null && issuer !== null) return { server, issuer };
  const place = server === null ? `on ${cli.data}` : `at ${server.url}`;
  throw new OperationError("no_server", `no server answers ${place}`, {
    hint: await startHint(
      cli,
      "To run the check with its own server, add -- and the command that starts what is checked. ",
      word,
    ),
  });
}

/** Uses the issuer that is there, and restores it at the end, or adds one, and removes it at the end. @returns its address */
async function ownIssuer(
  cli: Invocation,
  server: Server,
  flags: CommonFlags,
  opened: Opened,
  ownName: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<string> {
  const there = (await callServer(server, "issuers.list", {})).find(({ name }) => name === ownName);
  const { issuer } = there ?? (await addIssuer(cli, server, flags, opened, ownName));
  const own = { ...server, url: issuer };
  if (there !== undefined) await restoreAtEnd(own, opened, ownName);
  // An earlier run may have been killed.
  await callServer(own, "faults.clear", {});
  await callServer(own, "seed", { settings: { login: "picker", ...settings } });
  return issuer;
}

async function addIssuer(
  cli: Invocation,
  server: Server,
  flags: CommonFlags,
  opened: Opened,
  ownName: string,
): Promise<OperationOutput<"issuers.add">> {
  const paths = fixturePaths(cli, flags);
  const sources =
    paths.length === 0 ? [] : filesIn((await readFixtures(await withStdin(cli, paths), process.cwd())).sources);
  const added = callServer(server, "issuers.add", { name: ownName, ...(sources.length > 0 && { sources }) });
  await opened.add(async () => {
    await added;
    await callServer(server, "issuers.remove", { name: ownName });
  });
  return added;
}

async function restoreAtEnd(own: Server, opened: Opened, ownName: string): Promise<void> {
  const saved = callServer(own, "snapshots.save", { name: ownName, replace: true });
  await opened.add(async () => {
    await saved;
    await callServer(own, "snapshots.restore", { name: ownName });
    await callServer(own, "snapshots.remove", { name: ownName, replace: true });
  });
  await saved;
}

/** Refuses an app that signs in at another issuer. @throws {OperationError} usage */
export async function requireIssuer(
  { issuer }: Pick<CheckPlace, "issuer">,
  { start }: Pick<CheckFlags, "start">,
  browser: Browser,
  subject: Subject,
): Promise<void> {
  const { end, request } = await browser.signIn(start, "hold");
  await browser.close();
  if (request !== null || end.kind !== "foreign") return;
  throw new OperationError("usage", `the app does not use the issuer of this check: it leads to ${end.url}`, {
    hint: {
      text: `Start the app with the issuer ${issuer}, or add --client CLIENT_ID for a client of another issuer. To keep that issuer between two checks`,
      command: ["idp", "issuers", "add", ownNameOf(subject)],
    },
  });
}

async function peopleOf(
  server: Server,
  issuer: string,
  flags: CommonFlags,
  subject: Subject,
): Promise<Pick<CheckPlace, "issuer" | "client" | "user">> {
  const clients = await callServer(server, "clients.list", {});
  const client =
    flags.client === undefined
      ? usualClient(clients, subject)
      : clients.find(({ client_id: id }) => id === flags.client);
  if (client === undefined && subject.name === "sp" && flags.client === undefined) throw noProvider();
  if (client === undefined) throw noClient(flags.client, clients);
  return { issuer, client, user: await userOf(server, flags.user) };
}

/** The client that a check is for, where none is named: of a service provider, the first one that is. */
export const usualClient = (clients: readonly ClientView[], { name }: Subject): ClientView | undefined =>
  name === "sp" ? samlClientAmong(clients, undefined) : likelyClient(clients);

export function noProvider(): OperationError {
  const words = ["http://localhost:3000/saml/metadata", "--saml-acs", "http://localhost:3000/saml/acs"];
  return new OperationError("not_found", "there is no service provider: no client has saml", {
    hint: {
      text: "List it in the fixtures, or name one of the running server: --client CLIENT_ID. To add one there",
      command: ["idp", "clients", "add", ...words],
    },
  });
}

/** The refusal of a client that is not among these. @param wanted undefined: none of them signs users in */
export function noClient(wanted: string | undefined, clients: readonly ClientView[]): unknown {
  const known = clients.map(({ client_id: id }) => id);
  const error = new OperationError("not_found", `there is no client ${wanted ?? "that signs users in"}`);
  return unknownHere(error, wanted ?? "", { title: "Clients", known });
}

/** How a check gets a user: that of its own server must be in the fixtures. */
export const anotherUser: Hint = {
  text: "List one in the fixtures. To add one to the running server",
  command: ["idp", "users", "add", "erin"],
};

/** @param wanted absent: the first active user @throws {OperationError} not_found */
export async function userOf(server: Server, wanted: string | undefined): Promise<string> {
  const list = () => callServer(server, "users.list", {});
  if (wanted !== undefined) {
    try {
      return (await callServer(server, "users.show", { username: wanted })).username;
    } catch (error) {
      if (!(error instanceof RemoteError && error.code === "not_found")) throw error;
      const known = (await list()).map(({ username }) => username);
      throw unknownHere(new OperationError("not_found", error.message), wanted, { title: "Users", known });
    }
  }
  const active = (await list()).find(({ status }) => status === "active");
  if (active !== undefined) return active.username;
  throw new OperationError("not_found", "there is no active user who could sign in", { hint: anotherUser });
}
