/*
 * `idp check scim`: whether an app does what it answers to a provisioning client. It shares flags, session, processes, results and reports with
 * `idp check client` (see ../check-client.ts). place.ts has the app and its token; src/client/scim-check has the cases.
 */
import { control } from "../../../../client/scim-check/cases/control.ts";
import { allCases, page, plainName, usualProfiles } from "../../../../client/scim-check/cases/list.ts";
import { otherTenant } from "../../../../client/scim-check/cases/protocol.ts";
import { scimCheck, type ScimCase } from "../../../../client/scim-check/run.ts";
import { OperationError } from "../../../../core/errors.ts";
import type { TypedCommand } from "../../../input/foreign-command.ts";
import type { Invocation } from "../../../invocation.ts";
import { type Outcome } from "../../../output/print.ts";
import { isWebUrl } from "../../../flags/flag-values.ts";
import { casesOf, checkAddresses } from "../flags.ts";
import { commandOf, runCheck } from "../session.ts";
import { theScimApp } from "../subject.ts";
import { scimPlace, tokenIn, type ScimFlags } from "./place.ts";

/** `idp check scim`. */
export async function checkScim(cli: Invocation, typed: TypedCommand, flags: ScimFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theScimApp);
  requireOnePlace(flags);
  const cases = wantedCases(flags);
  const { url, otherTokenEnv: name, allowRemote, keep = false } = flags;
  const otherToken = name === undefined ? null : tokenIn(cli.env, "--other-token-env", name);
  const typedCheck = { subject: theScimApp, command, flags, addresses: { "--url": url } };
  return runCheck(cli, typedCheck, async ({ opened, lookup, start }) => {
    const { app, client, env } = await scimPlace(cli, flags, command !== null, opened);
    if (client !== null) await checkAddresses({ [`scim.url of client "${client}"`]: app.url }, allowRemote);
    const run = await start(env, app.url, client === null ? "" : `of client ${client}`);
    const check = scimCheck({ ...run, app, otherToken, keeps: keep, lookup });
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
