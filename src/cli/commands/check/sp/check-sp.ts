/*
 * cli/commands/check/sp: `idp check sp`, whether a service provider refuses. It shares flags, places, session, processes, results and reports with
 * `idp check client` (see ../check.ts). sp-people.ts has the user and the attacker, sp-control.ts connects the cases of src/client/sp-check to the
 * issuer, logout-request.ts makes LogoutRequests.
 */
import type { Places } from "../../../../client/app-check/browser.ts";
import type { Attempt, Somebody } from "../../../../client/sp-check/attempt.ts";
import { control, controlAttacker } from "../../../../client/sp-check/cases/control.ts";
import { allCases, casesFor } from "../../../../client/sp-check/cases/list.ts";
import { withFix } from "../../../../client/sp-check/fixes.ts";
import { checkSp as checkCases } from "../../../../client/sp-check/run.ts";
import type { Case } from "../../../../client/verdicts/case.ts";
import type { CheckRun, RunResult } from "../../../../client/verdicts/run.ts";
import { OperationError } from "../../../../core/errors.ts";
import type { TypedCommand } from "../../../input/foreign-command.ts";
import { projectOf } from "../../init/project.ts";
import type { Invocation } from "../../../invocation.ts";
import type { Outcome } from "../../../output/print.ts";
import { browserOf, closeLimit } from "../browsers.ts";
import { casesOf, type SpFlags } from "../flags.ts";
import { appPlace, requireIssuer, type CheckPlace } from "../place.ts";
import { commandOf, runCheck, type Session } from "../session.ts";
import { theSp } from "../subject.ts";
import { providerAt, spControlOf } from "./sp-control.ts";
import { spPeople } from "./sp-people.ts";

/** `idp check sp`. */
export async function checkSp(cli: Invocation, typed: TypedCommand, flags: SpFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theSp);
  const project = projectOf(process.cwd());
  const cases = casesOf(flags.case, allCases, [control.name, controlAttacker.name]).map((one) => withFix(one, project));
  const { start, signedIn, who } = flags;
  const addresses = { "--start": start, "--signed-in": signedIn, "--who": who };
  return runCheck(cli, { subject: theSp, command, flags, addresses }, async (session) => {
    const place = await appPlace(cli, flags, session, theSp);
    const run = await session.start(
      place.env,
      start,
      `as service provider ${place.client.client_id} of ${place.issuer}`,
    );
    return { result: await runAll(cli, flags, cases, place, session, run) };
  });
}

async function runAll(
  cli: Invocation,
  flags: SpFlags,
  cases: readonly Case<Attempt>[],
  place: CheckPlace,
  { opened, command, lookup }: Session,
  run: CheckRun,
): Promise<RunResult> {
  const { issuer, client, isOwn, server } = place;
  const provider = await providerAt(client);
  if (provider === null) throw notProvider(client.client_id);
  const given = { user: place.user, nameid: provider.nameid, named: flags.attacker };
  const { user, attacker } = await spPeople(server, given, opened);
  const spControl = spControlOf(server, { issuer, isOwn, user, attacker }, client, provider);
  await opened.add(() => spControl.close());
  const { start, signedIn, who = signedIn } = flags;
  const placesFor = ({ person = user, cancels = false }: Somebody): Places => {
    const acs = spControl.acs().map(({ url }) => url);
    const addresses = [start, signedIn, who, ...acs, ...(provider.slo === null ? [] : [provider.slo.url])];
    const origins = addresses.map((one) => new URL(one).origin);
    return { issuer, redirectUris: acs, origins, user: person.username, cancels, lookup };
  };
  const browserFor = await browserOf(cli, flags, placesFor({}), opened);
  const newBrowser = (somebody: Somebody) => browserFor(placesFor(somebody));
  if (command === null) await requireIssuer(place, flags, await newBrowser({}), theSp);
  const concerned = casesFor(spControl.hasLogout);
  return checkCases(
    {
      ...{ ...run, control: spControl, newBrowser, closeLimit },
      app: { start, signedIn, who, noUnsolicited: !flags.unsolicited, lookup },
    },
    cases.filter(({ name }) => concerned.some((one) => one.name === name)),
  );
}

const notProvider = (id: string): OperationError =>
  new OperationError("usage", `client ${id} is not a service provider of SAML: it has no saml`, {
    hint: { text: "To see the clients", command: ["idp", "clients", "list"] },
  });
