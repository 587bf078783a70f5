import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, pick, type Body, type Parameters } from "../helpers/client.ts";
import { newProofKey } from "../helpers/dpop.ts";
import { testClock } from "../helpers/clock.ts";

/** Pushed authorization requests (RFC 9126). */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);
const path = "/api/v2/oauth/par";

async function push(change: Parameters = {}, init: RequestInit = {}) {
  const all: Parameters = {
    ...app.credentials,
    response_type: "code",
    redirect_uri: callback,
    scope: "openid email",
    state: "pushed",
    ...change,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  const response = await fetch(idp.issuer + path, { method: "POST", body: new URLSearchParams(sent), ...init });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}
const pushed = async (change: Parameters = {}) => String((await push(change)).json["request_uri"]);
const authorize = (change: Record<string, string>) =>
  `${idp.issuer}/api/v2/oauth/authorize?${new URLSearchParams(change).toString()}`;
const { client_id } = app.credentials;
const madeUp = "urn:ietf:params:oauth:request_uri:x";

test("201 with a request_uri that stands for the request, no-store", async () => {
  const { status, json, headers } = await push();
  expect(status).toBe(201);
  expect(json).toEqual({
    request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/) as string,
    expires_in: 60,
  });
  expect(headers.get("cache-control")).toBe("no-store");
  const { browser } = await app.signIn();
  const { left } = await browser.open(authorize({ client_id, request_uri: String(json["request_uri"]) }));
  expect(left?.searchParams.get("state")).toBe("pushed");
  expect((await app.exchange(left?.searchParams.get("code") ?? "")).json.scope).toBe("openid email");
});

test("a parameter without a value counts as not sent (RFC 6749 3.1)", async () => {
  expect((await push({ request_uri: "", dpop_jkt: "" })).status).toBe(201);
  const key = await newProofKey("ES256", clock.now);
  const headers = { dpop: await key.prove(idp.issuer + path) };
  expect((await push({ dpop_jkt: "" }, { headers })).status).toBe(201);
});

test("other parameters in the query are ignored", async () => {
  const { browser } = await app.signIn();
  const { left } = await browser.open(
    authorize({ client_id, request_uri: await pushed(), state: "query", scope: "openid phone", prompt: "login" }),
  );
  expect(left?.searchParams.get("state")).toBe("pushed");
});

describe("a reload, in the browser that began the sign-in and before it ended, continues it (RFC 9126 4)", () => {
  const begun = async () => {
    const request_uri = await pushed();
    const browser = new Browser(idp.issuer);
    const url = authorize({ client_id, request_uri });
    return { browser, url, first: await browser.open(url) };
  };

  test("the same page, also after the 60 seconds, and then the next one", async () => {
    const { browser, url, first } = await begun();
    expect(first.page).toBe("login");
    clock.pass(600);
    const again = await browser.open(url);
    expect([again.page, again.url]).toEqual(["login", first.url]);
    await pick(browser, again, await enroll(idp));
    const consent = await browser.open(url);
    expect(consent.page).toBe("consent");
    const { left } = await browser.press(consent, "consent-allow");
    expect(left?.searchParams.get("state")).toBe("pushed");
    expect((await app.exchange(left?.searchParams.get("code") ?? "")).status).toBe(200);
    expect(await browser.open(url)).toMatchObject({ status: 400, page: "error", left: null });
  });

  test("not in another browser, of another client, after a cancel, or after the hour of the sign-in", async () => {
    const refused = { status: 400, page: "error", left: null };
    const { browser, url, first } = await begun();
    expect(await new Browser(idp.issuer).open(url)).toMatchObject(refused);
    const elsewhere = new Browser(idp.issuer);
    await elsewhere.open(app.url());
    expect(await elsewhere.open(url)).toMatchObject(refused);
    const other = (await register(idp)).credentials.client_id;
    expect(await browser.open(url.replace(client_id, other))).toMatchObject(refused);
    expect((await browser.open(url)).page).toBe("login");
    expect((await browser.press(first, "login-cancel")).left?.searchParams.get("error")).toBe("access_denied");
    expect(await browser.open(url)).toMatchObject(refused);
    const late = await begun();
    clock.pass(3600);
    expect(await late.browser.open(late.url)).toMatchObject(refused);
  });
});

