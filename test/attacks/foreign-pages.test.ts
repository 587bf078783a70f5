import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { endpoints } from "../../src/core/endpoints.ts";
import { tryItPaths } from "../../src/core/try-it/try-it.ts";
import { enroll, register } from "../helpers/app.ts";
import { innards, underAttack } from "../helpers/attack.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, paths, pick, userinfo } from "../helpers/client.ts";
import { rawRequest } from "../helpers/raw-http.ts";

/** What a page of another origin can do to a person who is signed in here, and a person to another one. */

const adminToken = "an-admin-token-of-these-tests";
const idp = await underAttack({ adminToken });
const app = await register(idp);
const foreignOrigins = [
  "https://evil.test",
  "http://localhost:1",
  "http://127.0.0.1:1",
  `http://localhost:${idp.port}.evil.test`,
  "null",
];

/** A browser that stands on the consent page. */
async function atConsent(user: string, parameters = {}): Promise<{ browser: Browser; page: Visit }> {
  const browser = new Browser(idp.issuer);
  const page = await pick(browser, await browser.open(app.url(parameters)), user);
  expect(page.page).toBe("consent");
  return { browser, page };
}

describe("a form that a foreign page sends is refused, with the right csrf value too", () => {
  test.each(foreignOrigins)("%s", async (origin) => {
    const user = await enroll(idp);
    const fresh = new Browser(idp.issuer);
    const login = await fresh.open(app.url());
    expect((await pick(new Browser(idp.issuer), login, user)).status).toBe(400);
    expect((await fresh.press(login, "login-as-alice", {}, { origin })).status).toBe(403);
    const { browser, page } = await atConsent(user);
    expect((await browser.press(page, "consent-allow", {}, { origin })).status).toBe(403);
    const account = await browser.open("/account");
    expect((await browser.press(account, "account-signout", {}, { origin })).status).toBe(403);
    expect((await browser.open("/account")).page).toBe("account");
    expect((await browser.press(page, "consent-allow")).left?.searchParams.has("code")).toBe(true);
  });

  test.each(["", "x", "__proto__"])("and one of ours with the csrf value %j", async (csrf) => {
    const { browser, page } = await atConsent(await enroll(idp));
    expect((await browser.press(page, "consent-allow", { csrf })).status).toBe(403);
    expect((await browser.press(page, "consent-allow", { csrf: null })).status).toBe(403);
  });
});

describe("what a foreign page loads by itself does nothing for the person who is signed in", () => {
  const parts = [
    ["an image of another localhost port", { "sec-fetch-site": "same-site", "sec-fetch-dest": "image" }],
    ["a frame", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" }],
    ["a script's request", { "sec-fetch-site": "same-site", "sec-fetch-dest": "empty" }],
  ] as const;

  test.each(parts)("%s is no guess of a device's code", async (_what, headers) => {
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open("/account"), await enroll(idp));
    const load = () => browser.open("/device?user_code=BBBB-BBBB", { headers });
    const loads = await Promise.all(Array.from({ length: 60 }, load));
    expect(new Set(loads.map(({ state }) => state))).toEqual(new Set(["enter"]));
    // Followed as a link, it is looked at, and there are guesses left for it.
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" };
    expect((await browser.open("/device?user_code=BBBB-BBBB", { headers: link })).state).toBe("invalid");
  });

  test.each(parts)("%s chooses no language and no theme", async (_what, headers) => {
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open("/account"), await enroll(idp));
    const before = [...browser.cookies];
    await browser.open("/account?lang=tr&theme=dark", { headers });
    expect([...browser.cookies]).toEqual(before);
  });
});

test("a consent page of one user is no use in another's browser, nor after another signed in", async () => {
  const [mine, theirs] = [await enroll(idp), await enroll(idp)];
  const victim = await atConsent(mine);
  const attacker = await atConsent(theirs);
  expect((await attacker.browser.press(victim.page, "consent-allow")).status).toBe(400);
  expect((await victim.browser.press(attacker.page, "consent-allow")).status).toBe(400);
  // The same interaction, by now of another user.
  const again = await pick(victim.browser, await victim.browser.open(app.url({ prompt: "login" })), theirs);
  expect(again.page).toBe("consent");
  expect((await victim.browser.press(victim.page, "consent-allow")).status).toBe(403);
});

