/*
 * `idp check api`: whether an API refuses what it must refuse. It shares flags, session, processes, results and reports with `idp check client`
 * (see check.ts). api-place.ts has the issuer, api-control.ts connects the cases of src/client/api-check to it.
 */
import type { Api, Attempt } from "../../../check/api/attempt.ts";
import { control, controlAgain } from "../../../check/api/cases/control.ts";
import { allCases, casesFor, missingFlag } from "../../../check/api/cases/list.ts";
import { claimsOf, headerOf } from "../../../check/api/forge.ts";
import { withFix } from "../../../check/api/fixes.ts";
import { checkApi as checkCases } from "../../../check/api/run.ts";
import type { Case } from "../../../check/frame/verdict.ts";
import { OperationError } from "../../../core/errors.ts";
import type { Hint } from "../../../core/hint.ts";
import type { Declare } from "../../act.ts";
import type { TypedCommand } from "../../input/foreign-command.ts";
import { withVariables } from "../env/app-variables.ts";
import { appProject } from "./app-project.ts";
import type { Invocation } from "../../invocation.ts";
import type { Outcome } from "../../output/print.ts";
import { apiControlOf, type ApiTokens } from "./api-control.ts";
import { ownApiServer, runningApiServer, type ApiPlace, type ApiPlaceFlags } from "./api-place.ts";
import { examples, Option } from "../../commander.ts";
import { httpMethod, isWebUrl, seconds } from "../../flags/flag-values.ts";
import { checkCommand, handUrl, withCommon } from "./common.ts";
import { casesOf, requireNear } from "./flags.ts";
import { onOwnServer } from "./place.ts";
import { commandOf, runCheck } from "./session.ts";
import { theApi } from "./subject.ts";

/** As commander reads them. */
interface ApiFlags extends ApiPlaceFlags {
  readonly url?: string;
  readonly method?: string;
  readonly audience?: string;
  /** Space-separated. */
  readonly scope?: string;
  readonly needsScope?: string;
  readonly ownedBy?: Api["ownedBy"];
  readonly needsAcr?: string;
  /** Seconds. */
  readonly maxAge?: number;
  readonly usersOnly?: true;
  readonly mcp?: true;
  readonly dpop?: true;
}

async function checkApi(cli: Invocation, typed: TypedCommand, flags: ApiFlags): Promise<Outcome | number> {
  const command = commandOf(typed, theApi);
  const url = requireUrl(flags.url);
  requireOwned(flags.ownedUrl);
  const { has } = appProject(command, process.cwd());
  const api = apiOf(flags, url);
  const cases = wantedCases(flags, api).map((one) => withFix(one, has));
  const addresses = { "--url": url, "--owned-url": flags.ownedUrl?.replaceAll("{user}", "user") };
  const typedCheck = { subject: theApi, command, flags, addresses };
  return runCheck(cli, typedCheck, async ({ opened, lookup, start }) => {
    const place = await (command === null ? runningApiServer(cli, flags, opened) : ownApiServer(cli, flags, opened));
    const apiControl = await apiControlOf(place.server, place, tokensOf(flags, url), opened);
    const issued = apiControl.issue({});
    const good = await (place.isOwn ? onOwnServer(issued) : issued);
    const { aud, scope } = claimsOf(good);
    requireScope(String(scope), flags.needsScope);
    const audience = [aud].flat().join(" ");
    const env = { ...place.env, OIDC_AUDIENCE: audience };
    const run = await start(env, url, `with tokens of ${place.issuer} for ${audience}`);
    const result = await checkCases(
      {
        ...{ ...run, control: apiControl, lookup, api },
        mayRead: (address) => requireNear(address, flags.allowRemote),
      },
      cases,
    );
    return { result, remedy: headerOf(good)["alg"] === "HS256" ? remedyFor(place) : null };
  });
}

