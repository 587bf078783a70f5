/*
 * `idp check scim`: whether an app does what it answers to a provisioning client. It shares flags, session, processes, results and reports with
 * `idp check client` (see ../check.ts). place.ts has the app and its token; src/client/scim-check has the cases.
 */
import { control } from "../../../../check/scim/cases/control.ts";
import { allCases, page, plainName, usualProfiles } from "../../../../check/scim/cases/list.ts";
import { otherTenant } from "../../../../check/scim/cases/protocol.ts";
import { scimCheck, type ScimCase } from "../../../../check/scim/run.ts";
import { OperationError } from "../../../../core/errors.ts";
import { profileNames } from "../../../../scim/profiles.ts";
import type { TypedCommand } from "../../../input/foreign-command.ts";
import type { Invocation } from "../../../invocation.ts";
import type { Outcome } from "../../../output/print.ts";
import { collectOf, domain, isWebUrl } from "../../../flags/flag-values.ts";
import type { Declare } from "../../../act.ts";
import { examples, Option } from "../../../commander.ts";
import { fixturesOption } from "../../../flags/settings.ts";
import { casesOf, checkAddresses } from "../flags.ts";
import { commandOf, runCheck } from "../session.ts";
import { theScimApp } from "../subject.ts";
import { checkCommand, handUrl, withRun } from "../common.ts";
import { scimPlace, tokenIn, type ScimFlags } from "./place.ts";

async function checkScim(cli: Invocation, typed: TypedCommand, flags: ScimFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theScimApp);
  requireOnePlace(flags);
  const cases = wantedCases(flags);
  const { url, otherTokenEnv: name, allowRemote, keep = false, emailDomain } = flags;
  const otherToken = name === undefined ? null : tokenIn(cli.env, "--other-token-env", name);
  const typedCheck = { subject: theScimApp, command, flags, addresses: { "--url": url } };
  return runCheck(cli, typedCheck, async ({ opened, lookup, start }) => {
    const { app, client, env } = await scimPlace(cli, flags, command !== null, opened);
    if (client !== null) await checkAddresses({ [`scim.url of client "${client}"`]: app.url }, allowRemote);
    // The app need not know the token that it is tried with.
    const { [name ?? ""]: _other, ...own } = env;
    const run = await start(own, app.url, client === null ? "" : `of client ${client}`);
    const check = scimCheck({ ...run, app, otherToken, keeps: keep, emailDomain, lookup });
    await opened.add(() => check.people.close());
    const result = await check.run(cases);
    await check.people.close();
    const left = [...check.people.left].map(([username, state]) => ({ username, state }));
    return { result, notes: left.map(leftText), ...(left.length > 0 && { fields: { left } }) };
  });
}

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

const missingFlag = (name: string, flag: string): OperationError =>
  new OperationError("usage", `--case ${name} needs ${flag}`);

/** A user whom the app did not remove. */
const leftText = ({ username, state }: { readonly username: string; readonly state: string }): string =>
  state === "deactivated"
    ? `${username} is still in the app, deactivated: the app does not remove users.`
    : `${username} is still in the app, active: the app neither removes nor deactivates users.`;

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

/** Declares `idp check scim`. */
export const declareCheckScim: Declare = (check, { act, program, words, env }) => {
  const scim = checkCommand(check, "scim", "report what an app answers to a provisioning client, and does not do")
    .option("--client <client_id>", "the client whose scim is checked (default: the one that has it)")
    .option("--url <url>", "the address of a SCIM server, in place of a client's")
    .hook("preAction", (_hooked, command) => {
      handUrl(program, command, env);
    })
    .option("--token-env <name>", "the variable that holds the token of --url")
    .addOption(
      new Option("--profile <profile>", "whose requests are sent; repeatable (default: all but entra-compliant)")
        .choices(profileNames)
        .argParser(collectOf(profileNames)),
    )
    .addOption(
      new Option("--email-domain <domain>", "the domain of the check's users, where the app admits only some")
        .argParser(domain)
        .default("example.com"),
    )
    .option("--pages", "also list 201 users page by page")
    .option("--other-token-env <name>", "the variable that holds the token of another tenant, who must see nothing")
    .option("--keep", "leave the users and groups of the check in the app");
  withRun(scim, "app", "--url or scim.url")
    .option(...fixturesOption)
    .addHelpText("after", help.trimEnd())
    .addHelpText(
      "after",
      examples(
        "idp check scim --client demo-app",
        "idp check scim --url http://localhost:3000/scim/v2 --token-env SCIM_TOKEN --profile entra -- npm start",
        "idp check scim --case deactivate --report report.xml -- npm start",
      ),
    )
    .action(act((cli, before: readonly string[], flags: ScimFlags) => checkScim(cli, { before, words }, flags)));
};
