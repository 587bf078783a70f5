/*
 * `idp check client`. place.ts has the issuer, browsers.ts the browsers, and control.ts connects the cases to the issuer.
 * src/client/app-check runs them.
 */
import { control } from "../../../check/client/cases/control.ts";
import { allCases, casesFor } from "../../../check/client/cases/list.ts";
import type { Attempt } from "../../../check/client/attempt.ts";
import { handPackages, withFix } from "../../../check/client/fixes.ts";
import { checkApp } from "../../../check/client/run.ts";
import type { Browser } from "../../../client/app/visit.ts";
import type { Case } from "../../../check/frame/verdict.ts";
import type { CheckRun, RunResult } from "../../../check/frame/run.ts";
import { type Declare, examples } from "../../act.ts";
import { Option } from "../../commander.ts";
import { collect, seconds } from "../../flags/flag-values.ts";
import type { TypedCommand } from "../../input/foreign-command.ts";
import { withVariables } from "../env/app-variables.ts";
import { projectOf } from "../init/project.ts";
import type { Invocation } from "../../invocation.ts";
import type { Outcome } from "../../output/print.ts";
import { browsersOf, closeLimit } from "./browsers.ts";
import { address, browserOption, checkCommand, withAddresses, withCommon } from "./common.ts";
import { controlOf } from "./control.ts";
import { casesOf, type CheckFlags } from "./flags.ts";
import { appPlace, requireIssuer, type CheckPlace } from "./place.ts";
import { commandOf, runCheck, type Session } from "./session.ts";
import { theApp } from "./subject.ts";

async function checkClient(cli: Invocation, typed: TypedCommand, flags: CheckFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theApp);
  const { libraries, has } = projectOf(process.cwd());
  const library = libraries[0]?.library ?? handPackages.find(has) ?? null;
  const cases = casesOf(flags.case, allCases, [control.name]).map((one) => withFix(one, library));
  const { start, signedIn, signOut } = flags;
  const addresses = { "--start": start, "--signed-in": signedIn, "--sign-out": signOut };
  return runCheck(cli, { subject: theApp, command, flags, addresses }, async (session) => {
    const place = await appPlace(cli, flags, session, theApp);
    const run = await session.start(place.env, start, `as client ${place.client.client_id} of ${place.issuer}`);
    return { result: await runAll(cli, flags, cases, place, session, run) };
  });
}

async function runAll(
  cli: Invocation,
  flags: CheckFlags,
  cases: readonly Case<Attempt>[],
  place: CheckPlace,
  { opened, command, lookup }: Session,
  run: CheckRun,
): Promise<RunResult> {
  const { issuer, client, user, isOwn, server } = place;
  const { redirect_uris: redirectUris, backchannel_logout_uri: uri } = client;
  const logoutUri = typeof uri === "string" ? uri : null;
  const about = {
    issuer,
    client: client.client_id,
    isConfidential: !client.public,
    redirectUris,
    logoutUri,
    user,
    isOwn,
  };
  const appControl = controlOf(server, about);
  await opened.add(() => appControl.close());
  const { start, signedIn, signedInText = null, signOut = null, returnParam: returnParams = [] } = flags;
  const browserFor = await browsersOf(cli, flags, place, opened);
  const newBrowser = (): Promise<Browser> => browserFor(user);
  if (command === null) await requireIssuer(place, flags, await newBrowser(), theApp);
  const concerned = casesFor(logoutUri);
  return checkApp(
    {
      ...{ ...run, control: appControl, newBrowser, closeLimit },
      app: { start, signedIn, signedInText, signOut, returnParams, within: flags.within * 1000, lookup },
    },
    cases.filter(({ name }) => concerned.some((one) => one.name === name)),
  );
}

const help = `
Each case lets the app sign a user in, with one thing wrong in a response, and
then asks --signed-in whether somebody is signed in: 2xx, and no redirect to
sign in. An ordinary sign-in must succeed first, between the cases and last.
Verdicts: noticed, unnoticed, not-required (the paragraph says so), not-reached,
works (a control, or a case that must still work). The exit code is 6 if
something went unnoticed that is not accepted or the app does not sign in, and 5
if it never answers at --start.

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
    .option("--return-param <name>", "another parameter of --start that says where to go; repeatable", collect)
    .option(...browserOption);
  withVariables(withCommon(client, "app", "--start"))
    .addHelpText(
      "after",
      help +
        examples(
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app",
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --case pkce --report report.xml -- npm start",
        ),
    )
    .action(act((cli, before: readonly string[], flags: CheckFlags) => checkClient(cli, { before, words }, flags)));
};
