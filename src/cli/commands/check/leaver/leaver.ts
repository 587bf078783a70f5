/*
 * `idp check leaver`: how long until an app locks a person out who left. It shares flags, session, processes, browsers, results and reports with
 * `idp check client` (see ../check.ts). control.ts sends the signals and undoes them; src/client/leaver-check measures.
 */
import { allCases, controlCase, type LeaverCase } from "../../../../check/leaver/cases.ts";
import { checkLeaver as checkCases } from "../../../../check/leaver/run.ts";
import {
  credentialHeaderOf,
  credentialOf,
  usualHeader,
  type CredentialPlace,
} from "../../../../check/leaver/credential.ts";
import type { AdminPlace } from "../../../../check/leaver/movers.ts";
import { lasting, signalNames, type Signal } from "../../../../check/leaver/signals.ts";
import type { CheckRun, RunResult } from "../../../../check/frame/run.ts";
import { OperationError } from "../../../../core/errors.ts";
import type { Client } from "../../../../store/store.ts";
import type { TypedCommand } from "../../../input/foreign-command.ts";
import type { Invocation } from "../../../invocation.ts";
import type { Outcome } from "../../../output/print.ts";
import { showProgress } from "../../../output/progress.ts";
import { callServer, type Server } from "../../../../serve/remote.ts";
import type { Declare } from "../../../act.ts";
import { examples, Option } from "../../../commander.ts";
import { collectOf, seconds } from "../../../flags/flag-values.ts";
import { withVariables } from "../../env/app-variables.ts";
import { jwksUriOf } from "../api-control.ts";
import { withPublishedKeys } from "../api-place.ts";
import { browsersOf } from "../browsers.ts";
import { casesOf, checkAddresses, type CheckFlags } from "../flags.ts";
import type { Opened } from "../opened.ts";
import { anotherUser, ownServer, requireIssuer, runningServer, type CheckPlace } from "../place.ts";
import { commandOf, runCheck, type Session } from "../session.ts";
import { theLeaverApp } from "../subject.ts";
import { address, browserOption, checkCommand, withAddresses, withCommon } from "../common.ts";
import { leaverControl } from "./control.ts";

/** As commander reads them. */
interface LeaverFlags extends CheckFlags {
  readonly api?: string;
  readonly admin?: string;
  readonly adminGroup?: string;
  /** An address, or a request. */
  readonly credential?: string;
  readonly credentialHeader?: string;
  readonly signal?: readonly Signal[];
}

/** Of an issuer of its own on a running server. */
const settings = { access_token_alg: "RS256" };

async function checkLeaver(cli: Invocation, typed: TypedCommand, flags: LeaverFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theLeaverApp);
  const credential = credentialPlace(flags);
  const admin = adminPlace(flags);
  const cases = wantedCases(flags);
  const { start, signedIn, signOut, api } = flags;
  const addresses = {
    ...{ "--start": start, "--signed-in": signedIn, "--sign-out": signOut, "--api": api },
    ...{ "--admin": admin?.url, "--credential": credential?.request.url },
  };
  const maxName = Math.max(...cases.map(({ name }) => name.length));
  return runCheck(cli, { subject: theLeaverApp, command, flags, addresses, maxName }, async (session) => {
    const place = await placeFor(cli, flags, session);
    await requireRealTime(place.server);
    const client = await clientOf(place, flags.allowRemote);
    const run = await session.start(place.env, start, `as client ${client.client_id} of ${place.issuer}`);
    const keys: string[] = [];
    const places = { credential, admin, onKey: (username: string) => keys.push(username) };
    const result = await runAll(cli, flags, cases, place, client, session, { ...run, ...places });
    return keys.length === 0 ? { result } : { result, notes: [keysText(keys)], fields: { keys: [...new Set(keys)] } };
  });
}

const keysText = (usernames: readonly string[]): string =>
  `The app still has the keys that --credential gave ${[...new Set(usernames)].join(", ")}: the check removes no keys.`;

/** @throws {OperationError} usage */
function credentialPlace({ credential, credentialHeader, api }: LeaverFlags): CredentialPlace | null {
  if (credential === undefined) {
    if (credentialHeader === undefined) return null;
    throw new OperationError("usage", "--credential-header needs --credential: the request that gives a user a key");
  }
  if (api === undefined) throw new OperationError("usage", "--credential needs --api URL, which takes the key");
  const request = credentialOf(credential);
  const header = credentialHeader === undefined ? usualHeader : credentialHeaderOf(credentialHeader);
  if (typeof request === "string") {
    throw new OperationError("usage", `--credential: ${request}`, {
      hint: `An address, or a request: 'POST http://localhost:3000/api/keys {"name":"check"}'`,
    });
  }
  if (typeof header === "string") throw new OperationError("usage", `--credential-header: ${header}`);
  return { request, header };
}

