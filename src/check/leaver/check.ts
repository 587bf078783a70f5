/*
 * check/leaver: `idp check leaver`. It measures how long an app lets in somebody who left. For each signal a user signs in in two browsers and
 * leaves by that signal alone: measure.ts asks the app until it refuses. attempt.ts starts all signals with the first case; cases/ says what each
 * result means. control.ts sends the signals and undoes them, groups.ts moves users between groups.
 */
import { OperationError } from "../../core/base/errors.ts";
import { browsersOf } from "../frame/browsers.ts";
import { defineCheck } from "../frame/check.ts";
import {
  appFlags,
  browserFlag,
  casesOf,
  missingFlag,
  runFlags,
  userFlag,
  type FlagRow,
  type FlagsOf,
} from "../frame/flags.ts";
import { requireIssuer } from "../frame/place.ts";
import { runCases, type RunResult } from "../frame/run.ts";
import { leftFields, leftTexts } from "../shared/left.ts";
import { LeaverAttempt, type LeaverRun } from "./attempt.ts";
import { control } from "./cases/control.ts";
import { allCases, type LeaverCase } from "./cases/list.ts";
import { leaverControl } from "./control.ts";
import { credentialHeaderOf, credentialOf, usualHeader, type CredentialPlace } from "./credential.ts";
import type { AdminPlace } from "./movers.ts";
import { clientOf, leaverPlace, otherStays } from "./place.ts";
import { lasting, signalNames } from "./signals.ts";

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

const flags = [
  ...appFlags,
  { flag: "--api <url>", help: "an address of the API that needs a token", is: "url" },
  {
    flag: "--within <seconds>",
    help: "how soon the app must lock the person out",
    is: { seconds: [1, 86_400] },
    ...{ usual: 300, shown: "5m" },
  },
  { flag: "--signal <signal>", help: "only this signal; repeatable", is: { oneOf: signalNames }, repeats: true },
  { flag: "--admin <url>", help: "an address that only members of --admin-group may see", is: "url" },
  { flag: "--admin-group <name>", help: "the group that a user leaves, who stays" },
  {
    flag: "--credential <request>",
    help: "gives the signed-in user a key for --api: a URL, or 'POST URL {json}'",
  },
  {
    flag: "--credential-header <header>",
    help: "how the key is sent (default: 'Authorization: Bearer {key}')",
  },
  browserFlag,
  userFlag("who leaves, for apps that admit only users they know", "new users"),
  ...runFlags("app", "--start"),
  "fixtures",
  "variables",
] as const satisfies readonly FlagRow[];
type LeaverFlags = FlagsOf<typeof flags>;

export const checkLeaver = defineCheck({
  name: "leaver",
  it: "the app",
  notWorking: "the app did not sign in",
  summary: "report how long an app lets in a person who left",
  help,
  examples: [
    "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
    "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --api http://localhost:3000/api/me --signal scim --within 1m -- npm start",
    "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --admin http://localhost:3000/admin --admin-group admins -- npm start",
    "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app --report leaver.md",
  ],
  flags,
  cases: allCases,
  plan(flags, _host, command) {
    const credential = credentialPlace(flags);
    const admin = adminPlace(flags);
    const cases = wantedCases(flags);
    const { start, signedIn, signedInText = null, api = null } = flags;
    const within = flags.within * 1000;
    return {
      addresses: {
        ...{ "--start": start, "--signed-in": signedIn, "--api": flags.api },
        ...{ "--admin": admin?.url, "--credential": credential?.request.url },
      },
      maxName: Math.max(...cases.map(({ name }) => name.length)),
      async run(session) {
        const { opened, lookup } = session;
        const place = await leaverPlace(session, flags);
        const { server, issuer } = place;
        const client = await clientOf(place, flags.allowRemote);
        const run = await session.start(place.env, start, `as client ${client.client_id} of ${issuer}`);
        const user = flags.user === undefined ? null : place.user;
        const browserFor = await browsersOf(session, flags, {
          ...{ server, issuer, redirectUris: () => client.redirect_uris, addresses: [start] },
        });
        const newBrowser = (username: string) => browserFor({ username });
        const leaver = await leaverControl({ ...place, client, user }, lookup, opened);
        const other = user === null ? await leaver.enter() : await otherStays(server, user);
        if (command === null) await requireIssuer(session, place, flags, await newBrowser(other));
        let began: number | null = null;
        const keys = new Set<string>();
        opened.leavesMore(() => leftTexts(leaver.left));
        opened.leavesMore(() => (keys.size === 0 ? [] : [keysText([...keys])]));
        const result = await runLeaver(
          {
            ...{ ...run, control: leaver, newBrowser, api, other, credential, admin },
            app: { start, signedIn, signedInText, signOut: null, within, lookup },
            onKey: (username) => keys.add(username),
            signals: signalNames.filter((name) => cases.some(({ signal }) => signal === name)),
            isTogether: user === null,
            isSilenceNamed: [...(flags.signal ?? []), ...(flags.case ?? [])].some((name) => name.startsWith("silence")),
            isEnded: () => opened.isClosed,
            onWait: (waiting) => {
              began ??= run.now();
              const words = `Still let in, for at most ${lasting(within)}: ${[...waiting].join(", ")}`;
              run.progress(words, Math.min(run.now() - began, within), within);
            },
          },
          cases,
        );
        await leaver.undoAll();
        return { result, fields: { ...leftFields(leaver.left), ...(keys.size > 0 && { keys: [...keys] }) } };
      },
    };
  },
});

export async function runLeaver(run: LeaverRun, cases: readonly LeaverCase[]): Promise<RunResult> {
  const attempt = new LeaverAttempt(run);
  const { signals, isTogether, app } = run;
  // The first case that asks for a signal waits for all of them.
  const caseLimit = (run.caseLimit + app.within) * (isTogether ? 1 : signals.length);
  try {
    return await runCases<LeaverAttempt>(
      { ...run, caseLimit },
      {
        ...{ control, last: control, cases },
        broken: "the app does not sign in any more",
        didLast: "signed in at the end too",
        begin: () => attempt,
        clean: attempt.clean,
        tidy: () => Promise.resolve(null),
      },
    );
  } finally {
    await attempt.close();
  }
}

const keysText = (usernames: readonly string[]): string =>
  `The app still has the keys that --credential gave ${usernames.join(", ")}: the check removes no keys.`;

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
  if (typeof header === "string") throw new OperationError("usage", `--credential-header ${header}`);
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
  const found = casesOf(named, allCases, [control.name]);
  for (const one of named === undefined ? [] : found) {
    const flag = flagOf(one, flags);
    if (flag !== null) throw missingFlag(one.name, flag);
  }
  const isWanted = ({ signal }: LeaverCase): boolean =>
    named !== undefined || signal === undefined || signals.includes(signal);
  return found.filter((one) => isWanted(one) && flagOf(one, flags) === null);
}

/** The flag without which a case is nothing; null: it is given. */
function flagOf({ needsApi, needsCredential, needsAdmin }: LeaverCase, flags: LeaverFlags): string | null {
  if (needsApi === true && flags.api === undefined) return "--api URL";
  if (needsCredential === true && flags.credential === undefined) return "--credential URL";
  return needsAdmin === true && flags.admin === undefined ? "--admin URL --admin-group NAME" : null;
}
