import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import type { Idp } from "../../src/index.ts";
import { serve } from "./app.ts";
import { approve, Browser, formsOf } from "./browser.ts";
import { callback, type Body } from "./client.ts";

/** An app that has "Sign in with Google", "… GitHub" or "… Apple" built in, by hand. */

type Vendor = "google" | "github" | "apple" | "cognito";

export const appleTeam = "TEAM123456";
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
export const appleKey: KeyObject = privateKey;
export const appleKeyId = "KEY1234567";
/** The key of the client as its record has it. */
const appleJwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kty: "EC", kid: appleKeyId, alg: "ES256" }] };

export const client = (vendor: Vendor) => ({
  client_id: "shop",
  redirect_uris: [callback],
  ...(vendor === "apple" ? { apple_team: appleTeam, jwks: appleJwks } : { client_secret: "the-secret-of-the-shop" }),
});

export const users = [
  {
    username: "alice",
    displayName: "Alice Adams",
    email: "alice@example.com",
    emailVerified: true,
    claims: { hd: "example.com", github_id: 583231, github_orgs: ["octo-org"], groups: ["admins"] },
  },
  { username: "bob", displayName: "Bob Brown", email: "bob@example.org", claims: { private_email: true } },
];

/** A server with the endpoints of a vendor, and the app's client. */
export const serveVendor = (vendor: Vendor, settings: object = {}, options: object = {}): Promise<Idp> =>
  serve({ fixtures: [{ users, clients: [client(vendor)], settings: { endpoints: vendor, ...settings } }], ...options });

/** A client secret for Apple. @param change its claims @param key that signs it */
export function appleSecret(
  change: Readonly<Record<string, unknown>> = {},
  key: KeyObject = appleKey,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const usual = { iss: appleTeam, sub: "shop", aud: "https://appleid.apple.com", iat: now, exp: now + 3600 };
  const claims = Object.fromEntries(
    Object.entries<unknown>({ ...usual, ...change }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: appleKeyId }).sign(key);
}

export type Parameters = Readonly<Record<string, string>>;

/** What the app gets at its redirect URI. */
export interface Response {
  readonly browser: Browser;
  readonly parameters: Parameters;
  /** The addresses of the picker's users. */
  readonly login: string;
}

/** The browser goes through a sign-in. @param address of the authorization request */
export async function visit(
  address: string,
  { user = "alice", browser = new Browser(address) }: { readonly user?: string; readonly browser?: Browser } = {},
): Promise<Response> {
  const login = await browser.open(address);
  const last = await approve(browser, login, user);
  const [form] = formsOf(last.body);
  const parameters =
    last.left !== null ? Object.fromEntries(last.left.searchParams) : Object.fromEntries(form?.fields ?? []);
  return { browser, parameters, login: login.body };
}

export const addressOf = (endpoint: string, parameters: Parameters): string =>
  `${endpoint}?${new URLSearchParams(parameters).toString()}`;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Body;
}

async function answerOf(response: globalThis.Response): Promise<Answer> {
  const text = await response.text();
  const json = (/^[{[]/.test(text) ? JSON.parse(text) : {}) as Body;
  return { status: response.status, headers: response.headers, text, json };
}

export const postForm = async (url: string, body: Parameters, headers: Parameters = {}): Promise<Answer> =>
  answerOf(await fetch(url, { method: "POST", body: new URLSearchParams(body), headers }));

export const send = async (url: string, init: RequestInit = {}): Promise<Answer> => answerOf(await fetch(url, init));

export const bearer = (token: string, scheme = "Bearer"): RequestInit => ({
  headers: { authorization: `${scheme} ${token}` },
});
