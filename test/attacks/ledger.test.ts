import { readdirSync, readFileSync } from "node:fs";
import { SignJWT } from "jose";
import { afterAll, expect, test } from "vitest";
import { expectLines, ledgerText } from "../../src/core/testing/ledger/expect.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { idpHere } from "../helpers/command.ts";
import { newFolder } from "../helpers/cli.ts";
import { callback, paths, pkce, type Body } from "../helpers/client.ts";
import { newProofKey } from "../helpers/dpop.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector } from "../helpers/inspector.ts";

/** A run of every flow, and of what goes wrong in it: no secret of it is in any output of the ledger. */

const grants = "urn:ietf:params:oauth:grant-type:";
const shown: string[] = [];
const clientSecret = "the-client-secret-of-this-run";
const password = "the-password-of-this-run";
const assertionSecret = "the secret by which a client signs assertions";
const redirect_uris = [callback];
const data = newFolder(afterAll);
const idp = await underAttack({
  data,
  dynamicRegistration: true,
  onRequest: (event) => shown.push(JSON.stringify(event)),
  fixtures: {
    users: [{ username: "eve", password }],
    clients: [
      { client_id: "shop", client_secret: clientSecret, redirect_uris },
      {
        client_id: "signer",
        client_secret: assertionSecret,
        token_endpoint_auth_method: "client_secret_jwt",
        redirect_uris,
      },
      {
        ...{ client_id: "tv", client_secret: `${clientSecret}-of-the-tv`, redirect_uris },
        grant_types: [`${grants}device_code`, "refresh_token", `${grants}token-exchange`, "client_credentials"],
      },
    ],
  },
});

/** By name, so that a leak says what leaked. */
const secrets = new Map<string, string>([
  ["client secret", clientSecret],
  ["password", password],
  ["secret of assertions", assertionSecret],
  ["secret of the tv", `${clientSecret}-of-the-tv`],
  ["admin token", idp.adminToken],
]);
function keep(name: string, value: unknown): string {
  if (typeof value !== "string" || value.length < 8) throw new Error(`${name} is no secret: ${String(value)}`);
  secrets.set(`${name} ${secrets.size}`, value);
  return value;
}
const keepAll = (json: Body, ...names: readonly string[]): Body => {
  for (const name of names) keep(name, json[name]);
  return json;
};
const tokens = ["access_token", "refresh_token", "id_token"];

const own = { client_id: "shop", client_secret: clientSecret };
async function send(path: string, body: Record<string, string>, headers: Record<string, string> = {}): Promise<Body> {
  const response = await fetch(idp.issuer + path, {
    method: "POST",
    headers,
    body: new URLSearchParams(body),
    redirect: "manual",
  });
  const text = await response.text();
  return (text.startsWith("{") ? JSON.parse(text) : {}) as Body;
}
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(idp.issuer + path, { headers, redirect: "manual" });
const introspectPath = "/api/v2/oauth/introspect";
const devicePath = "/api/v2/oauth/device_authorization";

/** Signs in on the pages, with a password. */
async function signIn(
  change: Record<string, string> = {},
): Promise<{ code: string; verifier: string; browser: Browser }> {
  const { verifier, challenge } = pkce();
  keep("verifier", verifier);
  keep("challenge", challenge);
  const browser = new Browser(idp.issuer);
  const parameters = {
    ...{ response_type: "code", client_id: "shop", redirect_uri: callback, scope: "openid profile email" },
    ...{
      state: keep("state", `state-${crypto.randomUUID()}`),
      code_challenge: challenge,
      code_challenge_method: "S256",
    },
    ...change,
  };
  const login = await browser.open(`${paths.authorize}?${new URLSearchParams(parameters).toString()}`);
  let visit = await browser.press(login, "login-submit", { username: "eve", password });
  const csrf = /name="csrf" value="([^"]+)"/.exec(login.body)?.[1];
  keep("csrf", csrf);
  if (visit.page === "consent") visit = await browser.press(visit, "consent-allow");
  for (const [name, value] of browser.cookies) if (!/language|theme/.test(name)) keep(`cookie ${name}`, value);
  const left = visit.left ?? new URL("http://nowhere.test");
  const inBody = /name="code" value="([^"]+)"/.exec(visit.body)?.[1];
  const code = left.searchParams.get("code") ?? new URLSearchParams(left.hash.slice(1)).get("code") ?? inBody;
  return { code: keep("code", code), verifier, browser };
}
const redeem = (code: string, verifier: string, more: Record<string, string> = {}): Promise<Body> =>
  send(paths.token, {
    ...own,
    grant_type: "authorization_code",
    code,
    redirect_uri: callback,
    code_verifier: verifier,
    ...more,
  });