test("scopes that were not asked for cannot be ticked, and a decision is taken once", async () => {
  const { browser, page } = await atConsent(await enroll(idp), { scope: "openid profile" });
  const scope = ["openid", "email", "phone", "admin", "__proto__"];
  const { left } = await browser.press(page, "consent-allow", { scope });
  const { json } = await app.exchange(left?.searchParams.get("code") ?? "");
  expect(json.scope).toBe("openid");
  expect((await browser.press(page, "consent-allow", { scope })).left).toBeNull();
  expect((await browser.press(page, "consent-deny")).left).toBeNull();
  expect((await userinfo(idp, json.access_token)).json["email"]).toBeUndefined();
});

test("a session cookie that was planted is not the one after the sign-in", async () => {
  const { browser: attacker } = await app.signIn({ user: await enroll(idp) });
  const name = `idp_${idp.port}_session`;
  const planted = attacker.cookies.get(name) ?? "";
  const victim = new Browser(idp.issuer);
  const login = await victim.open(app.url());
  const form = formsOf(login.body).find(({ fields }) => fields.some(([, value]) => value === "alice"));
  const cookies = [...victim.cookies, [name, planted]].map((pair) => pair.join("=")).join("; ");
  const answer = await fetch(new URL(form?.action ?? "", idp.issuer), {
    method: "POST",
    redirect: "manual",
    headers: { cookie: cookies, origin: new URL(idp.issuer).origin },
    body: new URLSearchParams(form?.fields.map(([field, value]) => [field, value])),
  });
  const set = answer.headers.getSetCookie().find((line) => line.startsWith(name)) ?? "";
  expect(set).toMatch(/HttpOnly.*SameSite=Lax/);
  expect(set).not.toContain(planted);
  expect((await attacker.open("/account")).page).toBe("login");
});

