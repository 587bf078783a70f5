/*
 * `idp check api`: whether an API refuses what it must refuse. It shares flags, session, processes, results and reports with `idp check client`
 * (see check-client.ts). api-place.ts has the issuer, api-control.ts connects the cases of src/client/api-check to it.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Attempt } from "../../../client/api-check/attempt.ts";
import { control, controlAgain } from "../../../client/api-check/cases/control.ts";
import { allCases, casesFor } from "../../../client/api-check/cases/list.ts";
import { claimsOf, headerOf } from "../../../client/api-check/forge.ts";
import { withFix } from "../../../client/api-check/fixes.ts";
import { checkApi as checkCases } from "../../../client/api-check/run.ts";
import type { Case } from "../../../client/verdicts/case.ts";
import { OperationError } from "../../../core/errors.ts";
import type { Hint } from "../../../core/hint.ts";
import type { TypedCommand } from "../../input/foreign-command.ts";
import { projectOf } from "../init/project.ts";
import type { Invocation } from "../../invocation.ts";
import { say, type Outcome } from "../../output/print.ts";
import { acceptedOf } from "./accepted.ts";
import { apiControlOf, type ApiTokens } from "./api-control.ts";
import { ownApiServer, runningApiServer, type ApiPlace } from "./api-place.ts";
import { isWebUrl } from "../../flags/flag-values.ts";
import type { StartCommand } from "./app-process.ts";
import { casesOf, checkAddresses, checkReport, nearLookup, requireNear, type ApiFlags } from "./flags.ts";
import type { Opened } from "./opened.ts";
import { writeReport } from "./report.ts";
import { caseLine, isFailedControl, outcomeOf } from "./result.ts";
import { commandOf, restartOf, runUntilSignal, startOrWait } from "./session.ts";
import { theApi } from "./subject.ts";

/** What was typed, once it is valid. */
interface Wanted {
  readonly flags: ApiFlags & { readonly url: string };
  readonly cases: readonly Case<Attempt>[];
  readonly accepted: ReadonlyMap<string, string>;
  readonly command: StartCommand | null;
}

/** Milliseconds that a case may take, beside what it has to wait for. */
const caseLimit = 60_000;

/** `idp check api`. */
export async function checkApi(cli: Invocation, typed: TypedCommand, flags: ApiFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theApi);
  const url = requireUrl(flags.url);
  const concerned = casesFor(featuresOf(flags));
  const cases = casesOf(flags.case, allCases, [control.name, controlAgain.name]);
  const named = flags.case === undefined ? concerned : cases;
  const stray = named.find((one) => !concerned.includes(one));
  if (stray !== undefined) throw missingFlag(stray.name);
  checkReport(flags);
  await checkAddresses({ "--url": url }, flags.allowRemote);
  const accepted = await acceptedOf(flags.accept ?? [], "api");
  const { has } = projectOf(process.cwd());
  return runUntilSignal(cli, (opened) =>
    checked(cli, { flags: { ...flags, url }, cases: named.map((one) => withFix(one, has)), accepted, command }, opened),
  );
}

/** @throws {OperationError} usage */
function requireUrl(url: string | undefined): string {
  if (url !== undefined && isWebUrl(url)) return url;
  const message =
    url === undefined
      ? "--url is missing: an address of the API that needs a token"
      : `--url "${url}" is not an http or https URL`;
  throw new OperationError("usage", message, {
    hint: { text: "For example", command: ["idp", "check", "api", "--url", "http://localhost:8080/orders"] },
  });
}

const featuresOf = ({ needsScope, dpop, mcp }: ApiFlags) => ({
  needsScope: needsScope ?? null,
  dpop: dpop === true,
  mcp: mcp === true,
});

function missingFlag(name: string): OperationError {
  const flag = name.startsWith("dpop-") ? "--dpop" : name.startsWith("metadata") ? "--mcp" : "--needs-scope SCOPE";
  return new OperationError("usage", `--case ${name} needs ${flag}`);
}

const tokensOf = ({ url, audience, scope = "openid", needsScope, mcp }: Wanted["flags"]): ApiTokens => ({
  // An MCP client asks for a token for the server's URL (RFC 8707 2).
  audience: audience ?? (mcp === true ? url : undefined),
  scope: [...new Set([...scope.split(" "), ...(needsScope === undefined ? [] : [needsScope])])].join(" "),
});

async function checked(cli: Invocation, wanted: Wanted, opened: Opened): Promise<Outcome> {
  const { flags, cases, accepted, command } = wanted;
  const { url, timeout, allowRemote } = flags;
  const features = featuresOf(flags);
  const place = await (command === null ? runningApiServer(cli, flags, opened) : ownApiServer(cli, flags, opened));
  const apiControl = await apiControlOf(place.server, place, tokensOf(flags), opened);
  const good = await apiControl.issue({});
  const { aud, scope } = claimsOf(good);
  requireScope(String(scope), flags.needsScope);
  const env = { ...place.env, OIDC_AUDIENCE: [aud].flat().join(" ") };
  const lookup = nearLookup(allowRemote);
  const app = await startOrWait(theApi, command, env, { address: url, timeout, lookup }, opened);
  if (!cli.json) say(cli, `Checking ${url} with tokens of ${place.issuer} for ${env.OIDC_AUDIENCE}`);
  const result = await checkCases(
    {
      api: { url, method: flags.method ?? (features.mcp ? "POST" : "GET"), ...features },
      ...{ control: apiControl, accepted, lookup, wait, now: cli.now, caseLimit },
      mayRead: (address) => requireNear(address, allowRemote),
      restart: restartOf(app, opened),
      startLimit: timeout * 1000,
      onResult: (one) => {
        if (!cli.json && !opened.isClosed) cli.stdout.write(`${caseLine(one, cli.out)}\n`);
      },
    },
    cases,
  );
  if (result.cases.some(isFailedControl)) await app?.settle();
  if (flags.report !== undefined) await writeReport(flags.report, theApi, result);
  const remedy = headerOf(good)["alg"] === "HS256" ? remedyFor(place) : null;
  return outcomeOf(cli, theApi, result, app, { remedy });
}

/** Nobody but the server has the key of HS256, so an API that verifies tokens by itself refuses all of them. */
const remedyFor = ({ isOwn }: ApiPlace): Hint =>
  isOwn
    ? { text: "Your fixtures have access tokens signed with HS256: set access_token_alg: RS256 below settings" }
    : {
        text: "Access tokens are signed with HS256, which only introspection can verify. Start the server with",
        command: ["idp", "start", "--access-token-alg", "RS256"],
      };

/** A scope that nobody defined is not in the token, and then no token is good. @throws {OperationError} usage */
function requireScope(granted: string, needed: string | undefined): void {
  if (needed === undefined || granted.split(" ").includes(needed)) return;
  throw new OperationError("usage", `--needs-scope ${needed}: tokens do not get this scope`, {
    hint: `Define it in the fixtures (scopes: { ${JSON.stringify(needed)}: {} }), and let the client have it. Granted: ${granted}`,
  });
}
