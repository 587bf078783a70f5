/*
 * check/client: `idp check client`. It asks whether an app notices a response that is wrong. Each flaw of a response
 * (core/testing/controls/faults/flaws) is a case, which flaws/flaw-case.ts judges; the others are in cases/. attempt.ts is what a case works with, control.ts what it may do at the issuer. `--mark` and `--second-start` are in
 * frame/account.
 */
import type { Browser } from "../../client/app/visit.ts";
import { callServer } from "../../serve/remote.ts";
import { count } from "../../text/words.ts";
import { accountFlags, accountOf, addressesOf } from "../frame/account/account-flags.ts";
import { secondPlace } from "../frame/account/second.ts";
import { appProject } from "../frame/process/app-project.ts";
import { browsersOf, closeLimit } from "../frame/browsers.ts";
import { defineCheck } from "../frame/check.ts";
import { appFlags, attackerFlag, browserFlag, casesOf, runFlags, userFlag, type FlagRow } from "../frame/flags.ts";
import { attackerNamed } from "../frame/people.ts";
import { appPlace, requireIssuer } from "../frame/place.ts";
import { runCases, type RunResult } from "../frame/run.ts";
import { longEnough, without } from "../../text/redacted.ts";
import { isOpen, type Case, type CaseResult } from "../frame/verdict.ts";
import { attemptsOf, type Attempt, type Somebody } from "./attempt.ts";
import { control as controlCase } from "./cases/control.ts";
import { allCases, casesFor } from "./cases/list.ts";
import { aboutOf, controlOf } from "./control.ts";
import { handPackages, withFix } from "./fixes.ts";

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

const flags = [
  ...appFlags,
  { flag: "--sign-out <url>", help: "an address that signs the user out", is: "url" },
  {
    flag: "--within <seconds>",
    help: "how soon a logout at the provider must end the session of the app",
    is: { seconds: [0, 600] },
    usual: 2,
  },
  {
    flag: "--who <url>",
    help: "a page that shows e-mail, name or username of the user (default: --signed-in)",
    is: "url",
  },
  {
    flag: "--return-param <name>",
    help: "another parameter of --start that says where to go; repeatable",
    repeats: true,
  },
  browserFlag,
  attackerFlag,
  ...accountFlags,
  userFlag("whose sign-in it is"),
  ...runFlags("app", "--start"),
  "fixtures",
  "variables",
] as const satisfies readonly FlagRow[];

export const checkClient = defineCheck({
  name: "client",
  it: "the app",
  notWorking: "the app did not sign in",
  summary: "report which wrong responses an app does not notice",
  help,
  examples: [
    "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
    "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --mark http://localhost:3000/profile -- npm start",
    "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app",
    "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --case pkce --report report.xml -- npm start",
  ],
  flags,
  cases: allCases,
  plan(flags, host, command) {
    const {
      start,
      signedIn,
      signedInText = null,
      signOut = null,
      who = signedIn,
      returnParam = [],
      secondStart,
    } = flags;
    const { library: known, has } = appProject(command, host);
    const library = known ?? handPackages.find(has) ?? null;
    const cases = casesOf(flags.case, allCases, [controlCase.name]).map((one) => withFix(one, library));
    const account = accountOf(flags);
    const addresses = {
      ...{ "--start": start, "--signed-in": signedIn, "--sign-out": flags.signOut, "--who": flags.who },
      ...addressesOf(account, flags),
    };
    return {
      addresses,
      async run(session) {
        const { opened, lookup } = session;
        const place = await appPlace(session, flags);
        const { server, issuer, client, user } = place;
        const secondAt = await secondPlace(session, place, flags);
        const run = await session.start(
          { ...place.env, ...secondAt?.env },
          start,
          `as client ${client.client_id} of ${issuer}`,
        );
        const control = controlOf(server, aboutOf(issuer, client, place), opened);
        const more = [signOut, flags.who, ...Object.values(addressesOf(account, {}))];
        const browserFor = await browsersOf(session, flags, {
          ...{ server, issuer, redirectUris: () => client.redirect_uris },
          addresses: [start, ...more],
        });
        const second = await secondOf();
        const newBrowser = ({ username = user, at }: Somebody): Promise<Browser> =>
          at === "second" && second !== null ? second.browserFor({ username }) : browserFor({ username });
        if (command === null) await requireIssuer(session, place, flags, await newBrowser({}));
        const otherUser = (await attackerNamed(server, user, flags.attacker))?.username ?? null;
        const concerned = casesFor(control.logoutUri);
        const app = { start, signedIn, signedInText, signOut, who, returnParams: returnParam, lookup };
        const result = await runClient(
          {
            ...{ ...run, control, newBrowser, closeLimit, account, otherUser, second },
            app: { ...app, within: flags.within * 1000 },
          },
          cases.filter(({ name }) => concerned.some((one) => one.name === name)),
        );
        return { result, lead: leadOf(result) };

        /** The other connection of the app. */
        async function secondOf() {
          if (secondAt === null || secondStart === undefined) return null;
          const like = await callServer(server, "users.show", { username: user });
          const about = aboutOf(secondAt.issuer, secondAt.client, place);
          return {
            start: secondStart,
            control: controlOf(secondAt.server, about, opened, like),
            browserFor: await browsersOf(session, flags, {
              ...{
                server: secondAt.server,
                issuer: secondAt.issuer,
                redirectUris: () => secondAt.client.redirect_uris,
              },
              addresses: [secondStart, ...more],
            }),
          };
        }
      },
    };
  },
});

/** Runs the cases: each with its own browsers, and with the faults that it adds. */
export async function runClient(
  run: Parameters<typeof attemptsOf>[0],
  cases: readonly Case<Attempt>[],
): Promise<RunResult> {
  return runCases(run, {
    ...{ control: controlCase, last: controlCase, cases, ...attemptsOf(run) },
    broken: "the app does not sign in any more",
    didLast: "signed in at the end too",
    clean: without(longEnough(await run.control.secret())),
  });
}

/** Cases in which somebody gets what belongs to somebody else; two others are about the user's own account. */
const isOfPerson = ({ name }: CaseResult): boolean =>
  /^(?:account\.|refresh\.|(?:session-fixed|login-csrf|userinfo\.sub-wrong)$)/.test(name) &&
  !["account.email-changed", "refresh.token-kept"].includes(name);

/**
 * Whether the app let in the wrong person; null: that was not seen. That it let in none is said only where others came for the account, and
 * nothing else that is not accepted went unnoticed.
 */
function leadOf({ cases }: RunResult): string | null {
  const seen = cases.filter(isOfPerson);
  const wrong = seen.filter(({ verdict }) => verdict === "unnoticed").length;
  const isAsked = seen.some(({ name, verdict }) => name.startsWith("account.") && verdict === "noticed");
  if (wrong === 0 && (!isAsked || cases.some(isOpen))) return null;
  return `${wrong === 0 ? "None" : wrong} of ${count(cases.length, "case")} let in the wrong person.`;
}