test("no secret of a run of every flow is in an output of the ledger", async () => {
  // Right: code, refresh, UserInfo in both ways, introspection, revocation, sign-out.
  const first = await signIn();
  const one = keepAll(await redeem(first.code, first.verifier), ...tokens);
  const two = keepAll(
    await send(paths.token, { ...own, grant_type: "refresh_token", refresh_token: one.refresh_token }),
    ...tokens,
  );
  await get(paths.userinfo, { authorization: `Bearer ${two.access_token}` });
  await send(paths.userinfo, { access_token: two.access_token });
  await send(introspectPath, { ...own, token: two.access_token });
  const basic = `Basic ${Buffer.from(`shop:${clientSecret}`).toString("base64")}`;
  keep("Basic header", basic.slice(6));
  await send(introspectPath, { token: two.refresh_token }, { authorization: basic });
  await get(`/api/v2/oauth/logout?id_token_hint=${two.id_token}&state=${keep("state", "state-of-the-sign-out")}`);
  await send(paths.revoke, { ...own, token: two.refresh_token });
  // The other ways of an answer.
  await signIn({ response_mode: "fragment" });
  await signIn({ response_mode: "form_post" });
  // Pushed request, DPoP, assertion.
  const pushed = await send("/api/v2/oauth/par", {
    ...own,
    response_type: "code",
    redirect_uri: callback,
    login_hint: "eve",
  });
  keep("request_uri", pushed["request_uri"]);
  await get(`${paths.authorize}?client_id=shop&request_uri=${encodeURIComponent(String(pushed["request_uri"]))}`);
  const key = await newProofKey();
  const bound = await signIn();
  const proof = keep("proof", await key.prove(idp.issuer + paths.token));
  const third = keepAll(
    await send(
      paths.token,
      {
        ...own,
        grant_type: "authorization_code",
        code: bound.code,
        redirect_uri: callback,
        code_verifier: bound.verifier,
      },
      { dpop: proof },
    ),
    ...tokens,
  );
  await get(paths.userinfo, { authorization: `DPoP ${third.access_token}`, dpop: proof });
  const now = Math.floor(Date.now() / 1000);
  const assertion = await new SignJWT({ iss: "signer", sub: "signer", aud: idp.issuer, exp: now + 60, jti: "j" })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(assertionSecret));
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  await send(paths.token, {
    ...{ grant_type: "authorization_code", code: first.code, redirect_uri: callback, client_assertion_type },
    client_assertion: keep("assertion", assertion),
  });
  // Device, exchange.
  const tv = { client_id: "tv", client_secret: `${clientSecret}-of-the-tv` };
  const device = keepAll(await send(devicePath, { ...tv, scope: "openid" }), "device_code", "user_code");
  await first.browser.open(`/device?user_code=${String(device["user_code"])}`);
  const poll = { ...tv, grant_type: `${grants}device_code`, device_code: String(device["device_code"]) };
  await send(paths.token, poll);
  const asked = await bound.browser.open(`/device?user_code=${String(device["user_code"])}`);
  await bound.browser.press(asked, "device-allow");
  keepAll(await send(paths.token, poll), "access_token", "id_token");
  const service = keepAll(await send(paths.token, { ...tv, grant_type: "client_credentials" }), "access_token");
  const subject_token_type = `${grants.replace("grant-type", "token-type")}access_token`;
  const exchanged = await send(paths.token, {
    ...tv,
    grant_type: `${grants}token-exchange`,
    subject_token: service.access_token,
    subject_token_type,
  });
  keepAll(exchanged, "access_token");
  // The pages of the user.
  await bound.browser.open("/account");
  const asks = await bound.browser.open(`/api/v2/oauth/logout?client_id=shop&state=${keep("state", "another-state")}`);
  await bound.browser.press(asks, "logout-confirm");
  // Registration.
  const registered = await fetch(`${idp.issuer}/api/v2/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Registered", redirect_uris: ["https://app.example.test/cb"] }),
  });
  const client = keepAll((await registered.json()) as Body, "client_secret", "registration_access_token");
  const access = { authorization: `Bearer ${String(client["registration_access_token"])}` };
  await get(`/api/v2/oauth/register/${String(client["client_id"])}`, access);
  // Wrong: each of it refused.
  const wrong = new Browser(idp.issuer);
  const page = await wrong.open(`${paths.authorize}?response_type=code&client_id=shop&redirect_uri=${callback}`);
  for (const username of ["eve", password, "nobody"]) {
    await wrong.press(page, "login-submit", {
      username,
      password: keep("wrong password", `${password}-${username}-wrong`),
    });
  }
  // So often that the refusal names whom it is about.
  for (let time = 0; time < 32; time += 1)
    await wrong.press(page, "login-submit", { username: password, password: "x" });
  await redeem(first.code, first.verifier);
  await redeem("a-code-that-nobody-issued", keep("wrong verifier", "w".repeat(43)));
  await send(paths.token, {
    ...own,
    client_secret: keep("wrong secret", "a wrong secret of the shop"),
    grant_type: "refresh_token",
  });
  await send(paths.token, { client_id: clientSecret, client_secret: "shop", grant_type: "client_credentials" });
  await send(paths.token, { grant_type: "refresh_token", refresh_token: one.refresh_token, ...own });
  await send(paths.token, { grant_type: "password", username: password, password, ...own });
  await send(paths.token, {
    ...own,
    grant_type: "refresh_token",
    refresh_token: two.access_token,
    scope: two.access_token,
  });
});

test("no secret that was sent in the wrong place is in an output either", async () => {
  for (const [name, secret] of [...secrets]) {
    const quoted = encodeURIComponent(secret);
    await get(`${paths.userinfo}?access_token=${quoted}&client_secret=${quoted}&api_key=${quoted}`);
    await get(
      `${paths.authorize}?client_id=shop&response_type=code&redirect_uri=${callback}?code=${quoted}&x=${quoted}`,
    );
    await get("/", { authorization: secret.replaceAll(/[^\x20-\x7e]/g, "") });
    await send(paths.token, {
      ...own,
      grant_type: "authorization_code",
      code: secret,
      password: secret,
      [secret.slice(0, 0) + "unknown_name"]: secret,
    });
    await send(`${paths.token}?client_secret=${quoted}`, { grant_type: "client_credentials" });
    // A JSON body under the media type of forms, as curl -d sends it.
    await fetch(idp.issuer + paths.token, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `{"client_secret":"${secret}"}`,
    });
    await fetch(`${idp.issuer}/api/v2/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_secret: secret, software_statement: secret, jwks: { keys: [{ k: secret }] } }),
    });
    if (/^(?=.*\d)(?=.*[A-Z])[\w-]{16,}$/.test(secret) || secret.startsWith("ey")) {
      await get(`/userinfo/${quoted}`);
      await get(`/api/v2/oauth/register/${quoted}`);
    }
    expect(name).not.toBe("");
  }
});