describe("a request_uri that does not pass: a page, since no address is proven", () => {
  const isRefused = async (browser: Browser, change: Record<string, string>) => {
    const visit = await browser.open(authorize(change));
    expect(visit).toMatchObject({ status: 400, page: "error", left: null });
    expect(visit.body).toContain(">invalid_request_uri<");
  };

  test("used a second time", async () => {
    const { browser } = await app.signIn();
    const request_uri = await pushed();
    expect((await browser.open(authorize({ client_id, request_uri }))).left).not.toBeNull();
    await isRefused(browser, { client_id, request_uri });
  });

  test("after 60 seconds, to the second", async () => {
    const { browser } = await app.signIn();
    const [lasts, ends] = [await pushed(), await pushed()];
    clock.pass(59);
    expect((await browser.open(authorize({ client_id, request_uri: lasts }))).left).not.toBeNull();
    clock.pass(1);
    await isRefused(browser, { client_id, request_uri: ends });
  });

  test("named by another client, which does not use it up", async () => {
    const other = await register(idp);
    const { browser } = await app.signIn();
    const request_uri = await pushed();
    await isRefused(browser, { client_id: other.credentials.client_id, request_uri });
    expect((await browser.open(authorize({ client_id, request_uri }))).left).not.toBeNull();
  });

  test("made up", async () => {
    await isRefused(new Browser(idp.issuer), { client_id, request_uri: madeUp });
  });

  test.each<[name: string, beside: Record<string, string>, says: string]>([
    ["no client", {}, "client_id is missing"],
    ["an unknown client", { client_id: "nope" }, "&#34;nope&#34;"],
    ["an unregistered redirect URI", { client_id, redirect_uri: "https://evil.test/" }, "is not registered for client"],
  ])("%s beside it is reported first", async (_name, beside, says) => {
    const visit = await new Browser(idp.issuer).open(authorize({ ...beside, request_uri: madeUp }));
    expect(visit).toMatchObject({ status: 400, page: "error", left: null });
    expect(visit.body).toContain(says);
    expect(visit.body).not.toContain(">invalid_request_uri<");
  });
});

test("a registered redirect URI beside a request_uri that does not pass: back to the client", async () => {
  const beside = { client_id, redirect_uri: callback, state: "mine" };
  const { left } = await new Browser(idp.issuer).open(authorize({ ...beside, request_uri: madeUp }));
  expect(Object.fromEntries(left?.searchParams ?? [])).toMatchObject({
    error: "invalid_request_uri",
    state: "mine",
    iss: idp.issuer,
  });
});

describe("a request that the authorization endpoint would refuse is refused when it is pushed", () => {
  test.each<[name: string, change: Parameters, status: number, error: string]>([
    ["a wrong secret", { client_secret: "wrong" }, 401, "invalid_client"],
    ["no client", { client_id: null, client_secret: null }, 401, "invalid_client"],
    ["no redirect_uri", { redirect_uri: null }, 400, "invalid_request"],
    ["an unregistered redirect_uri", { redirect_uri: "https://evil.test/" }, 400, "invalid_request"],
    ["no response_type", { response_type: null }, 400, "invalid_request"],
    ["an unknown scope", { scope: "nonsense" }, 400, "invalid_scope"],
    ["a request_uri in it", { request_uri: madeUp }, 400, "invalid_request"],
    ["more than it may hold", { state: "x".repeat(16_384) }, 400, "invalid_request"],
    ["names that are longer than that", { ["x".repeat(16_384)]: "" }, 400, "invalid_request"],
    ["a request object", { request: "x" }, 400, "request_not_supported"],
    ["an invalid id_token_hint", { id_token_hint: "x" }, 400, "invalid_request"],
    ["PKCE with plain", { code_challenge: "x".repeat(43), code_challenge_method: "plain" }, 400, "invalid_request"],
  ])("%s", async (_name, change, status, error) => {
    const answer = await push(change);
    expect([answer.status, answer.json.error]).toEqual([status, error]);
    expect(answer.json.error_description).toMatch(/./);
  });

  test("a body that is not a form: 415", async () => {
    const { status } = await push({}, { body: "{}", headers: { "content-type": "application/json" } });
    expect(status).toBe(415);
  });
});

describe("require_pushed_authorization_requests", () => {
  test("a plain request is refused, a pushed one passes", async () => {
    const strict = await register(idp, { require_pushed_authorization_requests: true });
    const { client_id: id } = strict.credentials;
    const { left } = await new Browser(idp.issuer).open(strict.url());
    expect(left?.searchParams.get("error_description")).toMatch(/has to push its requests/);
    const visit = await new Browser(idp.issuer).open(
      authorize({ client_id: id, request_uri: await pushed(strict.credentials) }),
    );
    expect(visit.page).toBe("login");
  });
});

test("a public client pushes with its client_id alone, and still has to use PKCE", async () => {
  const spa = await register(idp, { token_endpoint_auth_method: "none" });
  expect((await push(spa.credentials)).json.error_description).toMatch(/must use PKCE/);
  const pkce = { code_challenge: "x".repeat(43), code_challenge_method: "S256" };
  expect((await push({ ...spa.credentials, ...pkce })).status).toBe(201);
});
