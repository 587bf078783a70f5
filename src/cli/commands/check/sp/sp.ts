/*
 * cli/commands/check/sp: `idp check sp`, whether a service provider refuses. It shares flags, places, session, processes, results and reports with
 * `idp check client` (see ../check.ts). sp-people.ts has the user and the attacker, sp-second.ts the connection to another tenant, sp-control.ts
 * connects the cases of src/check/sp to the issuer, logout-request.ts makes LogoutRequests.
 */
import type { Places } from "../../../../client/app/visit.ts";
import type { Attempt, Somebody } from "../../../../check/sp/attempt.ts";
import { control, controlAttacker } from "../../../../check/sp/cases/control.ts";
import { allCases, casesFor } from "../../../../check/sp/cases/list.ts";
import { withFix } from "../../../../check/sp/fixes.ts";
import { checkSp as checkCases } from "../../../../check/sp/run.ts";
import type { Case } from "../../../../check/frame/verdict.ts";
import type { CheckRun, RunResult } from "../../../../check/frame/run.ts";
import { OperationError } from "../../../../core/errors.ts";
import type { Declare } from "../../../act.ts";
import { examples, Option } from "../../../commander.ts";
import type { TypedCommand } from "../../../input/foreign-command.ts";
import type { Invocation } from "../../../invocation.ts";
import type { Outcome } from "../../../output/print.ts";
import type { AccountPlace } from "../../../../check/frame/account/account-place.ts";
import { accountOf, addressesOf, withAccount, type AccountFlags } from "../account/account-flags.ts";
import { secondPlace, type SecondPlace } from "../account/second.ts";
import { appProject } from "../app-project.ts";
import { beginsAt, browserOf, closeLimit } from "../browsers.ts";
import { address, browserOption, checkCommand, withAddresses, withCommon } from "../common.ts";
import { casesOf, type CheckFlags, type CommonFlags } from "../flags.ts";
import { appPlace, requireIssuer, type CheckPlace } from "../place.ts";
import { commandOf, runCheck, type Session } from "../session.ts";
import { theSp } from "../subject.ts";
import { spPeople } from "./sp-people.ts";
import type { secondSp } from "./sp-second.ts";

/** As commander reads them. */
interface SpFlags
  extends
    CommonFlags,
    AccountFlags,
    Pick<CheckFlags, "start" | "signedIn" | "signedInText" | "browser" | "startButton"> {
  /** A page that shows who is signed in; absent: that of `signedIn`. */
  readonly who?: string;
  /** Username; absent: one is added. */
  readonly attacker?: string;
  /** False: the app must refuse a response that answers no request. */
  readonly unsolicited: boolean;
}

async function checkSp(cli: Invocation, typed: TypedCommand, flags: SpFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theSp);
  const project = appProject(command, process.cwd());
  const cases = casesOf(flags.case, allCases, [control.name, controlAttacker.name]).map((one) => withFix(one, project));
  const { start, signedIn, who } = flags;
  const account = accountOf(flags);
  const named = { "--start": start, "--signed-in": signedIn, "--who": who };
  const addresses = { ...named, ...addressesOf(account, flags) };
  return runCheck(cli, { subject: theSp, command, flags, addresses }, async (session) => {
    const place = await appPlace(cli, flags, session, theSp);
    const second = await secondPlace(place, flags, command !== null, theSp);
    const run = await session.start(
      { ...place.env, ...second?.env },
      start,
      `as service provider ${place.client.client_id} of ${place.issuer}`,
    );
    return { result: await runAll(cli, flags, cases, { ...place, account, second }, session, run) };
  });
}

