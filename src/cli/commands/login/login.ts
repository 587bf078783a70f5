/*
 * cli/commands/login: `idp login`, a whole sign-in as a client, with src/client.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { CallbackPage } from "../../../client/callback-page.ts";
import { attempt, newReport, type Report } from "../../../client/check.ts";
import { clientCredentialsFlow } from "../../../client/client-credentials.ts";
import { codeFlow } from "../../../client/code-flow.ts";
import { deviceFlow } from "../../../client/device-flow.ts";
import { discover } from "../../../client/provider.ts";
import { nothing, type Result } from "../../../client/result.ts";
import type { SignIn } from "../../../client/tokens.ts";
import { isObject, exactJson } from "../../../text/json.ts";
import { reservedClaims } from "../../../core/records/scopes/claim-table.ts";
import { randomText } from "../../../serve/random.ts";
import type { Invocation } from "../../invocation.ts";
import { outcomeOf } from "./outcome.ts";
import { findPlace, type LoginPlace } from "./place.ts";
import { codeUser, deviceUser } from "./user.ts";
import type { Outcome } from "../../output/print.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";
import { checkFlags, type LoginFlags, withLoginFlags } from "./flags.ts";

export type { LoginFlags };

/** `idp login`: a whole sign-in as a client, which reports every check. */
export async function login(cli: Invocation, flags: LoginFlags): Promise<Outcome> {
  await checkFlags(cli, flags);
  const place = await findPlace(cli, flags);
  const report = newReport();
  const result = await signIn(cli, flags, place, report);
  if (flags.user !== undefined) checkUser(report, flags.user, result);
  return outcomeOf(cli, flags, place, report, result);
}

/** A server may sign in another user (`login: auto:alice`): then a pipeline that asked for somebody else gets an error. */
function checkUser(report: SignIn["report"], asked: string, { claims, userinfo }: Result): void {
  const native = userinfo?.["user"];
  const all = [claims, userinfo, isObject(native) ? { preferred_username: native["username"] } : null];
  const names = all.map((one) => one?.["preferred_username"]).filter((name) => typeof name === "string");
  const [who] = names;
  if (who === undefined || names.includes(asked)) return;
  report.check("user", false, `${who} signed in, not ${asked}: the server's "login" setting decides, not this command`);
}

/** What the browser shows at the end. */
function pageOf(report: Report, { claims, refusal }: Result): CallbackPage {
  if (report.checks.some(({ ok }) => !ok)) {
    const what = refusal === null ? "The sign-in failed." : "The sign-in was refused.";
    return { title: "Not signed in", sentence: `${what} The terminal says why. You can close this tab.` };
  }
  const ofUser = Object.entries(claims ?? {}).filter(([name]) => name === "sub" || !reservedClaims.includes(name));
  return {
    title: "You are signed in",
    sentence: "Every check passed: see the terminal. You can close this tab.",
    rows: ofUser.map(([name, value]) => [name, typeof value === "string" ? value : exactJson(value, 0)]),
  };
}

const usualScope = "openid profile email";

async function signIn(
  cli: Invocation,
  flags: LoginFlags,
  place: LoginPlace,
  report: SignIn["report"],
): Promise<Result> {
  const { client, issuer } = place;
  const base = { client, report, now: cli.now, wait, random: randomText };
  const begin = async (): Promise<SignIn | null> => {
    const provider = await attempt(report, "discovery", () => discover(issuer));
    if (provider === null) return null;
    report.check("discovery", true, `issuer ${issuer}`);
    return { ...base, provider };
  };
  if (flags.flow === "client-credentials") {
    const run = await begin();
    return run === null ? nothing : clientCredentialsFlow(run, flags.scope ?? null);
  }
  const scope = flags.scope ?? usualScope;
  if (flags.flow === "device") {
    const run = await begin();
    if (run === null) return nothing;
    return deviceFlow(run, { scope, timeout: flags.timeout }, await deviceUser(cli, flags, place));
  }
  // First, because without a server, or with another issuer, nobody can sign in.
  const run = await begin();
  if (run === null) return nothing;
  const user = await codeUser(cli, flags, place);
  try {
    const { maxAge = null, acr = "" } = flags;
    const asked = { scope, maxAge, acr: acr.split(" ").filter(Boolean), parameters: user.parameters };
    const result = await codeFlow(run, { ...asked, redirectUri: user.redirectUri }, user.visit);
    await user.answer(pageOf(report, result));
    return result;
  } finally {
    user.close();
  }
}

const help = `
Each check is a line with ✓ or ✗ and the result. The exit code is 6 if a check
fails or the login is refused. With --print, standard output has only that
token, and standard error has the checks. --json prints {"valid","issuer",
"client","flow","checks":[{"name","ok","detail"}],"tokens","claims","userinfo"}:
the token response, the claims of the ID token and UserInfo, each null if
there is none.
`;

/** Declares `idp login`. */
export const declareLogin: Declare = (command, { act }) => {
  withLoginFlags(command)
    .addHelpText("after", help.trimEnd())
    .addHelpText(
      "after",
      examples(
        "idp login",
        "idp login --user alice --approve --json",
        "TOKEN=$(idp login --client demo-service --flow client-credentials --print access)",
        "idp login --issuer https://login.example.com --client my-app --secret-stdin < secret.txt",
      ),
    )
    .action(act(login));
};
