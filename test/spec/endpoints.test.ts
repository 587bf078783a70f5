import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, jwtPart, paths, pick, post, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** The spec's sections Endpoints, Authentication, Errors, Limits and Versioning, a test a row. */

const clock = testClock();
const idp = await serve({ now: clock.now, settings: { session_ttl: 100_000_000 } });
const app = await register(idp);
const get = (path: string, init: RequestInit = {}) => fetch(idp.issuer + path, { redirect: "manual", ...init });

describe("Endpoints", () => {
  test("GET /api/v2/oauth/authorize: prompts for login, then for consent, then redirects to `redirect_uri`", async () => {
    const own = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(own.url());
    const consent = await pick(browser, login, "alice");
    const { status, left } = await browser.press(consent, "consent-allow");
    expect([login.page, consent.page, status]).toEqual(["login", "consent", 303]);
    expect(left?.href.startsWith(`${callback}?code=`)).toBe(true);
  });

  test("POST /api/v2/oauth/token: takes `Content-Type: application/json`", async () => {
    const { code } = await app.signIn();
    expect((await app.exchange(code)).status).toBe(200);
  });

  test("GET /api/v2/oauth/userinfo: JSON on success and on error, filtered by the granted scopes", async () => {
    const { access_token: token } = await app.tokens({ scope: "openid phone" });
    const good = await get(paths.userinfo, { headers: { authorization: `Bearer ${token}`, accept: "text/html" } });
    const bad = await get(paths.userinfo, { headers: { authorization: "Bearer x", accept: "text/html" } });
    for (const answer of [good, bad]) expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    const { user } = (await good.json()) as { user: object };
    expect(Object.keys(user)).toEqual(["displayName", "username", "avatar", "about", "phone"]);
  });
});

describe("Authentication", () => {
  test("Authorization endpoint: the user logs in if no session exists", async () => {
    const own = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(own.url());
    expect(login.page).toBe("login");
    await pick(browser, login, "alice");
    expect((await browser.open(own.url())).page).toBe("consent");
  });

  test("Token endpoint: `client_id` and `client_secret` in the JSON body", async () => {
    const { code } = await app.signIn();
    expect((await app.exchange(code, { client_id: null, client_secret: null })).json.error).toBe("invalid_client");
    expect((await app.exchange(code)).status).toBe(200);
  });

  test("UserInfo endpoint: `Authorization: Bearer <ACCESS_TOKEN>`, whose expiry the client can read", async () => {
    const { access_token: token } = await app.tokens();
    expect(Number(jwtPart(token, 1)["exp"]) * 1000).toBe(clock.now() + 30 * 60_000);
    expect((await userinfo(idp, token)).status).toBe(200);
  });

  test("`state` and `nonce` come back as the client sent them, so that it can compare", async () => {
    const { back, code } = await app.signIn({ state: "s-1", nonce: "n-1" });
    expect(back.searchParams.get("state")).toBe("s-1");
    expect(jwtPart((await app.exchange(code)).json.id_token, 1)["nonce"]).toBe("n-1");
  });
});

describe("Errors", () => {
  test("Authorization redirect: user denies access", async () => {
    const own = await register(idp);
    const browser = new Browser(idp.issuer);
    const consent = await pick(browser, await browser.open(own.url({ state: "s1" })), "alice");
    const { left } = await browser.press(consent, "consent-deny");
    expect(left?.href.split("?")[0]).toBe(callback);
    expect([...(left?.searchParams.keys() ?? [])]).toEqual(["error", "error_description", "state", "iss"]);
    expect(left?.searchParams.get("error")).toBe("access_denied");
  });

  test.each([
    ["missing", null],
    ["invalid", "not-a-token"],
  ])("UserInfo: access token %s: 401", async (_case, token) => {
    expect((await userinfo(idp, token)).status).toBe(401);
  });

  test('UserInfo: user revoked the client\'s access: 403 with the message "Access revoked by user"', async () => {
    const own = await register(idp);
    const { access_token: token } = await own.tokens();
    await idp.revoke({ user: "alice", client: own.credentials.client_id });
    const { status, json } = await userinfo(idp, token);
    expect([status, json["message"]]).toEqual([403, "Access revoked by user"]);
  });

  test.each(["suspend", "ban"] as const)("UserInfo: user's account is banned or suspended: 403 (%s)", async (how) => {
    const user = await enroll(idp);
    const { access_token: token } = await app.tokens({ user });
    await idp.call(`users.${how}`, { username: user });
    expect((await userinfo(idp, token)).status).toBe(403);
  });

  test("Any protected call: consent revoked, tokens invalidated: 403, whichever way the token is sent", async () => {
    const own = await register(idp);
    const { access_token: token } = await own.tokens();
    await idp.revoke({ client: own.credentials.client_id });
    const form = new URLSearchParams({ access_token: token });
    const byForm = await get(paths.userinfo, { method: "POST", body: form });
    const byHeader = await get(paths.userinfo, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    expect([byForm.status, byHeader.status]).toEqual([403, 403]);
  });

  test("errors of the API are JSON", async () => {
    const { status, headers, json } = await post(idp, paths.token, {});
    expect([status, headers.get("content-type"), json.error]).toEqual([
      400,
      "application/json; charset=utf-8",
      "invalid_request",
    ]);
  });
});

describe("Limits", () => {
  test("Access token lifetime: 30 minutes, to the second", async () => {
    const { access_token: token, expires_in } = await app.tokens();
    expect(expires_in).toBe(1800);
    clock.pass(1799);
    expect((await userinfo(idp, token)).status).toBe(200);
    clock.pass(1);
    expect((await userinfo(idp, token)).status).toBe(401);
  });

  test("Refresh token lifetime: 7 days, to the second", async () => {
    const [lasts, ends] = [await app.tokens(), await app.tokens()];
    clock.pass(7 * 86_400 - 1);
    expect((await app.refresh(lasts.refresh_token)).status).toBe(200);
    clock.pass(1);
    expect((await app.refresh(ends.refresh_token)).json.error).toBe("invalid_grant");
  });
});

describe("Versioning", () => {
  test("all endpoints live under /api/v2/", async () => {
    const document = (await (await get("/.well-known/openid-configuration")).json()) as Record<string, unknown>;
    const endpoints = Object.entries(document).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
    expect(endpoints.length).toBeGreaterThan(5);
    for (const [, url] of endpoints) expect(url).toMatch(new RegExp(`^${idp.issuer}/api/v2/oauth/`));
  });

  test.each(["/api/v1/oauth/token", "/api/oauth/token", "/oauth/token"])("%s is not there: 404", async (path) => {
    expect((await get(path, { method: "POST" })).status).toBe(404);
  });
});
