/*
 * `idp check client`. place.ts has the issuer, browsers.ts the browsers, and control.ts connects the cases to the issuer.
 * src/client/app-check runs them.
 */
import { control } from "../../../check/client/cases/control.ts";
import { allCases, casesFor } from "../../../check/client/cases/list.ts";
import type { Attempt, Somebody } from "../../../check/client/attempt.ts";
import { handPackages, withFix } from "../../../check/client/fixes.ts";
import { checkApp } from "../../../check/client/run.ts";
import type { Browser } from "../../../client/app/visit.ts";
import { OperationError } from "../../../core/errors.ts";
import type { Case, CaseResult } from "../../../check/frame/verdict.ts";
import type { CheckRun, RunResult } from "../../../check/frame/run.ts";
import type { Declare } from "../../act.ts";
import { examples, Option } from "../../commander.ts";
import { collect, seconds } from "../../flags/flag-values.ts";
import type { TypedCommand } from "../../input/foreign-command.ts";
import { withVariables } from "../env/app-variables.ts";
import type { Invocation } from "../../invocation.ts";
import type { Outcome } from "../../output/print.ts";
import { count } from "../../output/words.ts";
import { appProject } from "./app-project.ts";
import { browsersOf, closeLimit } from "./browsers.ts";
import { address, browserOption, checkCommand, withAddresses, withCommon } from "./common.ts";
import { controlOf } from "./control.ts";
import { accountOf, addressesOf, withAccount, type AccountFlags } from "./account/account-flags.ts";
import { casesOf, type CheckFlags } from "./flags.ts";
import { appPlace, requireIssuer, type CheckPlace } from "./place.ts";
import { secondPlace, type SecondPlace } from "./account/second.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import { commandOf, runCheck, type Session } from "./session.ts";
import { theApp } from "./subject.ts";

/** As commander reads them. */
interface ClientFlags extends CheckFlags, AccountFlags {
  /** Username; absent: one is added. */
  readonly attacker?: string;
  /** A page that shows who is signed in; absent: that of `signedIn`. */
  readonly who?: string;
}

async function checkClient(cli: Invocation, typed: TypedCommand, flags: ClientFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theApp);
  const { library: known, has } = appProject(command, process.cwd());
  const library = known ?? handPackages.find(has) ?? null;
  const cases = casesOf(flags.case, allCases, [control.name]).map((one) => withFix(one, library));
  const { start, signedIn, signOut, who } = flags;
  const account = accountOf(flags);
  const addresses = {
    ...{ "--start": start, "--signed-in": signedIn, "--sign-out": signOut, "--who": who },
    ...addressesOf(account, flags),
  };
  return runCheck(cli, { subject: theApp, command, flags, addresses }, async (session) => {
    const place = await appPlace(cli, flags, session, theApp);
    const second = await secondPlace(place, flags, command !== null, theApp);
    const run = await session.start(
      { ...place.env, ...second?.env },
      start,
      `as client ${place.client.client_id} of ${place.issuer}`,
    );
    const result = await runAll(cli, flags, cases, { ...place, account, second }, session, run);
    return { result, lead: leadOf(result) };
  });
}

/** Cases in which somebody gets what belongs to somebody else; two others are about the user's own account. */
const isOfPerson = ({ name }: CaseResult): boolean =>
  /^(?:account|refresh)\./.test(name) && !["account.email-changed", "refresh.token-kept"].includes(name);

/** Whether the app let in the wrong person; null: that was not seen. */
function leadOf({ cases }: RunResult): string | null {
  const seen = cases.filter((one) => isOfPerson(one) && ["noticed", "unnoticed"].includes(one.verdict));
  const wrong = seen.filter(({ verdict }) => verdict === "unnoticed").length;
  if (seen.length === 0) return null;
  return `${wrong === 0 ? "None" : wrong} of ${count(cases.length, "case")} let in the wrong person.`;
}