test("a body, and claims of a token, of any depth", async () => {
  const deep = "[".repeat(40_000) + "]".repeat(40_000);
  for (const name of ["grant_type", "client_secret", "unknown"]) {
    const response = await fetch(idp.issuer + paths.token, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"${name}":${deep},"scope":{"password":"${password}"}}`,
    });
    expect(response.status).toBe(400);
  }
  const part = (json: string): string => Buffer.from(json).toString("base64url");
  const kept = async (depth: number) => {
    const claims = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    await get(paths.userinfo, { authorization: `Bearer ${part('{"alg":"none"}')}.${part(claims)}.` });
    const [record] = (await idp.requests.list({ endpoint: "userinfo" })).slice(-1);
    return record?.parameters["authorization"];
  };
  expect(await kept(60)).toMatchObject({ claims: { a: [[[[[["…"]]]]]] } });
  // No JSON is read beyond 64 levels.
  expect(await kept(5000)).not.toHaveProperty("claims");
});

test("what all outputs show of the run", async () => {
  const records = await idp.requests.list();
  // Nothing was dropped: the run is in it as a whole.
  expect(records.length).toBeLessThan(1000);
  expect([...new Set(records.map(({ endpoint }) => endpoint))].sort()).toEqual([
    ...["account", "authorize", "consent", "device", "device_authorization", "introspect", "login", "logout", "none"],
    ...["par", "register", "revoke", "root", "sign-out", "token", "userinfo"],
  ]);
  shown.push(JSON.stringify(records), ledgerText(records));
  const [login] = records.filter(({ status }) => status === 401);
  const commands = [
    ["requests"],
    ["requests", "--json"],
    ["requests", "show", login?.id ?? ""],
    ...records.filter(({ endpoint }) => endpoint === "token").map(({ id }) => ["requests", "show", id]),
    ["expect", "token", "--times", "0"],
    ["expect", "login", "--user", "nobody", "--json"],
    ...[...secrets.values()].map((secret) => ["expect", "token", "--param", `code=${secret}`, "--status", "599"]),
  ];
  for (const words of commands) {
    const { stdout, stderr, code } = await idpHere(["--data", data, ...words]);
    expect([0, 6], stderr).toContain(code);
    shown.push(stdout, stderr);
  }
  for (const endpoint of ["token", "authorize", "login", "userinfo", "any"] as const) {
    shown.push(expectLines(await idp.call("expect", { endpoint, status: 599, client: "none" })).join("\n"));
  }
  const stream = await fetch(`${idp.issuer}/_idp/api/requests/stream?since=r0`, {
    headers: { authorization: `Bearer ${idp.adminToken}` },
  });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let streamed = "";
  while (!streamed.includes(`id: ${records.at(-1)?.id ?? ""}\n`)) streamed += (await reader?.read())?.value ?? "";
  await reader?.cancel();
  shown.push(streamed);
  const { browser, at } = await openInspector(idp);
  shown.push((await browser.open(at())).body);
  for (const flow of new Set(records.flatMap(({ flow }) => flow ?? []))) {
    const page = await browser.open(at(`sign-ins/${flow}`));
    expect(page.state).toBe("sign-in");
    shown.push(unescapeHtml(page.body));
  }
  const leaks: string[] = [];
  for (const [what, secret] of secrets) {
    // A whole token, and its signature alone, without which the rest is no token.
    const signature = secret.startsWith("ey") ? secret.split(".")[2] : undefined;
    const parts = [secret, encodeURIComponent(secret), ...(signature === undefined ? [] : [signature])];
    for (const text of shown) {
      for (const part of parts) {
        const at = text.indexOf(part);
        if (at >= 0) leaks.push(`${what}: ${text.slice(Math.max(0, at - 80), at + part.length + 20)}`);
      }
    }
  }
  expect(leaks).toEqual([]);
  // Nothing of the ledger is on disk, nor in a snapshot.
  await idp.snapshot("after-the-run");
  const files = readdirSync(data).map((name) => readFileSync(`${data}/${name}`, "utf8"));
  expect(files.join("\n")).not.toContain("authorize");
});
