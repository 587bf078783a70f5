import type { JsonObject } from "../text/json.ts";
import { attempt, Problem, shown } from "./check.ts";
import { clientForm } from "./client.ts";
import { jsonOf, refusalOf, send, successOf, textIn } from "./http.ts";
import { requireEndpoint } from "./provider.ts";
import { finish, nothing, type Result } from "./result.ts";
import { checkTokens, type SignIn } from "./tokens.ts";

/** The device flow (RFC 8628), on the device. */

/** What the device shows to its user. */
export interface DevicePrompt {
  readonly userCode: string;
  readonly verificationUri: string;
  /** With the code in it; null if the provider gives none. */
  readonly verificationUriComplete: string | null;
}

interface Waiting {
  readonly deviceCode: string;
  /** Seconds. */
  readonly interval: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** RFC 8628 3.2 and 3.5, in seconds. */
const usualInterval = 5;
const slower = 5;

/**
 * Signs in.
 * @param show shows the user where to go, or decides for the user @throws {Problem} if that does not work
 * @param timeout how many seconds to wait for the user
 */
export async function deviceFlow(
  run: SignIn,
  { scope, timeout }: { readonly scope: string; readonly timeout: number },
  show: (prompt: DevicePrompt) => Promise<void>,
): Promise<Result> {
  const waiting = await attempt(run.report, "device", async () => {
    const url = requireEndpoint(run.provider, "device_authorization_endpoint");
    const begun = successOf(await send(clientForm(url, { scope }, run.client, run.provider)));
    const { prompt, ...rest } = readBegun(run, begun, timeout);
    run.report.check("device", true, `a code for the user, at ${prompt.verificationUri}`);
    return { prompt, ...rest };
  });
  if (waiting === null) return nothing;
  const asked = await attempt(run.report, "user", async () => {
    await show(waiting.prompt);
    return true;
  });
  if (asked === null) return nothing;
  const { tokens, refusal } = await poll(run, waiting);
  if (tokens === null) return { ...nothing, refusal };
  return finish(run, tokens, { nonce: null, maxAge: null, acr: [], openid: scope.split(" ").includes("openid") });
}

/** @throws {Problem} if a member is missing or wrong (RFC 8628 3.2) */
function readBegun({ now }: SignIn, begun: JsonObject, timeout: number): Waiting & { readonly prompt: DevicePrompt } {
  const where = "the answer";
  const { expires_in: life, interval = usualInterval, verification_uri_complete: complete } = begun;
  if (typeof life !== "number" || typeof interval !== "number") {
    throw new Problem(`expires_in ${shown(life)} and interval ${shown(interval)} must be numbers of seconds`);
  }
  const address = (uri: string): string => {
    if (/^https?:\/\//i.test(uri) && URL.canParse(uri)) return uri;
    throw new Problem(`${shown(uri)} is not an address that a user can open`);
  };
  return {
    deviceCode: textIn(begun, "device_code", where),
    interval,
    until: now() + Math.min(life, timeout) * 1000,
    prompt: {
      userCode: textIn(begun, "user_code", where),
      verificationUri: address(textIn(begun, "verification_uri", where)),
      verificationUriComplete: typeof complete === "string" ? address(complete) : null,
    },
  };
}

type Polled = Pick<Result, "tokens" | "refusal">;

/** Asks for the tokens until the user has decided (RFC 8628 3.4). */
async function poll(run: SignIn, { deviceCode, until, ...begun }: Waiting): Promise<Polled> {
  const { provider, client, report, now, wait } = run;
  const parameters = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: deviceCode };
  let { interval } = begun;
  for (;;) {
    const polled = await attempt<Polled>(report, "token", async () => {
      const url = requireEndpoint(provider, "token_endpoint");
      const reply = await send(clientForm(url, parameters, client, provider));
      const json = jsonOf(reply);
      if (reply.status === 200) {
        const tokens = checkTokens(json);
        report.check("token", true, "device code exchanged");
        return { tokens, refusal: null };
      }
      if (json["error"] === "slow_down") interval += slower;
      else if (json["error"] !== "authorization_pending") {
        report.check("token", false, `the provider answers ${reply.status}${refusalOf(json)}`, json);
        return { tokens: null, refusal: json };
      }
      if (now() + interval * 1000 > until) throw new Problem("nobody entered the code in time");
      return { tokens: null, refusal: null };
    });
    if (polled === null || polled.tokens !== null || polled.refusal !== null) return polled ?? nothing;
    await wait(interval * 1000);
  }
}
