import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { ledgerText } from "../../src/core/testing/ledger/expect.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, exchange, paths, pick, pkce, signIn } from "../helpers/client.ts";

/** Each kind of secret in each parameter of each endpoint, and in its path: no output shows it. */

const clientSecret = "Tr0ub4dor-and-a-whole-sentence-of-the-shop";
const phrase = "a client secret of many short words";
const told: string[] = [];
const idp = await underAttack({
  dynamicRegistration: true,
  log: (line) => told.push(line),
  onRequest: (event) => told.push(JSON.stringify(event)),
  fixtures: {
    users: [
      { username: "alice", password: "alice" },
      { username: "eve", password: "the password of eve" },
    ],
    clients: [
      { client_id: "demo-app", client_secret: "demo-secret-of-the-run", redirect_uris: [callback] },
      { client_id: "shop", client_secret: clientSecret, redirect_uris: [callback] },
      { client_id: "words", client_secret: phrase, redirect_uris: [callback] },
      {
        ...{ client_id: "tv", client_secret: "the secret of the tv, unique", redirect_uris: [callback] },
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
      },
    ],
  },
  adminToken: "admin-token-of-this-run",
});

type Answer = Record<string, string>;
const form = (path: string, body: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(idp.issuer + path, { method: "POST", headers, body: new URLSearchParams(body), redirect: "manual" });
const json = async (answer: Promise<Response>): Promise<Answer> => (await (await answer).json()) as Answer;

const own = { client_id: "demo-app", client_secret: "demo-secret-of-the-run" };
const secrets = new Map<string, string>([
  ["client secret", clientSecret],
  ["client secret of many words", phrase],
  ["admin token", idp.adminToken],
  ["password", "the password of eve"],
  ["verifier", pkce().verifier],
]);

/** Gets one of each kind. */
async function collect(): Promise<void> {
  const keep = (name: string, value: string | undefined): void => {
    expect(value, name).toMatch(/^.{8,}$/);
    secrets.set(name, value ?? "");
  };
  const used = await signIn(idp);
  const { json: tokens } = await exchange(idp, used.code, own);
  for (const name of ["access_token", "refresh_token", "id_token"] as const) keep(name, tokens[name]);
  keep("code", (await signIn(idp)).code);
  const browser = new Browser(idp.issuer);
  const query = { response_type: "code", client_id: "demo-app", redirect_uri: callback, scope: "openid" };
  const login = await browser.open(`${paths.authorize}?${new URLSearchParams(query).toString()}`);
  keep("csrf", /name="csrf" value="([^"]+)"/.exec(login.body)?.[1]);
  await pick(browser, login, "alice");
  for (const [name, value] of browser.cookies) if (name.includes("session")) keep("session cookie", value);
  const tv = { client_id: "tv", client_secret: "the secret of the tv, unique" };
  const device = await json(form("/api/v2/oauth/device_authorization", { ...tv, scope: "openid" }));
  keep("device code", device["device_code"]);
  keep("user code", device["user_code"]);
  const pushed = await json(form("/api/v2/oauth/par", { ...own, ...query }));
  keep("request_uri", pushed["request_uri"]);
  const registered = await fetch(`${idp.issuer}/api/v2/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: ["https://app.example.test/cb"] }),
  });
  const metadata = (await registered.json()) as Answer;
  keep("generated secret", metadata["client_secret"]);
  keep("registration access token", metadata["registration_access_token"]);
  const assertion = await new SignJWT({ iss: "shop", sub: "shop", aud: idp.issuer, exp: 4_000_000_000, jti: "j" })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(clientSecret));
  keep("assertion", assertion);
}

const grant = "urn:ietf:params:oauth:grant-type:";
const tokenType = "urn:ietf:params:oauth:token-type:access_token";
/** What each endpoint takes. The request is right except for one parameter. */
const endpoints: readonly (readonly [path: string, right: Record<string, string>, more: readonly string[]])[] = [
  [
    paths.token,
    { ...own, grant_type: "authorization_code", code: "x", redirect_uri: callback, code_verifier: "x" },
    [],
  ],
  [
    paths.token,
    { ...own, grant_type: "refresh_token", refresh_token: "x", scope: "openid" },
    ["resource", "audience", "redirect_uri"],
  ],
  [paths.token, { ...own, grant_type: `${grant}device_code`, device_code: "x" }, []],
  [
    paths.token,
    { ...own, grant_type: `${grant}token-exchange`, subject_token: "x", subject_token_type: tokenType },
    ["actor_token", "actor_token_type", "requested_token_type", "client_assertion", "client_assertion_type"],
  ],
  ["/api/v2/oauth/introspect", { ...own, token: "x" }, ["token_type_hint"]],
  [paths.revoke, { ...own, token: "x" }, ["token_type_hint"]],
  ["/api/v2/oauth/device_authorization", { client_id: "tv" }, ["scope", "acr_values"]],
  [
    "/api/v2/oauth/par",
    { ...own, response_type: "code", redirect_uri: callback, scope: "openid" },
    [
      "request",
      "request_uri",
      "nonce",
      "state",
      "prompt",
      "max_age",
      "code_challenge",
      "code_challenge_method",
      "claims",
    ],
  ],
  [paths.userinfo, { access_token: "x" }, []],
  ["/account/revoke", { client_id: "demo-app", csrf: "x" }, []],
  ["/device", { user_code: "x", decision: "allow" }, []],
];
const queries: typeof endpoints = [
  [
    paths.authorize,
    { response_type: "code", client_id: "demo-app", redirect_uri: callback, scope: "openid" },
    [
      ...["state", "nonce", "prompt", "max_age", "display", "ui_locales", "claims", "acr_values", "login_hint"],
      ...["id_token_hint", "response_mode", "request", "request_uri", "resource", "dpop_jkt"],
      ...["code_challenge", "code_challenge_method", "audience", "grant_type", "client_name", "decision"],
    ],
  ],
  ["/api/v2/oauth/logout", { client_id: "demo-app" }, ["id_token_hint", "post_logout_redirect_uri", "logout_hint"]],
  ["/device", { user_code: "x" }, ["lang"]],
  ["/account", {}, ["lang", "theme", "x", "state", "client_name", "redirect_uri", "post_logout_redirect_uri"]],
  ["/", {}, ["lang", "x"]],
];

const shown: { readonly where: string; readonly text: string }[] = [];
/** Where a redirect to the app repeats its own `state`, and a page what was typed into the field of a form, that is no leak. */
async function look(where: string, answer: Response): Promise<void> {
  const location = answer.headers.get("location") ?? "";
  const back = new URL(location, idp.issuer);
  back.searchParams.delete("state");
  const text = [await answer.text(), decodeURIComponent(back.search), answer.headers.get("www-authenticate") ?? ""];
  shown.push(
    { where, text: text.join("\n") },
    ...told.splice(0).map((line) => ({ where: `log of ${where}`, text: line })),
  );
}

test("each kind of secret in each parameter of each endpoint, and in its path", async () => {
  await collect();
  for (const [name, secret] of secrets) {
    const quoted = encodeURIComponent(secret);
    for (const [path, right, more] of endpoints) {
      for (const parameter of [...Object.keys(right), ...more]) {
        const headers = { accept: "application/json", origin: idp.issuer };
        await look(`${name} as ${parameter} of ${path}`, await form(path, { ...right, [parameter]: secret }, headers));
      }
    }
    for (const [path, right, more] of queries) {
      for (const parameter of [...Object.keys(right), ...more]) {
        const query = new URLSearchParams({ ...right, [parameter]: secret }).toString();
        const address = `${idp.issuer}${path}?${query}`;
        const page = { headers: { accept: "text/html" }, redirect: "manual" } as const;
        await look(`${name} as ${parameter} of GET ${path}`, await fetch(address, page));
      }
    }
    for (const uri of [
      `${callback}?code=${quoted}`,
      `${callback}#${quoted}`,
      `${callback}/${quoted}`,
      `myapp:/${quoted}`,
    ]) {
      const query = new URLSearchParams({ client_id: "demo-app", response_type: "code", redirect_uri: uri }).toString();
      await look(`${name} in a redirect URI`, await fetch(`${idp.issuer}${paths.authorize}?${query}`));
    }
    for (const path of [
      "",
      "/api/v2/oauth",
      "/api/v2/oauth/register",
      "/interaction",
      "/_idp",
      "/_idp/api/users",
      "/i",
    ]) {
      for (const rest of [quoted, `${quoted}/login`]) {
        await look(`${name} in ${path}`, await fetch(`${idp.issuer}${path}/${rest}`, { redirect: "manual" }));
      }
    }
    const swapped = Buffer.from(`${secret}:demo-app`).toString("base64");
    const basic = { authorization: `Basic ${swapped}` };
    await look(`${name} as Basic id`, await form(paths.token, { grant_type: "client_credentials" }, basic));
  }
  const records = await idp.requests.list();
  shown.push({ where: "ledger", text: JSON.stringify(records) }, { where: "text", text: ledgerText(records) });
  const leaks = [...secrets].flatMap(([name, secret]) => {
    const signature = secret.startsWith("ey") ? [secret.split(".")[2] ?? ""] : [];
    return shown.flatMap(({ where, text }) =>
      [secret, encodeURIComponent(secret), ...signature]
        .filter((part) => text.includes(part))
        .map((part) => {
          const at = text.indexOf(part);
          return `${name}, ${where}: ${text.slice(Math.max(0, at - 60), at + part.length + 10)}`;
        }),
    );
  });
  expect(leaks.slice(0, 20)).toEqual([]);
}, 180_000);

const known = "authorization_code, refresh_token, client_credentials, urn:";
test.each([
  [{ ...own, grant_type: "client_credential" }, known, /client_credential(?!s)/],
  [{ ...own, grant_type: "client_credentials-of-the-shop-77" }, known, /-of-the-shop/],
  [{ ...own, grant_type: "xclient_credentials-authorization_code" }, known, /xclient|s-auth/],
  [{ ...own, grant_type: "x", code: "credential" }, known, /\bcredential\b/],
  [{ client_id: "client_credential" }, 'client_id "…"', /client_credential/],
  [{ client_id: "the-authorization_cod" }, 'client_id "…"', /the-auth/],
])("known names stay whole beside a part of one that was sent: %j", async (body, whole, hidden) => {
  await idp.requests.clear();
  told.splice(0);
  await form(paths.token, body);
  const texts = [...told, ledgerText(await idp.requests.list())];
  expect(texts.join("\n").replaceAll("\\", "")).toContain(whole);
  expect(texts.join("\n")).not.toMatch(hidden);
});
