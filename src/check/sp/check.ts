/*
 * check/sp: `idp check sp`. It asks whether a service provider of SAML refuses a response that is wrong. Each flaw in
 * core/testing/controls/faults/flaws/saml.ts is a case, which cases/flaws.ts judges; the others are in the other files of cases/. attempt.ts is what
 * a case works with, control.ts what it may do at the issuer: sign-again.ts and logout-request.ts make messages. second.ts is the connection to another tenant. frame/who.ts says who is signed in.
 */
import type { Browser } from "../../client/app/visit.ts";
import { OperationError } from "../../core/base/errors.ts";
import { accountFlags, accountOf, addressesOf } from "../frame/account/account-flags.ts";
import { secondPlace } from "../frame/account/second.ts";
import { browsersOf, closeLimit } from "../frame/browsers.ts";
import { defineCheck } from "../frame/check.ts";
import { appFlags, attackerFlag, browserFlag, casesOf, runFlags, userFlag, type FlagRow } from "../frame/flags.ts";
import { appPlace, requireIssuer } from "../frame/place.ts";
import { appProject } from "../frame/process/app-project.ts";
import { runCases, type RunResult } from "../frame/run.ts";
import type { Case } from "../frame/verdict.ts";
import { attemptsOf, type Attempt, type Somebody } from "./attempt.ts";
import { control, controlAttacker } from "./cases/control.ts";
import { allCases, casesFor } from "./cases/list.ts";
import { withFix } from "./fixes.ts";
import { spPeople } from "./place.ts";

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

const flags = [
  ...appFlags,
  {
    flag: "--who <url>",
    help: "a page that shows NameID, e-mail or name of the user (default: --signed-in)",
    is: "url",
  },
  attackerFlag,
  { flag: "--no-unsolicited", help: "the app must refuse a response that answers no request" },
  browserFlag,
  ...accountFlags,
  userFlag("whose sign-in it is"),
  ...runFlags("app", "--start"),
  "fixtures",
  { flag: "--client <client_id>", help: "the app's entityID (default: the first client with saml)" },
] as const satisfies readonly FlagRow[];

export const checkSp = defineCheck({
  name: "sp",
  it: "the app",
  isSaml: true,
  notWorking: "the app did not sign in",
  summary: "report which wrong SAML messages a service provider takes",
  help,
  examples: [
    "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
    "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/ --who http://localhost:3000/me --attacker bob -- npm start",
    "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/me --case xsw-3 --report report.xml -- npm start",
  ],
  flags,
  cases: allCases,
  plan(flags, host, command) {
    const { start, signedIn, signedInText = null, who = signedIn, secondStart } = flags;
    const project = appProject(command, host);
    const controls = [control.name, controlAttacker.name];
    const cases = casesOf(flags.case, allCases, controls).map((one) => withFix(one, project));
    const account = accountOf(flags);
    const pages = addressesOf(account, flags);
    return {
      addresses: { "--start": start, "--signed-in": signedIn, "--who": flags.who, ...pages },
      async run(session) {
        const { opened, lookup } = session;
        const place = await appPlace(session, flags);
        const { issuer, client, isOwn, server } = place;
        const secondAt = await secondPlace(session, place, flags);
        const env = { ...place.env, ...secondAt?.env };
        const run = await session.start(env, start, `as service provider ${client.client_id} of ${issuer}`);
        // It has XML, which the other checks do without.
        const { providerAt, spControlOf } = await import("./control.ts");
        const provider = await providerAt(client);
        if (provider === null) throw notProvider(client.client_id);
        const given = { user: place.user, issuer, provider, named: flags.attacker };
        const people = await spPeople(server, given, opened);
        const spControl = spControlOf(server, { issuer, isOwn, ...people }, client, provider, opened);
        const second = await secondOf();
        const addresses = [start, who, ...Object.values(pages), provider.slo?.url];
        const browserFor = await browsersOf(session, flags, {
          ...{ server, issuer, redirectUris: () => spControl.acs().map(({ url }) => url), addresses },
        });
        const browserForSecond =
          second === null
            ? browserFor
            : await browsersOf(session, flags, {
                ...{
                  server: second.server,
                  issuer: second.issuer,
                  redirectUris: () => second.acs().map(({ url }) => url),
                  addresses,
                },
              });
        const newBrowser = ({ person = people.user, cancels = false, at }: Somebody): Promise<Browser> =>
          (at === "second" ? browserForSecond : browserFor)({ username: person.username, cancels });
        if (command === null) await requireIssuer(session, place, flags, await newBrowser({}));
        const concerned = casesFor(spControl.hasLogout);
        const app = { start, signedIn, signedInText, who, noUnsolicited: !flags.unsolicited, lookup };
        const result = await runSp(
          { ...run, control: spControl, newBrowser, closeLimit, account, second, app },
          cases.filter(({ name }) => concerned.some((one) => one.name === name)),
        );
        return { result };

        /** The other connection of the app. */
        async function secondOf() {
          if (secondAt === null || secondStart === undefined) return null;
          const other = await providerAt(secondAt.client);
          if (other === null) throw notProvider(secondAt.client.client_id);
          const { secondSp } = await import("./second.ts");
          return secondSp(secondStart, secondAt, other, { server, people }, opened);
        }
      },
    };
  },
});

/** Runs the cases: each with its own browsers, and with the faults that it adds. */
export function runSp(run: Parameters<typeof attemptsOf>[0], cases: readonly Case<Attempt>[]): Promise<RunResult> {
  return runCases(run, {
    ...{ control, alsoFirst: [controlAttacker], last: control, cases, ...attemptsOf(run) },
    broken: "the app does not sign in any more",
    didLast: "signed in at the end too",
  });
}

const notProvider = (id: string): OperationError =>
  new OperationError("usage", `client ${id} is not a service provider of SAML: it has no saml`, {
    hint: { text: "To see the clients", command: ["idp", "clients", "list"] },
  });
