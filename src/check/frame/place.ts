import { filesIn, type FixtureSource } from "../../core/base/fixture-files/source.ts";
import { findFixtures, readFixtures } from "../../serve/fixture-files.ts";
import { createIdp } from "../../index.ts";
import type { ClientView } from "../../core/records/clients/admin.ts";
import { OperationError, RemoteError } from "../../core/base/errors.ts";
import { unknownHere } from "../../core/base/nearest.ts";
import type { Browser } from "../../client/app/visit.ts";
import type { OperationOutput } from "../../core/admin/operations/table.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { Subject } from "./subject.ts";
import type { AppFlags, PlaceFlags } from "./flags.ts";
import type { Host } from "./host.ts";
import type { Opened } from "./opened.ts";
import { userOf } from "./people.ts";
import type { Session } from "./check.ts";

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

/** What a check wants of its issuer. */
interface Wish {
  /** Changes the fixtures of a server of its own. */
  readonly change?: (sources: readonly FixtureSource[]) => Promise<FixtureSource[]>;
  /** Settings of an issuer of its own on a running server. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** The issuer of an app: of the server that the check starts for it, or of the running one. @throws {OperationError} no_server, usage, not_found */
export const appPlace = (session: Session, flags: PlaceFlags, wish: Wish = {}): Promise<CheckPlace> =>
  session.command === null ? runningServer(session, flags, wish) : ownServer(session, flags, wish);

/** A server in memory, with the environment that `exec` gives. */
export async function ownServer(session: Session, flags: PlaceFlags, wish: Wish = {}): Promise<CheckPlace> {
  const { host, opened } = session;
  const { sources } = findFixtures(await host.fixtures(), host.cwd);
  const idp = await createIdp({
    port: 0,
    fixtures: wish.change === undefined ? sources : await wish.change(sources),
    // The user is picked on the login page, so that nobody needs a password.
    settings: { login: "picker" },
  });
  await opened.add(() => idp.close());
  const server: Server = { url: idp.issuer, adminToken: idp.adminToken };
  const env = await host.environmentOf(idp);
  return { server, ...(await onOwnServer(peopleOf(session, server, idp.issuer, flags))), isOwn: true, env };
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

/** The name of the issuer on a running server, and of the snapshot of it: `check-client`, `check-sp`. */
const ownNameOf = ({ check }: Session): string => `check-${check.name}`;

/** A client of the running server, or without a named client an own issuer on that server. @throws {OperationError} no_server, usage, not_found */
async function runningServer(session: Session, flags: PlaceFlags, wish: Wish): Promise<CheckPlace> {
  const { host, check } = session;
  const { server, issuer: found } = await host.runningServer(check.takesUrl === true);
  const isOwn = flags.client === undefined;
  const issuer = isOwn ? await ownIssuer(session, server, wish.settings) : found;
  const place = { ...server, url: issuer };
  return { server: place, ...(await peopleOf(session, place, issuer, flags)), isOwn, env: host.env };
}

/** Uses the issuer that is there, and restores it at the end, or adds one, and removes it at the end. @returns its address */
async function ownIssuer(session: Session, server: Server, settings: Wish["settings"] = {}): Promise<string> {
  const ownName = ownNameOf(session);
  const there = (await callServer(server, "issuers.list", {})).find(({ name }) => name === ownName);
  const { issuer } = there ?? (await addIssuer(session, server));
  const own = { ...server, url: issuer };
  if (there !== undefined) await restoreAtEnd(own, session.opened, ownName);
  // An earlier run may have been killed.
  await callServer(own, "faults.clear", {});
  await callServer(own, "seed", { settings: { login: "picker", ...settings } });
  return issuer;
}

async function addIssuer(session: Session, server: Server): Promise<OperationOutput<"issuers.add">> {
  const { host, opened } = session;
  const name = ownNameOf(session);
  const named = await host.fixtures();
  const sources = named.length === 0 ? [] : filesIn((await readFixtures(named, host.cwd)).sources);
  return opened.adds(
    () => callServer(server, "issuers.add", { name, ...(sources.length > 0 && { sources }) }),
    () => callServer(server, "issuers.remove", { name }),
  );
}

/** Keeps what the issuer is now, and restores it at the end. */
const restoreAtEnd = (own: Server, opened: Opened, name: string): Promise<unknown> =>
  opened.adds(
    () => callServer(own, "snapshots.save", { name, replace: true }),
    async () => {
      await callServer(own, "snapshots.restore", { name });
      await callServer(own, "snapshots.remove", { name, replace: true });
    },
  );

/** Refuses an app that signs in at another issuer. @throws {OperationError} usage */
export async function requireIssuer(
  session: Session,
  { issuer }: Pick<CheckPlace, "issuer">,
  { start }: Pick<AppFlags, "start">,
  browser: Browser,
): Promise<void> {
  const { end, request } = await browser.signIn(start, "hold");
  await browser.close();
  if (request !== null || end.kind !== "foreign") return;
  throw new OperationError("usage", `the app does not use the issuer of this check: it leads to ${end.url}`, {
    hint: {
      text: `Start the app with the issuer ${issuer}, or add --client CLIENT_ID for a client of another issuer. To keep that issuer between two checks`,
      command: ["idp", "issuers", "add", ownNameOf(session)],
    },
  });
}

async function peopleOf(
  { host, check }: Session,
  server: Server,
  issuer: string,
  flags: PlaceFlags,
): Promise<Pick<CheckPlace, "issuer" | "client" | "user">> {
  const clients = await callServer(server, "clients.list", {});
  const client =
    flags.client === undefined
      ? usualClient(host, check, clients)
      : clients.find(({ client_id: id }) => id === flags.client);
  if (client === undefined) throw noClient(check, flags.client, clients);
  return { issuer, client, user: await userOf(server, flags.user) };
}

/** The client that a check is for, where none is named: of a service provider, the first one that is. */
export const usualClient = (host: Host, { isSaml }: Subject, clients: readonly ClientView[]): ClientView | undefined =>
  isSaml === true ? host.samlClient(clients) : host.likelyClient(clients);

/** The refusal of a client that is not among these. @param wanted undefined: none of them signs users in */
export function noClient({ isSaml }: Subject, wanted: string | undefined, clients: readonly ClientView[]): unknown {
  if (isSaml === true && wanted === undefined) {
    const words = ["http://localhost:3000/saml/metadata", "--saml-acs", "http://localhost:3000/saml/acs"];
    return new OperationError("not_found", "there is no service provider: no client has saml", {
      hint: {
        text: "List it in the fixtures, or name one of the running server: --client CLIENT_ID. To add one there",
        command: ["idp", "clients", "add", ...words],
      },
    });
  }
  const known = clients.map(({ client_id: id }) => id);
  const error = new OperationError("not_found", `there is no client ${wanted ?? "that signs users in"}`);
  return unknownHere(error, wanted ?? "", { title: "Clients", known });
}
