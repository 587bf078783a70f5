/*
 * cli/commands/check/sp: `idp check sp`, whether a service provider refuses. It shares flags, places, session, processes, results and reports with
 * `idp check client` (see check-client.ts). sp-people.ts has the user and the attacker, sp-control.ts connects the cases of src/client/sp-check to the
 * issuer, logout-request.ts makes LogoutRequests.
 */
import type { Places } from "../../../../client/app-check/browser.ts";
import type { Attempt, Somebody } from "../../../../client/sp-check/attempt.ts";
import { control, controlAttacker } from "../../../../client/sp-check/cases/control.ts";
import { allCases, casesFor } from "../../../../client/sp-check/cases/list.ts";
import { withFix } from "../../../../client/sp-check/fixes.ts";
import { checkSp as checkCases } from "../../../../client/sp-check/run.ts";
import type { Case } from "../../../../client/verdicts/case.ts";
import type { RunResult } from "../../../../client/verdicts/run.ts";
import { OperationError } from "../../../../core/errors.ts";
import type { TypedCommand } from "../../../input/foreign-command.ts";
import { projectOf } from "../../init/project.ts";
import type { Invocation } from "../../../invocation.ts";
import { say, type Outcome } from "../../../output/print.ts";
import { acceptedOf } from "../accepted.ts";
import type { AppProcess, StartCommand } from "../app-process.ts";
import { browserOf, caseLimit, closeLimit } from "../check-client.ts";
import { casesOf, checkAddresses, checkReport, nearLookup, type SpFlags } from "../flags.ts";
import type { Opened } from "../opened.ts";
import { ownServer, requireIssuer, runningServer, type CheckPlace } from "../place.ts";
import { writeReport } from "../report.ts";
import { caseLine, isFailedControl, outcomeOf } from "../result.ts";
import { commandOf, runUntilSignal, startOrWait } from "../session.ts";
import { theSp } from "../subject.ts";
import { providerAt, spControlOf } from "./sp-control.ts";
import { spPeople } from "./sp-people.ts";

/** What was typed, once it is valid. */
interface Wanted {
  readonly flags: SpFlags;
  readonly cases: readonly Case<Attempt>[];
  readonly accepted: ReadonlyMap<string, string>;
  readonly command: StartCommand | null;
}

/** `idp check sp`. */
export async function checkSp(cli: Invocation, typed: TypedCommand, flags: SpFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theSp);
  const project = projectOf(process.cwd());
  const cases = casesOf(flags.case, allCases, [control.name, controlAttacker.name]).map((one) => withFix(one, project));
  checkReport(flags);
  const { start, signedIn, who, allowRemote } = flags;
  await checkAddresses({ "--start": start, "--signed-in": signedIn, "--who": who }, allowRemote);
  const accepted = await acceptedOf(flags.accept ?? [], "sp");
  return runUntilSignal(cli, (opened) => checked(cli, { flags, cases, accepted, command }, opened));
}

async function checked(cli: Invocation, wanted: Wanted, opened: Opened): Promise<Outcome> {
  const { flags, command } = wanted;
  const place = await (command === null
    ? runningServer(cli, flags, opened, theSp)
    : ownServer(cli, flags, opened, theSp));
  const start = { address: flags.start, timeout: flags.timeout, lookup: nearLookup(flags.allowRemote) };
  const app = await startOrWait(theSp, command, place.env, start, opened);
  if (!cli.json) say(cli, `Checking ${flags.start} as service provider ${place.client.client_id} of ${place.issuer}`);
  const result = await runAll(cli, wanted, place, app, opened);
  if (result.cases.some(isFailedControl)) await app?.settle();
  if (flags.report !== undefined) await writeReport(flags.report, theSp, result);
  return outcomeOf(cli, theSp, result, app);
}

async function runAll(
  cli: Invocation,
  { flags, cases, accepted }: Wanted,
  place: CheckPlace,
  app: AppProcess | null,
  opened: Opened,
): Promise<RunResult> {
  const { issuer, client, isOwn, server } = place;
  const provider = await providerAt(client);
  if (provider === null) throw notProvider(client.client_id);
  const given = { user: place.user, nameid: provider.nameid, named: flags.attacker };
  const { user, attacker } = await spPeople(server, given, opened);
  const spControl = spControlOf(server, { issuer, isOwn, user, attacker }, client, provider);
  await opened.add(() => spControl.close());
  const { start, signedIn, who = signedIn } = flags;
  const lookup = nearLookup(flags.allowRemote);
  const placesFor = ({ person = user, cancels = false }: Somebody): Places => {
    const acs = spControl.acs().map(({ url }) => url);
    const addresses = [start, signedIn, who, ...acs, ...(provider.slo === null ? [] : [provider.slo.url])];
    const origins = addresses.map((one) => new URL(one).origin);
    return { issuer, redirectUris: acs, origins, user: person.username, cancels, lookup };
  };
  const newBrowser = await browserOf(cli, flags, placesFor({}), opened);
  const browserFor = (somebody: Somebody) => newBrowser(placesFor(somebody));
  if (app === null) await requireIssuer(place, flags, await browserFor({}), theSp);
  const concerned = casesFor(spControl.hasLogout);
  return checkCases(
    {
      ...{ control: spControl, newBrowser: browserFor, accepted, caseLimit, closeLimit },
      app: { start, signedIn, who, noUnsolicited: !flags.unsolicited, lookup },
      onResult: (one) => {
        if (!cli.json && !opened.isClosed) cli.stdout.write(`${caseLine(one, cli.out)}\n`);
      },
    },
    cases.filter(({ name }) => concerned.some((one) => one.name === name)),
  );
}

const notProvider = (id: string): OperationError =>
  new OperationError("usage", `client ${id} is not a service provider of SAML: it has no saml`, {
    hint: { text: "To see the clients", command: ["idp", "clients", "list"] },
  });