async function runAll(
  cli: Invocation,
  flags: ClientFlags,
  cases: readonly Case<Attempt>[],
  place: CheckPlace & Pick<Parameters<typeof checkApp>[0], "account"> & { readonly second: SecondPlace | null },
  { opened, command, lookup }: Session,
  run: CheckRun,
): Promise<RunResult> {
  const { user, server, account } = place;
  const appControl = controlOf(server, aboutOf(place, place));
  await opened.add(() => appControl.close());
  const { logoutUri } = appControl;
  const {
    start,
    signedIn,
    signedInText = null,
    signOut = null,
    who = signedIn,
    returnParam: returnParams = [],
  } = flags;
  const more = [flags.who, ...Object.values(addressesOf(account, {}))].filter((one) => one !== undefined);
  const browserFor = await browsersOf(cli, flags, place, opened, more);
  const other = await secondOf(cli, flags, place, opened, more);
  const newBrowser = ({ username = user, at }: Somebody): Promise<Browser> =>
    at === "second" && other !== null ? other.browserFor(username) : browserFor(username);
  if (command === null) await requireIssuer(place, flags, await newBrowser({}), theApp);
  const concerned = casesFor(logoutUri);
  return checkApp(
    {
      ...{ ...run, control: appControl, newBrowser, closeLimit },
      ...{ account, otherUser: await otherUserOf(server, user, flags), second: other },
      app: { start, signedIn, signedInText, signOut, who, returnParams, within: flags.within * 1000, lookup },
    },
    cases.filter(({ name }) => concerned.some((one) => one.name === name)),
  );
}

/** What the cases know of an issuer and its client. */
function aboutOf(
  { issuer, client }: Pick<CheckPlace, "issuer" | "client">,
  { user, isOwn }: Pick<CheckPlace, "user" | "isOwn">,
) {
  const { redirect_uris: redirectUris, backchannel_logout_uri: uri } = client;
  const logoutUri = typeof uri === "string" ? uri : null;
  return { issuer, client: client.client_id, isConfidential: !client.public, redirectUris, logoutUri, user, isOwn };
}

/** The other connection of the app. */
async function secondOf(
  cli: Invocation,
  flags: ClientFlags,
  { second, ...place }: CheckPlace & { readonly second: SecondPlace | null },
  opened: Session["opened"],
  more: readonly string[],
) {
  const { secondStart } = flags;
  if (second === null || secondStart === undefined) return null;
  const like = await callServer(place.server, "users.show", { username: place.user });
  const control = controlOf(second.server, aboutOf(second, place), like.claims);
  await opened.add(() => control.close());
  const browserFor = await browsersOf(cli, { ...flags, start: secondStart }, second, opened, more);
  return { start: secondStart, control, browserFor };
}

/** @throws {OperationError} not_found, usage */
async function otherUserOf(server: Server, user: string, { attacker }: ClientFlags): Promise<string | null> {
  if (attacker === user) {
    throw new OperationError("usage", `--attacker ${attacker} is the user who signs in`, {
      hint: "Name another one; it may be any user whom the app admits",
    });
  }
  return attacker === undefined ? null : (await callServer(server, "users.show", { username: attacker })).username;
}

const help = `
Each case lets the app sign a user in, with one thing wrong in a response, and
then asks --signed-in whether somebody is signed in: 2xx, and no redirect to
sign in. An ordinary sign-in must succeed first, between the cases and last.
Verdicts: noticed, unnoticed, not-required (the paragraph says so), not-reached,
works (a control, or a case that must still work). The exit code is 6 if
something went unnoticed that is not accepted or the app does not sign in, and 5
if it never answers at --start.

With --mark or --account, other people sign in with the user's e-mail, username
or name, and must not be shown the user's text or id: accounts are found by
issuer and sub. What stays in the app is the last line.

With -- CMD, a server in memory is started, and the app with the environment of
idp exec; both end with the command. Without it, the cases run on the running
server: on their own issuer, which the app must use, or on the issuer of
--client, where their faults apply only to that client.
`;

/** Declares `idp check client`. */
export const declareCheckClient: Declare = (check, { act, words }) => {
  const client = withAddresses(checkCommand(check, "client", "report which wrong responses an app does not notice"))
    .addOption(new Option("--sign-out <url>", "an address that signs the user out").argParser(address))
    .addOption(
      new Option("--within <seconds>", "how soon a logout at the provider must end the session of the app")
        .argParser(seconds(0, 600))
        .default(2),
    )
    .addOption(
      new Option(
        "--who <url>",
        "a page that shows e-mail, name or username of the user (default: --signed-in)",
      ).argParser(address),
    )
    .option("--return-param <name>", "another parameter of --start that says where to go; repeatable", collect)
    .option(...browserOption)
    .option(
      "--attacker <username>",
      "another user whom the app admits (default: one that is added, and removed at the end)",
    );
  withVariables(withCommon(withAccount(client), "app", "--start"))
    .addHelpText("after", help.trimEnd())
    .addHelpText(
      "after",
      examples(
        "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
        "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --mark http://localhost:3000/profile -- npm start",
        "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app",
        "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --case pkce --report report.xml -- npm start",
      ),
    )
    .action(act((cli, before: readonly string[], flags: ClientFlags) => checkClient(cli, { before, words }, flags)));
};
