import { createHash } from "node:crypto";
import type { JsonObject } from "../text/json.ts";
import { attempt, Problem, shown, type Report } from "./check.ts";
import { clientForm } from "./client.ts";
import { refusalOf, send, successOf, textIn } from "./http.ts";
import { requireEndpoint, type Provider } from "./provider.ts";
import { finish, nothing, type Result } from "./result.ts";
import { requestTokens, type SignIn } from "./tokens.ts";

/** The authorization code flow (OpenID Connect Core 3.1) with PKCE (RFC 7636), and a pushed request (RFC 9126) where it is offered. */

interface CodeRequest {
  readonly scope: string;
  readonly redirectUri: string;
  /** Seconds; null if it is not requested. */
  readonly maxAge: number | null;
  readonly acr: readonly string[];
  /** More parameters of the authorization request: `prompt`, `login_hint`, `response_mode`. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Takes the person to an address, and returns what the provider sent to the redirect URI. `life`: how many seconds the address is valid;
 * null for forever. Throws a Problem if nothing comes back.
 */
export type Visit = (address: string, life: number | null) => Promise<URLSearchParams>;

type Address = readonly [address: string, life: number | null];

/** Signs in. The checks are in the report of the run. */
export async function codeFlow(run: SignIn, request: CodeRequest, visit: Visit): Promise<Result> {
  const state = run.random(16);
  const nonce = run.random(16);
  const verifier = run.random(32);
  const parameters: Readonly<Record<string, string>> = {
    response_type: "code",
    redirect_uri: request.redirectUri,
    scope: request.scope,
    state,
    nonce,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(request.maxAge !== null && { max_age: String(request.maxAge) }),
    ...(request.acr.length > 0 && { acr_values: request.acr.join(" ") }),
    ...request.parameters,
  };
  const address = await addressFor(run, parameters);
  if (address === null) return nothing;
  const response = await attempt(run.report, "response", () => visit(...address));
  if (response === null) return nothing;
  const { code, refusal } = readResponse(run, response, state);
  if (code === null) return { ...nothing, refusal };
  const exchanged = {
    grant_type: "authorization_code",
    code,
    redirect_uri: request.redirectUri,
    code_verifier: verifier,
  };
  const tokens = await requestTokens(run, exchanged, "code exchanged with PKCE S256");
  return finish(run, tokens, { nonce, maxAge: request.maxAge, acr: request.acr, openid: isOpenId(request.scope) });
}

const isOpenId = (scope: string): boolean => scope.split(" ").includes("openid");

/** The address that begins the sign-in, with all parameters or after they were pushed. */
async function addressFor(run: SignIn, parameters: Readonly<Record<string, string>>): Promise<Address | null> {
  const { provider, client, report } = run;
  const endpoint = await attempt(report, "authorization", () => requireEndpoint(provider, "authorization_endpoint"));
  if (endpoint === null) return null;
  const addressWith = (sent: Readonly<Record<string, string>>): string => {
    const url = new URL(endpoint);
    for (const [name, value] of Object.entries({ client_id: client.id, ...sent })) url.searchParams.set(name, value);
    return url.href;
  };
  if (!provider.requiresPar && provider.endpoints["pushed_authorization_request_endpoint"] === undefined) {
    return [addressWith(parameters), null];
  }
  return attempt(report, "par", async () => {
    const url = requireEndpoint(provider, "pushed_authorization_request_endpoint");
    // RFC 9126 2.1: everything that would go to the authorization endpoint, client_id too.
    const sent = { client_id: client.id, ...parameters };
    const pushed = successOf(await send(clientForm(url, sent, client, provider)), 201);
    const uri = textIn(pushed, "request_uri", "the answer");
    const life = pushed["expires_in"];
    if (typeof life !== "number" || life <= 0) {
      throw new Problem(`expires_in of the answer is not a number of seconds: ${shown(life)} (RFC 9126 2.2)`);
    }
    report.check("par", true, `request pushed, good for ${life} s`);
    return [addressWith({ request_uri: uri }), life] as const;
  });
}

interface ReadResponse {
  /** Null without a code that may be used. */
  readonly code: string | null;
  /** The refusal of the provider, if there is one. */
  readonly refusal: JsonObject | null;
}

/** Checks the authorization response. A code is used only if the response provably belongs to this request and this provider. */
function readResponse({ provider, report }: SignIn, response: URLSearchParams, state: string): ReadResponse {
  const one = (name: string): string | null => response.get(name);
  const twice = ["code", "error", "state", "iss"].find((name) => response.getAll(name).length > 1);
  const [code, error] = [one("code"), one("error")];
  const refusal = error === null ? null : { error, error_description: one("error_description") ?? undefined };
  const problem =
    twice !== undefined
      ? `${twice} was sent more than once (RFC 6749 3.1)`
      : refusal !== null
        ? `the provider answers${refusalOf(refusal)}`
        : code === null || code === ""
          ? "neither code nor error came back"
          : null;
  report.check("response", problem === null, problem ?? "received a code", refusal);
  const same = one("state") === state;
  const wrong = `expected ${shown(state)}, the response has ${shown(one("state") ?? undefined)}; the code is not used`;
  report.check("response.state", same, same ? "matches the request" : wrong);
  const fromIssuer = checkIssuer(report, provider, one("iss"));
  return { code: problem === null && same && fromIssuer ? code : null, refusal };
}

/** RFC 9207 2.4: an exact comparison against mix-up attacks. A response that fails it must not be used. */
function checkIssuer(report: Report, { issuer, sendsIss }: Provider, iss: string | null): boolean {
  if (iss === null) {
    const detail = sendsIss
      ? "missing, although the metadata announces it (RFC 9207 2.4); the code is not used"
      : "missing; the metadata does not announce it (RFC 9207)";
    report.check("response.iss", !sendsIss, detail);
    return !sendsIss;
  }
  const same = iss === issuer;
  const wrong = `expected ${shown(issuer)}, the response has ${shown(iss)} (RFC 9207 2.4); the code is not used`;
  report.check("response.iss", same, same ? issuer : wrong);
  return same;
}
