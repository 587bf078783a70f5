/*
 * cli/commands/check: `idp check client`. flags.ts checks what was typed, accepted.ts reads what may go unnoticed, place.ts has the issuer,
 * session.ts runs to the end or a signal, app-process.ts has the app, control.ts connects the cases to the issuer. src/client/app-check runs
 * them; result.ts prints the result, report.ts writes files. opened.ts closes what was opened.
 */
import { setTimeout as wait } from "node:timers/promises";
import { control } from "../../../client/app-check/cases/control.ts";
import { allCases, casesFor } from "../../../client/app-check/cases/list.ts";
import type { Attempt } from "../../../client/app-check/attempt.ts";
import { handPackages, withFix } from "../../../client/app-check/fixes.ts";
import { checkApp } from "../../../client/app-check/run.ts";
import type { Browser, Places } from "../../../client/app-check/browser.ts";
import type { Case } from "../../../client/verdicts/case.ts";
import type { RunResult } from "../../../client/verdicts/run.ts";
import { smallBrowser } from "../../../client/app-check/small-browser.ts";
import { randomText } from "../../../serve/random.ts";
import type { TypedCommand } from "../../input/foreign-command.ts";
import { projectOf } from "../init/project.ts";
import type { Invocation } from "../../invocation.ts";
import type { Outcome } from "../../output/print.ts";
import { say } from "../../output/print.ts";
import { acceptedOf } from "./accepted.ts";
import type { AppProcess, StartCommand } from "./app-process.ts";
import { controlOf } from "./control.ts";
import { casesOf, checkAddresses, checkReport, nearLookup, type CheckFlags } from "./flags.ts";
import type { Opened } from "./opened.ts";
import { ownServer, requireIssuer, runningServer, type CheckPlace } from "./place.ts";
import { writeReport } from "./report.ts";
import { caseLine, isFailedControl, outcomeOf } from "./result.ts";
import { commandOf, restartOf, runUntilSignal, startOrWait } from "./session.ts";
import { theApp } from "./subject.ts";

/** What was typed, once it is valid. */
interface Wanted {
  readonly flags: CheckFlags;
  readonly cases: readonly Case<Attempt>[];
  readonly accepted: ReadonlyMap<string, string>;
  readonly command: StartCommand | null;
}

/** Milliseconds that a case may take, beside what it has to wait for. */
export const caseLimit = 60_000;
/** Milliseconds that a browser may take to close. */
export const closeLimit = 5000;

/** `idp check client`: whether the app notices wrong responses. */
export async function checkClient(cli: Invocation, typed: TypedCommand, flags: CheckFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theApp);
  const { libraries, has } = projectOf(process.cwd());
  const library = libraries[0]?.library ?? handPackages.find(has) ?? null;
  const cases = casesOf(flags.case, allCases, [control.name]).map((one) => withFix(one, library));
  checkReport(flags);
  const { start, signedIn, signOut, allowRemote } = flags;
  await checkAddresses({ "--start": start, "--signed-in": signedIn, "--sign-out": signOut }, allowRemote);
  const accepted = await acceptedOf(flags.accept ?? [], "client");
  return runUntilSignal(cli, (opened) => checked(cli, { flags, cases, accepted, command }, opened));
}

async function checked(cli: Invocation, wanted: Wanted, opened: Opened): Promise<Outcome> {
  const { flags, command } = wanted;
  const place = await (command === null
    ? runningServer(cli, flags, opened, theApp)
    : ownServer(cli, flags, opened, theApp));
  const start = { address: flags.start, timeout: flags.timeout, lookup: nearLookup(flags.allowRemote) };
  const app = await startOrWait(theApp, command, place.env, start, opened);
  if (!cli.json) say(cli, `Checking ${flags.start} as client ${place.client.client_id} of ${place.issuer}`);
  const result = await runAll(cli, wanted, place, app, opened);
  if (result.cases.some(isFailedControl)) await app?.settle();
  if (flags.report !== undefined) await writeReport(flags.report, theApp, result);
  return outcomeOf(cli, theApp, result, app);
}

async function runAll(
  cli: Invocation,
  { flags, cases, accepted }: Wanted,
  place: CheckPlace,
  app: AppProcess | null,
  opened: Opened,
): Promise<RunResult> {
  const { issuer, client, user, isOwn, server } = place;
  const redirectUris = client.redirect_uris;
  const { backchannel_logout_uri: uri } = client;
  const logoutUri = typeof uri === "string" ? uri : null;
  const control = controlOf(server, { issuer, client: client.client_id, redirectUris, logoutUri, user, isOwn });
  const concerned = casesFor(logoutUri);
  await opened.add(() => control.close());
  const { start, signedIn, signedInText = null, signOut = null } = flags;
  const addresses = [start, signedIn, ...(signOut === null ? [] : [signOut]), ...redirectUris];
  const origins = addresses.filter((address) => /^https?:/.test(address) && URL.canParse(address));
  const lookup = nearLookup(flags.allowRemote);
  const places: Places = { issuer, redirectUris, origins: origins.map((one) => new URL(one).origin), user, lookup };
  const browserFor = await browserOf(cli, flags, places, opened);
  const newBrowser = (): Promise<Browser> => browserFor(places);
  if (app === null) await requireIssuer(place, flags, await newBrowser(), theApp);
  return checkApp(
    {
      ...{ control, newBrowser, accepted, wait, now: cli.now, random: randomText },
      app: { start, signedIn, signedInText, signOut, within: flags.within * 1000, lookup },
      restart: restartOf(app, opened),
      ...{ startLimit: flags.timeout * 1000, caseLimit, closeLimit },
      onResult: (one) => {
        if (!cli.json && !opened.isClosed) cli.stdout.write(`${caseLine(one, cli.out)}\n`);
      },
    },
    cases.filter(({ name }) => concerned.some((one) => one.name === name)),
  );
}

/** Makes a browser for each case. @param places the first of those that it is called with */
export async function browserOf(
  cli: Invocation,
  flags: Pick<CheckFlags, "browser">,
  places: Places,
  opened: Opened,
): Promise<(places: Places) => Promise<Browser>> {
  if (flags.browser !== true) return (own) => Promise.resolve(smallBrowser(own));
  const { launchChromium } = await import("./chromium.ts");
  const { chromiumBrowser } = await import("../../../client/app-check/chromium.ts");
  const chromium = await launchChromium(cli, places);
  await opened.add(() => chromium.close());
  return async (own) => chromiumBrowser(own, await chromium.newContext({ ignoreHTTPSErrors: true }));
}

/** @returns what makes a browser in which a user, by the username, signs in to an app */
export async function browsersOf(
  cli: Invocation,
  flags: Pick<CheckFlags, "start" | "signedIn" | "signOut" | "browser" | "allowRemote">,
  { issuer, client }: Pick<CheckPlace, "issuer" | "client">,
  opened: Opened,
): Promise<(username: string) => Promise<Browser>> {
  const { start, signedIn, signOut, allowRemote } = flags;
  const redirectUris = client.redirect_uris;
  const addresses = [start, signedIn, ...(signOut === undefined ? [] : [signOut]), ...redirectUris];
  const origins = addresses
    .filter((address) => /^https?:/.test(address) && URL.canParse(address))
    .map((address) => new URL(address).origin);
  const placesFor = (user: string): Places => ({
    ...{ issuer, redirectUris, origins, user, lookup: nearLookup(allowRemote) },
  });
  const browserFor = await browserOf(cli, flags, placesFor(""), opened);
  return (username) => browserFor(placesFor(username));
}