/** @throws {OperationError} usage for a case that needs another flag */
function wantedCases(flags: ApiFlags, api: Api): readonly Case<Attempt>[] {
  if (flags.case === undefined) return casesFor(api);
  const named = casesOf(flags.case, allCases, [control.name, controlAgain.name]);
  for (const one of named) {
    const flag = missingFlag(one, api);
    if (flag !== null) throw new OperationError("usage", `--case ${one.name} needs ${flag}`);
  }
  return named;
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

/** @throws {OperationError} usage */
function requireOwned(url: string | undefined): void {
  if (url === undefined || (url.includes("{user}") && isWebUrl(url.replaceAll("{user}", "user")))) return;
  throw new OperationError("usage", `--owned-url "${url}" is not an http or https URL with {user}`, {
    hint: "It is the address of what belongs to one user: 'http://localhost:8080/users/{user}/orders'",
  });
}

const apiOf = (flags: ApiFlags, url: string): Api => ({
  ...{ url, method: flags.method ?? (flags.mcp === true ? "POST" : "GET") },
  ...{ needsScope: flags.needsScope ?? null, dpop: flags.dpop === true, mcp: flags.mcp === true },
  ...{ ownedUrl: flags.ownedUrl ?? null, ownedBy: flags.ownedBy ?? "sub" },
  ...{ needsAcr: flags.needsAcr ?? null, maxAge: flags.maxAge ?? null, usersOnly: flags.usersOnly === true },
});

const tokensOf = (
  { audience, scope = "openid", needsScope, needsAcr, maxAge, mcp }: ApiFlags,
  url: string,
): ApiTokens => ({
  // An MCP client asks for a token for the server's URL (RFC 8707 2).
  audience: audience ?? (mcp === true ? url : undefined),
  scope: [...new Set([...scope.split(" "), ...(needsScope === undefined ? [] : [needsScope])])].join(" "),
  claims: needsAcr === undefined ? {} : { acr: needsAcr },
  needsAuthTime: maxAge !== undefined,
});

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

const help = `
Each case sends a request with one thing wrong: a token that expired, is for
another API or is not signed, a token in the address, and so on. A good token
must be let in first, between the cases and last. Verdicts: noticed (refused as
required), unnoticed (let in, or refused in another way), not-required (the
paragraph says so), not-reached, works. The exit code is 6 if something went
unnoticed that is not accepted or a good token is refused, and 5 if the API
never answers.

With -- CMD, a server in memory is started, and the API with the environment of
idp exec, OIDC_AUDIENCE and OIDC_JWKS_URI; both end with the command. Without
it, the tokens are those of the running server, for a user and a client that are
removed at the end.
`;

/** Declares `idp check api`. */
export const declareCheckApi: Declare = (check, { act, program, words, env }) => {
  const api = checkCommand(check, "api", "report which wrong requests an API does not refuse")
    .option("--url <url>", "an address of the API that needs a token (IDP_URL names a server)")
    .hook("preAction", (_hooked, command) => {
      handUrl(program, command, env);
    })
    .option("--method <method>", "of the requests (default: GET; with --mcp: POST)", httpMethod)
    .option("--audience <uri>", "aud of good tokens (default: that of the client, else the issuer; with --mcp: --url)")
    .option("--scope <scopes>", 'of good tokens (default: "openid")')
    .option("--needs-scope <scope>", "a scope without which the API must answer 403")
    .option("--owned-url <url>", "the address of what belongs to one user, with {user}: another user must get 403")
    .addOption(
      new Option("--owned-by <name>", "what {user} is (default: sub)").choices(["sub", "username", "email"] as const),
    )
    .option("--other-user <username>", "that other user (default: another active user)")
    .option("--needs-acr <value>", "an acr without which the API must ask for a stronger sign-in (RFC 9470)")
    .addOption(
      new Option("--max-age <seconds>", "how long ago a sign-in may be, as the API has it").argParser(
        seconds(0, 31_536_000),
      ),
    )
    .option("--users-only", "tokens of client credentials must be refused")
    .option(
      "--like <username>",
      "whose claims the check's user has, on a running server (default: the first active user)",
    )
    .option("--mcp", "it is an MCP server: also check its metadata")
    .option("--dpop", "send tokens that are bound to a key, and check the proofs");
  withVariables(withCommon(api, "API", "--url"))
    .addHelpText("after", help.trimEnd())
    .addHelpText(
      "after",
      examples(
        "idp check api --url http://localhost:8080/orders --audience https://api.example.test -- npm start",
        "idp check api --url http://localhost:8080/orders --needs-scope orders:read --report report.xml -- npm start",
        "idp check api --url http://localhost:8080/mcp --mcp",
      ),
    )
    .action(act((cli, before: readonly string[], flags: ApiFlags) => checkApi(cli, { before, words }, flags)));
};
