import { createHash, randomBytes } from "node:crypto";
import { Browser, formsOf, type Visit } from "./browser.ts";

/** The demo's client application, by hand: each request can be bent. */

export const callback = "http://localhost:3000/callback";
export const paths = {
  authorize: "/api/v2/oauth/authorize",
  token: "/api/v2/oauth/token",
  userinfo: "/api/v2/oauth/userinfo",
  revoke: "/api/v2/oauth/revoke",
} as const;

/** A server to talk to, in this process or spawned. */
type Server = Readonly<Record<"issuer", string>>;

export type Parameters = Readonly<Record<string, string | null>>;

/** The address of an authorization request of demo-app; null leaves a parameter out. */
export function authorizeUrl(idp: Server, change: Parameters = {}): string {
  const parameters: Parameters = {
    response_type: "code",
    client_id: "demo-app",
    redirect_uri: callback,
    scope: "openid profile email",
    state: "af0ifjsldkj",
    nonce: "n-0S6_WzA2Mj",
    ...change,
  };
  const sent = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${idp.issuer}${paths.authorize}?${new URLSearchParams(sent).toString()}`;
}

export function pkce(verifier = randomBytes(32).toString("base64url")): {
  readonly verifier: string;
  readonly challenge: string;
} {
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export interface Signed {
  readonly browser: Browser;
  /** Where the browser left the server. */
  readonly back: URL;
  readonly code: string;
}

/** Picks a user on the login page, also from another page of the picker. */
export function pick(browser: Browser, visit: Visit, user: string): Promise<Visit> {
  const form = formsOf(visit.body).find(({ fields }) => fields.some(([name]) => name === "pick"));
  return browser.press(visit, form?.buttons[0]?.id ?? "login-as-…", { username: user });
}

/** Options of a sign-in: the user, the browser, and parameters of the request. */
export type Change = { readonly user?: string; readonly browser?: Browser } & Readonly<
  Record<string, string | null | Browser>
>;

/** Signs in from the picker and allows everything. */
export async function signIn(
  idp: Server,
  { user = "alice", browser = new Browser(idp.issuer), ...change }: Change = {},
): Promise<Signed> {
  let visit: Visit = await browser.open(authorizeUrl(idp, change as Parameters));
  if (visit.page === "login") visit = await pick(browser, visit, user);
  if (visit.page === "consent") visit = await browser.press(visit, "consent-allow");
  if (visit.left === null)
    throw new Error(`stopped at page ${visit.page} (${visit.state}): ${visit.body.slice(0, 2000)}`);
  return { browser, back: visit.left, code: visit.left.searchParams.get("code") ?? "" };
}

/** The JSON of an answer; the members named here are text wherever they are. */
export interface Body {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly scope: string;
  readonly error: string;
  readonly error_description: string;
  readonly [member: string]: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Body;
}

/** A POST of demo-app to an endpoint, as JSON; null leaves a parameter out. */
export async function post(idp: Server, path: string, body: Parameters, init: RequestInit = {}): Promise<Answer> {
  const parameters: Parameters = { client_id: "demo-app", client_secret: "demo-secret", ...body };
  const sent = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== null));
  const response = await fetch(idp.issuer + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(sent),
    ...init,
  });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}

export const exchange = (idp: Server, code: string, change: Parameters = {}): Promise<Answer> =>
  post(idp, paths.token, { grant_type: "authorization_code", code, redirect_uri: callback, ...change });

export const refresh = (idp: Server, token: string, change: Parameters = {}): Promise<Answer> =>
  post(idp, paths.token, { grant_type: "refresh_token", refresh_token: token, ...change });

export async function userinfo(idp: Server, accessToken: string | null): Promise<Answer> {
  const response = await fetch(idp.issuer + paths.userinfo, {
    headers: accessToken === null ? {} : { authorization: `Bearer ${accessToken}` },
  });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}

/** Header or payload of a JWT. */
export const jwtPart = (token: string, part: 0 | 1): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split(".")[part] ?? "", "base64url").toString()) as Record<string, unknown>;
