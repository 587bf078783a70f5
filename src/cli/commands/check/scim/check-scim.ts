/*
 * `idp check scim`: whether an app does what it answers to a provisioning client. It shares flags, session, processes, results and reports with
 * `idp check client` (see ../check-client.ts). place.ts has the app and its token; src/client/scim-check has the cases.
 */
import { setTimeout as wait } from "node:timers/promises";
import { control } from "../../../../client/scim-check/cases/control.ts";
import { allCases, page, plainName, usualProfiles } from "../../../../client/scim-check/cases/list.ts";
import { otherTenant } from "../../../../client/scim-check/cases/protocol.ts";
import { scimCheck, type ScimCase } from "../../../../client/scim-check/run.ts";
import { OperationError } from "../../../../core/errors.ts";
import { randomText } from "../../../../serve/random.ts";
import type { TypedCommand } from "../../../input/foreign-command.ts";
import type { Invocation } from "../../../invocation.ts";
import { say, type Outcome } from "../../../output/print.ts";
import { isWebUrl } from "../../../flags/flag-values.ts";
import { acceptedOf } from "../accepted.ts";
import type { StartCommand } from "../app-process.ts";
import { casesOf, checkAddresses, checkReport, nearLookup } from "../flags.ts";
import type { Opened } from "../opened.ts";
import { writeReport } from "../report.ts";
import { caseLine, isFailedControl, outcomeOf } from "../result.ts";
import { commandOf, runUntilSignal, startOrWait } from "../session.ts";
import { theScimApp } from "../subject.ts";
import { scimPlace, tokenIn, type ScimFlags } from "./place.ts";

/** What was typed, once it is valid. */
interface Wanted {
  readonly flags: ScimFlags;
  readonly cases: readonly ScimCase[];
  readonly otherToken: string | null;
  readonly accepted: ReadonlyMap<string, string>;
  readonly command: StartCommand | null;
}

/** Milliseconds that a case may take, beside what it has to wait for. */
const caseLimit = 60_000;

/** `idp check scim`. */
export async function checkScim(cli: Invocation, typed: TypedCommand, flags: ScimFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theScimApp);
  requireOnePlace(flags);
  const cases = wantedCases(flags);
  checkReport(flags);
  if (flags.url !== undefined) await checkAddresses({ "--url": flags.url }, flags.allowRemote);
  const { otherTokenEnv: name } = flags;
  const otherToken = name === undefined ? null : tokenIn(cli.env, "--other-token-env", name);
  const accepted = await acceptedOf(flags.accept ?? [], "scim");
  return runUntilSignal(cli, (opened) => checked(cli, { flags, cases, otherToken, accepted, command }, opened));
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

async function checked(cli: Invocation, wanted: Wanted, opened: Opened): Promise<Outcome> {
  const { flags, cases, otherToken, accepted, command } = wanted;
  const { timeout, allowRemote, keep = false } = flags;
  const { app, client, env } = await scimPlace(cli, flags, command !== null, opened);
  if (client !== null) await checkAddresses({ [`scim.url of client "${client}"`]: app.url }, allowRemote);
  const lookup = nearLookup(allowRemote);
  const started = await startOrWait(theScimApp, command, env, { address: app.url, timeout, lookup }, opened);
  if (!cli.json) say(cli, `Checking ${app.url}${client === null ? "" : ` of client ${client}`}`);
  const { people, run } = scimCheck({
    ...{ app, otherToken, keeps: keep, lookup, accepted, wait, now: cli.now, random: randomText, caseLimit },
    onResult: (one) => {
      if (!cli.json && !opened.isClosed) cli.stdout.write(`${caseLine(one, cli.out)}\n`);
    },
  });
  await opened.add(() => people.close());
  const result = await run(cases);
  await people.close();
  if (result.cases.some(isFailedControl)) await started?.settle();
  if (flags.report !== undefined) await writeReport(flags.report, theScimApp, result);
  const left = [...people.left].map(([username, state]) => ({ username, state }));
  return outcomeOf(cli, theScimApp, result, started, {
    notes: left.map(leftText),
    ...(left.length > 0 && { fields: { left } }),
  });
}

/** A user whom the app did not remove. */
const leftText = ({ username, state }: { readonly username: string; readonly state: string }): string =>
  state === "deactivated"
    ? `${username} is still in the app, deactivated: the app does not remove users.`
    : `${username} is still in the app, active: the app neither removes nor deactivates users.`;
