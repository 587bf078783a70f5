/*
 * check/api: `idp check api`. It asks whether an API refuses the requests that it must refuse. A case is a row in cases/refusals.ts, where one
 * function judges all rows, or a file in cases/. attempt.ts is what a case works with, control.ts what it may do at the issuer. forge.ts bends a
 * good token, dpop.ts makes proofs, judge.ts reads the answer of the API.
 */
import { OperationError } from "../../core/base/errors.ts";
import type { Hint } from "../../core/base/hint.ts";
import { isWebUrl } from "../../text/url.ts";
import { defineCheck } from "../frame/check.ts";
import { casesOf, missingFlag, runFlags, userFlag, type FlagRow, type FlagsOf } from "../frame/flags.ts";
import { requireNear } from "../frame/near.ts";
import { onOwnServer } from "../frame/place.ts";
import { appProject } from "../frame/process/app-project.ts";
import { runCases, type RunResult } from "../frame/run.ts";
import type { Case } from "../frame/verdict.ts";
import { attemptsOf, type Api, type Attempt } from "./attempt.ts";
import { control, controlAgain } from "./cases/control.ts";
import { allCases, casesFor, flagNeededBy } from "./cases/list.ts";
import { apiControlOf } from "./control.ts";
import { withFix } from "./fixes.ts";
import { claimsOf, headerOf } from "../shared/tokens.ts";
import { apiPlace } from "./place.ts";

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

const flags = [
  { flag: "--url <url>", help: "an address of the API that needs a token (IDP_URL names a server)" },
  { flag: "--method <method>", help: "of the requests (default: GET; with --mcp: POST)", is: "method" },
  {
    flag: "--audience <uri>",
    help: "aud of good tokens (default: that of the client, else the issuer; with --mcp: --url)",
  },
  { flag: "--scope <scopes>", help: 'of good tokens (default: "openid")' },
  { flag: "--needs-scope <scope>", help: "a scope without which the API must answer 403" },
  {
    flag: "--owned-url <url>",
    help: "the address of what belongs to one user, with {user}: another user must get 403",
  },
  { flag: "--owned-by <name>", help: "what {user} is (default: sub)", is: { oneOf: ["sub", "username", "email"] } },
  { flag: "--other-user <username>", help: "that other user (default: another active user)" },
  {
    flag: "--needs-acr <value>",
    help: "an acr without which the API must ask for a stronger sign-in (RFC 9470)",
  },
  {
    flag: "--max-age <seconds>",
    help: "how long ago a sign-in may be, as the API has it",
    is: { seconds: [0, 31_536_000] },
  },
  { flag: "--users-only", help: "tokens of client credentials must be refused" },
  {
    flag: "--like <username>",
    help: "whose claims the check's user has, on a running server (default: the first active user)",
  },
  { flag: "--mcp", help: "it is an MCP server: also check its metadata" },
  { flag: "--dpop", help: "send tokens that are bound to a key, and check the proofs" },
  userFlag("whose tokens are sent"),
  ...runFlags("API", "--url"),
  "fixtures",
  "variables",
] as const satisfies readonly FlagRow[];
type ApiFlags = FlagsOf<typeof flags>;

export const checkApi = defineCheck({
  name: "api",
  it: "the API",
  takesUrl: true,
  notWorking: "the API did not let a good token in",
  summary: "report which wrong requests an API does not refuse",
  help,
  examples: [
    "idp check api --url http://localhost:8080/orders --audience https://api.example.test -- npm start",
    "idp check api --url http://localhost:8080/orders --needs-scope orders:read --report report.xml -- npm start",
    "idp check api --url http://localhost:8080/mcp --mcp",
  ],
  flags,
  cases: allCases,
  plan(flags, host, command) {
    const url = requireUrl(flags.url);
    requireOwned(flags.ownedUrl);
    const { has } = appProject(command, host);
    const api = apiOf(flags, url);
    const cases = wantedCases(flags, api).map((one) => withFix(one, has));
    return {
      addresses: { "--url": url, "--owned-url": flags.ownedUrl?.replaceAll("{user}", "user") },
      async run(session) {
        const place = await apiPlace(session, flags);
        const apiControl = await apiControlOf(place.server, place, tokensOf(flags, url), session.opened);
        const issued = apiControl.issue({});
        const good = await (place.isOwn ? onOwnServer(issued) : issued);
        const { aud, scope } = claimsOf(good);
        requireScope(String(scope), flags.needsScope);
        const audience = [aud].flat().join(" ");
        const env = { ...place.env, OIDC_AUDIENCE: audience };
        const run = await session.start(env, url, `with tokens of ${place.issuer} for ${audience}`);
        const result = await runApi(
          {
            ...{ ...run, control: apiControl, lookup: session.lookup, api },
            mayRead: (address) => requireNear(address, flags.allowRemote),
          },
          cases,
        );
        return { result, remedy: headerOf(good)["alg"] === "HS256" ? remedyFor(place.isOwn) : null };
      },
    };
  },
});

export const runApi = (run: Parameters<typeof attemptsOf>[0], cases: readonly Case<Attempt>[]): Promise<RunResult> =>
  runCases(run, {
    ...{ control, last: controlAgain, cases, ...attemptsOf(run) },
    broken: "the API does not let a good token in any more",
    didLast: "let a good token in at the end too",
  });

/** @throws {OperationError} usage for a case that needs another flag */
function wantedCases(flags: ApiFlags, api: Api): readonly Case<Attempt>[] {
  if (flags.case === undefined) return casesFor(api);
  const named = casesOf(flags.case, allCases, [control.name, controlAgain.name]);
  for (const one of named) {
    const flag = flagNeededBy(one, api);
    if (flag !== null) throw missingFlag(one.name, flag);
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
): Parameters<typeof apiControlOf>[2] => ({
  // An MCP client asks for a token for the server's URL (RFC 8707 2).
  audience: audience ?? (mcp === true ? url : undefined),
  scope: [...new Set([...scope.split(" "), ...(needsScope === undefined ? [] : [needsScope])])].join(" "),
  claims: needsAcr === undefined ? {} : { acr: needsAcr },
  needsAuthTime: maxAge !== undefined,
});

/** Nobody but the server has the key of HS256, so an API that verifies tokens by itself refuses all of them. */
const remedyFor = (isOwn: boolean): Hint =>
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