/** @throws {OperationError} usage */
function adminPlace({ admin, adminGroup }: LeaverFlags): AdminPlace | null {
  if (admin === undefined && adminGroup === undefined) return null;
  if (admin !== undefined && adminGroup !== undefined) return { url: admin, group: adminGroup };
  const [given, needed] = admin === undefined ? ["--admin-group", "--admin URL"] : ["--admin", "--admin-group NAME"];
  throw new OperationError("usage", `${given} needs ${needed}`);
}

/** @throws {OperationError} usage */
function wantedCases(flags: LeaverFlags): readonly LeaverCase[] {
  const { signal: signals = signalNames, case: named } = flags;
  const found = casesOf(named, allCases, [controlCase.name]);
  for (const one of named === undefined ? [] : found) {
    const flag = missingFlag(one, flags);
    if (flag !== null) throw new OperationError("usage", `--case ${one.name} needs ${flag}`);
  }
  const isWanted = ({ signal }: LeaverCase): boolean =>
    named !== undefined || signal === undefined || signals.includes(signal);
  return found.filter((one) => isWanted(one) && missingFlag(one, flags) === null);
}

/** The flag without which a case is nothing; null: it is given. */
function missingFlag({ needsApi, needsCredential, needsAdmin }: LeaverCase, flags: LeaverFlags): string | null {
  if (needsApi === true && flags.api === undefined) return "--api URL";
  if (needsCredential === true && flags.credential === undefined) return "--credential URL";
  return needsAdmin === true && flags.admin === undefined ? "--admin URL --admin-group NAME" : null;
}

/** Times are measured by the real clock, and tokens expire by the server's. @throws {OperationError} conflict */
async function requireRealTime(server: Server): Promise<void> {
  const { offset, frozen } = await callServer(server, "clock.show", {});
  if (offset === 0 && !frozen) return;
  throw new OperationError("conflict", `the clock of the server is ${frozen ? "frozen" : `off by ${offset} s`}`, {
    hint: { text: "The check measures real time. Set it right", command: ["idp", "clock", "reset"] },
  });
}

/** Who stays signed in, where the signals have no users of their own. @throws {OperationError} not_found */
async function otherThan(server: Server, user: string): Promise<string> {
  const users = await callServer(server, "users.list", {});
  const other = users.find(({ status, username }) => status === "active" && username !== user);
  if (other !== undefined) return other.username;
  throw new OperationError("not_found", `there is no active user but ${user}, who could stay signed in`, {
    hint: anotherUser,
  });
}

async function placeFor(cli: Invocation, flags: LeaverFlags, { command, opened }: Session): Promise<CheckPlace> {
  if (command === null) return runningServer(cli, flags, opened, theLeaverApp, settings);
  const place = await ownServer(cli, flags, opened, theLeaverApp, withPublishedKeys);
  const { audience } = place.client;
  const env = {
    ...place.env,
    OIDC_JWKS_URI: await jwksUriOf(place.issuer),
    OIDC_AUDIENCE: typeof audience === "string" ? audience : place.issuer,
  };
  return { ...place, env };
}

async function runAll(
  cli: Invocation,
  flags: LeaverFlags,
  cases: readonly LeaverCase[],
  place: CheckPlace,
  client: Client,
  { opened, command, lookup }: Session,
  run: CheckRun & Pick<Parameters<typeof checkCases>[0], "credential" | "admin" | "onKey">,
): Promise<RunResult> {
  const { start, signedIn, signedInText = null, signOut = null, api = null } = flags;
  const user = flags.user === undefined ? null : place.user;
  const newBrowser = await browsersOf(cli, flags, place, opened);
  const control = await leaverControl({ ...place, client, user }, lookup, opened);
  const other = user === null ? await control.enter() : await otherThan(place.server, user);
  if (command === null) await requireIssuer(place, flags, await newBrowser(other), theLeaverApp);
  const within = flags.within * 1000;
  const progress = progressOf(cli, within, opened);
  // Ctrl+C leaves no half of a bar on the terminal.
  await opened.add(() => {
    progress.end();
    return Promise.resolve();
  });
  const result = await checkCases(
    {
      ...{ ...run, control, newBrowser, api, other },
      app: { start, signedIn, signedInText, signOut, within, lookup },
      signals: signalNames.filter((name) => cases.some(({ signal }) => signal === name)),
      isTogether: user === null,
      isSilenceNamed: [...(flags.signal ?? []), ...(flags.case ?? [])].some((name) => name.startsWith("silence")),
      isEnded: () => opened.isClosed,
      onWait: progress.update,
      onResult: (one) => {
        progress.end();
        run.onResult(one);
      },
    },
    cases,
  );
  progress.end();
  return result;
}