async function runAll(
  cli: Invocation,
  flags: SpFlags,
  cases: readonly Case<Attempt>[],
  place: CheckPlace & { readonly account: AccountPlace | null; readonly second: SecondPlace | null },
  { opened, command, lookup }: Session,
  run: CheckRun,
): Promise<RunResult> {
  const { issuer, client, isOwn, server, account } = place;
  // It has XML, which the other checks do without.
  const { providerAt, spControlOf } = await import("./sp-control.ts");
  const provider = await providerAt(client);
  if (provider === null) throw notProvider(client.client_id);
  const given = { user: place.user, nameid: provider.nameid, named: flags.attacker };
  const { user, attacker } = await spPeople(server, given, opened);
  const spControl = spControlOf(server, { issuer, isOwn, user, attacker }, client, provider);
  await opened.add(() => spControl.close());
  const second = await secondOf(flags, { ...place, people: { user, attacker } }, opened);
  const { start, signedIn, signedInText = null, who = signedIn } = flags;
  const placesFor = ({ person = user, cancels = false, at }: Somebody): Places => {
    const isSecond = at === "second" && second !== null;
    const acs = (isSecond ? second : spControl).acs().map(({ url }) => url);
    const pages = Object.values(addressesOf(account, flags)).filter((one) => one !== undefined);
    const addresses = [start, signedIn, who, ...pages, ...acs, ...(provider.slo === null ? [] : [provider.slo.url])];
    const origins = addresses.map((one) => new URL(one).origin);
    return {
      issuer: isSecond ? second.issuer : issuer,
      redirectUris: acs,
      origins,
      user: person.username,
      cancels,
      lookup,
      startButton: flags.startButton,
      begin: beginsAt(isSecond ? second.server : server, person.username),
    };
  };
  const browserFor = await browserOf(cli, flags, opened);
  const newBrowser = (somebody: Somebody) => browserFor(placesFor(somebody));
  if (command === null) await requireIssuer(place, flags, await newBrowser({}), theSp);
  const concerned = casesFor(spControl.hasLogout);
  return checkCases(
    {
      ...{ ...run, control: spControl, newBrowser, closeLimit, account, second },
      app: { start, signedIn, signedInText, who, noUnsolicited: !flags.unsolicited, lookup },
    },
    cases.filter(({ name }) => concerned.some((one) => one.name === name)),
  );
}

/** The other connection of the app. */
async function secondOf(
  { secondStart }: SpFlags,
  { second, ...place }: Parameters<typeof secondSp>[3] & { readonly second: SecondPlace | null },
  opened: Session["opened"],
) {
  if (second === null || secondStart === undefined) return null;
  const { providerAt } = await import("./sp-control.ts");
  const provider = await providerAt(second.client);
  if (provider === null) throw notProvider(second.client.client_id);
  return (await import("./sp-second.ts")).secondSp(secondStart, second, provider, place, opened);
}

const notProvider = (id: string): OperationError =>
  new OperationError("usage", `client ${id} is not a service provider of SAML: it has no saml`, {
    hint: { text: "To see the clients", command: ["idp", "clients", "list"] },
  });

const help = `
Each case brings the app a SAML response with one thing wrong: another audience,
no signature, a forged assertion beside the signed one, an answer to the request
of another browser, and so on. --who decides who is signed in. Two users must
sign in first: --user, and an attacker whose own signed response carries the
forged ones. Verdicts: noticed, unnoticed, not-required (the paragraph says so),
not-reached, works. The exit code is 6 if something went unnoticed that is not
accepted or a user does not sign in, and 5 if the app never answers at --start.

With --second-start, and --mark or --account, the identity provider of another
tenant names the user, and must not open the user's account. What stays in the
app is the last line.

With -- CMD, a server in memory is started, and the app with the environment of
idp exec; both end with the command. Without it, the cases run on the running
server: on their own issuer, which the app must use, or on the issuer of
--client, where their faults apply only to that client.
`;

/** Declares `idp check sp`. */
export const declareCheckSp: Declare = (check, { act, words }) => {
  const sp = withAddresses(checkCommand(check, "sp", "report which wrong SAML messages a service provider takes"))
    .addOption(
      new Option(
        "--who <url>",
        "a page that shows NameID, e-mail or name of the user (default: --signed-in)",
      ).argParser(address),
    )
    .option(
      "--attacker <username>",
      "another user whom the app admits (default: one that is added, and removed at the end)",
    )
    .option("--no-unsolicited", "the app must refuse a response that answers no request")
    .option(...browserOption);
  withCommon(withAccount(sp), "app", "--start")
    .option("--client <client_id>", "the app's entityID (default: the first client with saml)")
    .addHelpText("after", help.trimEnd())
    .addHelpText(
      "after",
      examples(
        "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
        "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/ --who http://localhost:3000/me --attacker bob -- npm start",
        "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/me --case xsw-3 --report report.xml -- npm start",
      ),
    )
    .action(act((cli, before: readonly string[], flags: SpFlags) => checkSp(cli, { before, words }, flags)));
};