describe("what is shown again stands as text", () => {
  const mark = `"'><img src=x onerror=alert(1)>{{7*7}}</script>`;
  const quoted = encodeURIComponent(mark);
  test.each([
    `/${quoted}`,
    `/device?user_code=${quoted}`,
    `/account?removed=${quoted}&gone=${quoted}&saved=${quoted}`,
    `/account/apps/${quoted}/remove`,
    `/interaction/${quoted}/login?q=${quoted}&page=${quoted}&lang=${quoted}&theme=${quoted}`,
    `/interaction/${quoted}/consent`,
    `/api/v2/oauth/logout?id_token_hint=${quoted}`,
    `/api/v2/oauth/logout?client_id=${quoted}&state=${quoted}`,
    `/api/v2/oauth/logout?client_id=demo-app&post_logout_redirect_uri=${quoted}`,
    `/api/v2/oauth/authorize?client_id=${quoted}`,
    `/api/v2/oauth/authorize?client_id=demo-app&redirect_uri=${quoted}&ui_locales=${quoted}&x=${quoted}`,
  ])("%s", async (path) => {
    const { browser } = await app.signIn();
    for (const one of [browser, new Browser(idp.issuer)]) {
      const visit = await one.open(path);
      expect(visit.body).not.toContain("<img");
      expect(visit.body).not.toMatch(innards);
      expect(visit.status).toBeLessThan(500);
    }
  });

  test("in every parameter of a request, with every page on the way", async () => {
    const user = await enroll(idp, { displayName: mark, about: mark, location: mark });
    const evil = await register(idp, { client_name: mark });
    const parameters = { state: mark, nonce: mark, login_hint: mark, ui_locales: mark, acr_values: mark };
    const browser = new Browser(idp.issuer);
    const login = await browser.open(evil.url(parameters));
    const wrong = await browser.press(login, "login-submit", { username: mark, password: mark });
    const consent = await pick(browser, await browser.open(login.url), user);
    const posted = await browser.open(evil.url({ ...parameters, response_mode: "form_post", prompt: "none" }));
    const allowed = await browser.press(consent, "consent-allow");
    const account = await browser.open("/account");
    const device = await browser.open(`/device?user_code=${quoted}`);
    for (const visit of [login, wrong, consent, posted, account, device]) {
      expect(visit.page).not.toBe("error");
      expect(visit.body).not.toContain("<img");
      expect(visit.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    }
    expect(allowed.left?.searchParams.get("state")).toBe(mark);
  });
});

test("line breaks in what goes back to the client make no header", async () => {
  const state = "x\r\nSet-Cookie: evil=1\r\n\r\n<script>\u0130\ud800";
  const browser = new Browser(idp.issuer);
  const { headers, left } = await browser.open(app.url({ state, scope: "\r\nX: y", prompt: "none" }));
  expect(headers.get("set-cookie") ?? "").not.toContain("evil");
  expect(left?.origin).toBe("http://localhost:3000");
  expect(left?.searchParams.get("state")).toBe(state.replace("\ud800", "\ufffd"));
});

/** Every path of the issuer, its parameters filled in. */
const issuerPaths = [
  "/",
  ...Object.values(endpoints),
  `${endpoints.register}/x`,
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  "/interaction/x/login",
  "/interaction/x/consent",
  "/interaction/x/logout",
  "/account",
  "/account/apps/x/remove",
  "/account/preferences",
  "/account/end-session",
  "/account/sign-out",
  "/device",
  ...Object.values(tryItPaths),
  "/_idp/health",
  "/_idp/assets/style.css",
];

const inspectorPaths = [
  "",
  "users",
  "clients",
  "grants",
  "tokens",
  "testing",
  "fixtures",
  "change",
  "stream",
  "sign-ins/f1",
].map((path) => `/_idp/${path}`);

/** Every path of the control API. */
async function controlPaths(): Promise<string[]> {
  const response = await fetch(`${idp.issuer}/_idp/api/openapi.json`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const { paths } = (await response.json()) as { readonly paths: object };
  return Object.keys(paths).map((path) => `/_idp/api${path.replaceAll(/\{\w+\}/g, "x")}`);
}

const control = await controlPaths();

describe("DNS rebinding: a foreign Host opens nothing, on any path", () => {
  const paths = ["/nothing", "/_idp/api/nothing", ...issuerPaths, ...inspectorPaths, ...control];
  test("the paths are those of the server", async () => {
    expect(control).toEqual(expect.arrayContaining(["/_idp/api/users/x", "/_idp/api/openapi.json"]));
    // A path that is added there has to be added above; one more is for issuers with a path.
    const source = await readFile(new URL("../../src/http/app.ts", import.meta.url), "utf8");
    expect(issuerPaths).toHaveLength(source.match(/\bpath: (?!string|metadataPath \+)/g)?.length ?? 0);
  });
  const hosts = [
    "evil.test",
    `evil.test:${idp.port}`,
    "localhost.evil.test",
    "127.0.0.1.evil.test",
    "evillocalhost",
    "localhost@evil.test",
    "[::1].evil.test",
  ];
  test("the health says that there is a server, and nothing of it", async () => {
    const bytes = "GET /_idp/health HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n";
    expect((await rawRequest(idp.port, bytes)).body).toBe('{"status":"ok"}');
  });
  test.each(paths.filter((path) => path !== "/_idp/health"))("%s", async (path) => {
    for (const host of hosts) {
      for (const method of host === "evil.test" ? ["GET", "POST", "OPTIONS", "DELETE"] : ["GET"]) {
        const bytes = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${adminToken}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
        expect([method, host, (await rawRequest(idp.port, bytes)).status]).toEqual([method, host, 421]);
      }
    }
  });
});

const { access_token: userToken } = await app.tokens();

describe("the control API", () => {
  const call = (path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> =>
    fetch(`${idp.issuer}/_idp/api${path}`, { headers, ...init });
  test.each<[name: string, headers: Record<string, string>, status: number]>([
    ["no token", {}, 401],
    ["an empty token", { authorization: "Bearer " }, 401],
    ["another token", { authorization: `Bearer ${adminToken}x` }, 401],
    ["the beginning of the token", { authorization: `Bearer ${adminToken.slice(0, -1)}` }, 401],
    ["a user's token", { authorization: `Bearer ${userToken}` }, 401],
    ["the token as Basic", { authorization: `Basic ${Buffer.from(`:${adminToken}`).toString("base64")}` }, 401],
    ["the token as cookie", { cookie: `token=${adminToken}` }, 401],
    ...[...foreignOrigins, ""].map((origin): [string, Record<string, string>, number] => [
      `the token, and Origin ${origin}`,
      { authorization: `Bearer ${adminToken}`, origin },
      403,
    ]),
  ])("%s", async (_name, headers, status) => {
    for (const path of ["/users", "/keys", "/clients?secrets=true", "/nothing"]) {
      const answer = await call(path, headers);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
    expect((await call("/reset", headers, { method: "POST" })).status).toBe(status);
    expect((await call("/users", headers, { method: "OPTIONS" })).status).toBe(status);
  });

  test("the token in the query opens nothing", async () => {
    expect((await call(`/users?access_token=${adminToken}&token=${adminToken}`, {})).status).toBe(401);
  });

  test.each([
    '{"user":{"$ne":null},"client":["demo-app"]}',
    '{"__proto__":{"user":"alice"},"client":"demo-app"}',
    '{"constructor":{"prototype":{"admin":true}}}',
    '{"user":"__proto__","client":"constructor"}',
    '{"user":"alice","client":"demo-app","scope":"\\ud800"}',
    "[]",
    "null",
    "7",
    "{",
    '{"user":1e999}',
  ])("%s to each operation that issues or seeds", async (body) => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    for (const path of [
      "/issue/tokens",
      "/issue/grant",
      "/issue/code",
      "/revoke",
      "/seed",
      "/token/verify",
      "/sessions/end",
      "/keys",
    ]) {
      const answer = await call(path, headers, { method: "POST", body });
      expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 500)]);
      expect(await answer.text()).not.toMatch(innards);
    }
    expect(Object.hasOwn(Object.prototype, "user")).toBe(false);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test("claims of a token that are nested without end", async () => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const body = `{"user":"alice","client":"demo-app","claims":{"x":${"[".repeat(40_000)}${"]".repeat(40_000)}}}`;
    expect((await call("/token/issue", headers, { method: "POST", body })).status).toBe(422);
  });

  test.each<[fixtures: string, status: number]>([
    ['{"users":[{"username":"__proto__"}]}', 200],
    ['{"users":[{"username":"eve","claims":{"__proto__":{"admin":true},"iss":"x","grant":"g","exp":1}}]}', 422],
    ['{"users":[{"__proto__":{"username":"eve"}}]}', 422],
    [
      '{"clients":[{"client_id":"evil","redirect_uris":["http://localhost:3000/\\r\\nX: y"],"post_logout_redirect_uris":["javascript:alert(1)"]}]}',
      422,
    ],
    ['{"clients":[{"client_id":"__proto__","redirect_uris":["http://localhost/"]}]}', 200],
    ['{"scopes":{"__proto__":{"description":{"en":"x"}},"constructor":{}}}', 422],
    ['{"users":[{"username":"eve","displayName":"\\ud800"}]}', 200],
    ['{"settings":{"__proto__":{"login":"auto:alice"}}}', 422],
    ['{"users":{"length":1e9}}', 422],
  ])("seed %s", async (body, status) => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const answer = await call("/seed", headers, { method: "POST", body });
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toMatch(innards);
    for (const path of ["/users", "/clients", "/users/__proto__", "/clients/constructor"]) {
      expect((await call(path, headers)).status).toBeLessThan(500);
    }
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });
});