/** The client with the token of its SCIM server. Its addresses are sent signals by this command, too. @throws {OperationError} usage */
async function clientOf({ server, client: { client_id } }: CheckPlace, allowRemote: true | undefined): Promise<Client> {
  const client = (await callServer(server, "clients.show", { client_id, secrets: true })) as unknown as Client;
  const { scim, global_token_revocation: revocation } = client;
  const named = {
    [`scim.url of client "${client_id}"`]: scim?.url,
    [`global_token_revocation.uri of client "${client_id}"`]: revocation?.uri,
  };
  await checkAddresses(named, allowRemote);
  return client;
}

/** How long it waits, and for what, on a terminal. */
function progressOf(cli: Invocation, within: number, opened: Opened) {
  let waiting: readonly Signal[] = [];
  let began: number | null = null;
  const progress = showProgress(cli, () => `Still let in, for at most ${lasting(within)}: ${waiting.join(", ")}`);
  return {
    update: (now: ReadonlySet<Signal>): void => {
      waiting = [...now];
      began ??= cli.now();
      if (!opened.isClosed) progress.update(Math.min(cli.now() - began, within), within);
    },
    end: progress.end,
  };
}

const help = `
For each signal a user signs in in two browsers and leaves by that signal alone.
Then --signed-in and --api are asked every 250 ms until they refuse, or --within
is over. The signals are scim (active: false), backchannel-logout, revocation
(Global Token Revocation), silence (suspended, and nobody is told) and all (idp
users leave). Each has a user of its own, and all run at the same time; with
--user, one after another. An ordinary sign-in must succeed first, between the
cases and last. Verdicts: noticed (locked out in time), unnoticed, not-required
(the paragraph says so), not-reached, works. The exit code is 6 if something
went unnoticed that is not accepted or the app does not sign in, 5 if it never
answers at --start, and 4 if the clock of the server was moved.

With --admin and --admin-group, a user leaves a group and stays: the rights must
go, and nothing else. With --credential, each user gets a key for --api, which
must end with the person; the keys stay in the app, and are in no report.

With -- CMD, a server in memory is started, and the app with the environment of
idp exec, OIDC_AUDIENCE and OIDC_JWKS_URI; both end with the command. Without
it, the check runs on the running server: on an issuer of its own, which the app
must use, or on the issuer of --client. Everything is undone at the end.
`;

/** Declares `idp check leaver`. */
export const declareCheckLeaver: Declare = (check, { act, words }) => {
  const leaver = withAddresses(checkCommand(check, "leaver", "report how long an app lets a person in who left"))
    .addOption(new Option("--api <url>", "an address of the API that needs a token").argParser(address))
    .addOption(
      new Option("--within <seconds>", "how soon the app must lock the person out")
        .argParser(seconds(1, 86_400))
        .default(300, "5m"),
    )
    .addOption(
      new Option("--signal <signal>", "only this signal; repeatable")
        .choices(signalNames)
        .argParser(collectOf(signalNames)),
    )
    .addOption(new Option("--admin <url>", "an address that only members of --admin-group may see").argParser(address))
    .option("--admin-group <name>", "the group that a user leaves, who stays")
    .option("--credential <request>", "gives the signed-in user a key for --api: a URL, or 'POST URL {json}'")
    .option("--credential-header <header>", "how the key is sent (default: 'Authorization: Bearer {key}')")
    .option(...browserOption);
  withVariables(
    withCommon(leaver, "app", "--start", "who leaves, for apps that admit only users they know (default: new users)"),
  )
    .addHelpText("after", help.trimEnd())
    .addHelpText(
      "after",
      examples(
        "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
        "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --api http://localhost:3000/api/me --signal scim --within 1m -- npm start",
        "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --admin http://localhost:3000/admin --admin-group admins -- npm start",
        "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app --report leaver.md",
      ),
    )
    .action(act((cli, before: readonly string[], flags: LeaverFlags) => checkLeaver(cli, { before, words }, flags)));
};
