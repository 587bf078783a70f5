/*
 * check/scim: `idp check scim`. It asks whether an app does what it answers: after every change it reads back. A case is a row of a file in cases/;
 * those that depend on what a vendor sends exist once for each profile. The requests are those of src/scim, which `idp scim push` sends, too.
 * attempt.ts is what a case works with. shared/scim-server.ts sends requests; people.ts makes users and groups for the cases, and removes them.
 */
import { OperationError } from "../../core/base/errors.ts";
import { profileNames } from "../../scim/profiles.ts";
import { isWebUrl } from "../../text/url.ts";
import { defineCheck } from "../frame/check.ts";
import { casesOf, missingFlag, runFlags, type FlagRow, type FlagsOf } from "../frame/flags.ts";
import { checkAddresses } from "../frame/near.ts";
import { runCases, type CheckRun, type RunResult } from "../frame/run.ts";
import { leftFields, leftTexts } from "../shared/left.ts";
import { attemptsOf, type ScimCase } from "./attempt.ts";
import { control } from "./cases/control.ts";
import { allCases, page, plainName, usualProfiles } from "./cases/list.ts";
import { otherTenant } from "./cases/protocol.ts";
import { scimPlace, tokenIn } from "./place.ts";

const help = `
The command is a provisioning client with users and groups of its own, which it
removes at the end. After every change it reads back: a 2xx that changed nothing
is unnoticed. Requests are those of each --profile; names carry it, as in
entra.deactivate, and --case deactivate runs the case in every profile.
The cases look users up, create, change, deactivate and remove them, send them
again, set managers and groups, and try what a directory meets on the way.
Creating and reading a user must work first, between the cases and last.
Verdicts: noticed (refused as required), works (done as required), unnoticed,
not-required (the paragraph says so), not-reached. The exit code is 6 if
something went unnoticed that is not accepted or the first case fails, 5 if the
app never answers, and 3 for a client without scim.

--url needs no server. Without it, the app is the one of a client that has scim:
of the running server or, with -- CMD, of a server in memory, and the app is
started with the environment of idp exec.
`;

const flags = [
  { flag: "--client <client_id>", help: "the client whose scim is checked (default: the one that has it)" },
  { flag: "--url <url>", help: "the address of a SCIM server, in place of a client's" },
  { flag: "--token-env <name>", help: "the variable that holds the token of --url" },
  {
    flag: "--profile <profile>",
    help: "whose requests are sent; repeatable (default: all but entra-compliant)",
    is: { oneOf: profileNames },
    repeats: true,
  },
  {
    flag: "--email-domain <domain>",
    help: "the domain of the check's users, where the app admits only some",
    is: "domain",
    usual: "example.com",
  },
  { flag: "--pages", help: "also list 201 users page by page" },
  {
    flag: "--other-token-env <name>",
    help: "the variable that holds the token of another tenant, who must see nothing",
  },
  { flag: "--keep", help: "leave the users and groups of the check in the app" },
  ...runFlags("app", "--url or scim.url"),
  "fixtures",
] as const satisfies readonly FlagRow[];
type ScimFlags = FlagsOf<typeof flags>;

export const checkScim = defineCheck({
  name: "scim",
  it: "the app",
  takesUrl: true,
  notWorking: "the app did not create, show and remove a user",
  summary: "report where a SCIM server does not do what it answers",
  help,
  examples: [
    "idp check scim --client demo-app",
    "idp check scim --url http://localhost:3000/scim/v2 --token-env SCIM_TOKEN --profile entra -- npm start",
    "idp check scim --case deactivate --report report.xml -- npm start",
  ],
  flags,
  cases: allCases,
  plan(flags, host) {
    requireOnePlace(flags);
    const cases = wantedCases(flags);
    const { url, otherTokenEnv: name, allowRemote, keep: keeps = false, emailDomain } = flags;
    const otherToken = name === undefined ? null : tokenIn(host.env, "--other-token-env", name);
    return {
      addresses: { "--url": url },
      async run(session) {
        const { opened, lookup } = session;
        const { app, client, env } = await scimPlace(session, flags);
        if (client !== null) await checkAddresses({ [`scim.url of client "${client}"`]: app.url }, allowRemote);
        // The app need not know the token that it is tried with.
        const { [name ?? ""]: _other, ...own } = env;
        const run = await session.start(own, app.url, client === null ? "" : `of client ${client}`);
        const attempts = attemptsOf({ ...run, app, otherToken, keeps, emailDomain, lookup });
        const { people } = attempts;
        await opened.add(() => people.close());
        opened.leavesMore(() => leftTexts(people.left()));
        const result = await runScim(run, attempts, cases);
        await people.close();
        return { result, fields: leftFields(people.left()) };
      },
    };
  },
});

export const runScim = (
  run: CheckRun,
  attempts: ReturnType<typeof attemptsOf>,
  cases: readonly ScimCase[],
): Promise<RunResult> =>
  runCases(run, {
    ...{ control, last: control, cases, ...attempts },
    broken: "the app does not create and show a user any more",
    didLast: "created and showed a user at the end too",
  });

/** @throws {OperationError} usage */
function requireOnePlace({ url, client, tokenEnv }: ScimFlags): void {
  const example = { text: "For example", command: ["idp", "check", "scim", "--client", client ?? "demo-app"] };
  if (url !== undefined && client !== undefined)
    throw new OperationError("usage", "--url and --client exclude each other: --url is the SCIM server itself", {
      hint: "To name the server of the client, set IDP_URL",
    });
  if (url === undefined && tokenEnv !== undefined) {
    throw new OperationError("usage", "--token-env is for --url: a client has its own token", { hint: example });
  }
  if (url !== undefined && !isWebUrl(url)) {
    throw new OperationError("usage", `--url "${url}" is not an http or https URL`, {
      hint: "It is the address below which /Users is: http://localhost:3000/scim/v2",
    });
  }
}

/** The cases of the profiles; a case that is named without its profile runs in each. @throws {OperationError} usage */
function wantedCases({ case: named, profile, pages, otherTokenEnv }: ScimFlags): readonly ScimCase[] {
  const profiles: readonly string[] = profile ?? usualProfiles;
  const usual = allCases.filter((one) => one.profile === undefined || profiles.includes(one.profile));
  const hasToken = otherTokenEnv !== undefined;
  if (named === undefined) {
    return usual.filter((one) => (one !== page || pages === true) && (one !== otherTenant || hasToken));
  }
  if (named.includes(page.name) && pages !== true) throw missingFlag(page.name, "--pages");
  if (named.includes(otherTenant.name) && !hasToken) throw missingFlag(otherTenant.name, "--other-token-env NAME");
  const plain = usual.map((one) => ({ ...one, name: plainName(one.name), whole: one.name }));
  const names = named.flatMap((name) => {
    const found = plain.filter((one) => one.name === name).map(({ whole }) => whole);
    return found.length === 0 ? [name] : found;
  });
  return casesOf(names, allCases, [control.name]);
}