test("an API of no registered origin reads nothing: no CORS", async () => {
  for (const origin of ["https://evil.test", "null", "http://localhost:3000.evil.test", "com.example.app:"]) {
    for (const path of [paths.token, paths.userinfo, paths.revoke]) {
      const { headers } = await fetch(idp.issuer + path, { method: "POST", headers: { origin } });
      expect([path, origin, headers.get("access-control-allow-origin")]).toEqual([path, origin, null]);
    }
  }
  const { headers } = await fetch(idp.issuer + paths.authorize, { headers: { origin: "http://localhost:3000" } });
  expect(headers.get("access-control-allow-origin")).toBeNull();
});

test("a form of another origin that is too long to come again as GET: no cookie is set or taken away", async () => {
  const long = "x".repeat(12_500);
  const { searchParams } = new URL(authorizeUrl(idp, { login_hint: long }));
  for (const [path, parameters] of [
    ["/api/v2/oauth/logout", new URLSearchParams({ state: long })],
    [paths.authorize, searchParams],
  ] as const) {
    const headers = { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.test" };
    const body = parameters.toString();
    const answer = await fetch(idp.issuer + path, { method: "POST", redirect: "manual", headers, body });
    expect([answer.status, answer.headers.getSetCookie()], path).toEqual([400, []]);
    expect(await answer.text(), path).toContain("too long to be repeated as GET");
  }
});
