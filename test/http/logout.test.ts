import { createHmac } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** OpenID Connect RP-Initiated Logout 1.0. */

const clock = testClock();
const idp = await serve({ now: clock.now, settings: { session_ttl: 1_000_000 } });
const path = "/api/v2/oauth/logout";
const bye = "http://localhost:3000/bye?x=1";
const native = await register(idp, {
  token_endpoint_auth_method: "none",
  post_logout_redirect_uris: ["http://127.0.0.1:*/bye"],
});
const app = await register(idp, { post_logout_redirect_uris: [bye, "http://localhost:3000/"] });
const { client_id } = app.credentials;

const logoutUrl = (parameters: Record<string, string>): string =>
  `${path}?${new URLSearchParams(parameters).toString()}`;
const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.open("/account")).page === "account";

/** Somebody who is signed in, and the ID token that the app got. */
async function signedIn(user = "alice") {
  const { browser, code } = await app.signIn({ user });
  return { browser, hint: (await app.exchange(code)).json.id_token };
}

const { hint: genuine } = await signedIn();

test("a post_logout_redirect_uri without a client is ignored, and the log says why", async () => {
  const notes: string[] = [];
  const own = await serve({ log: (note) => notes.push(note) });
  const asked = async (parameters: Record<string, string>) =>
    (await new Browser(own.issuer).open(logoutUrl(parameters))).status;
  expect(await asked({ client_id: "demo-app", post_logout_redirect_uri: "http://localhost:3000/" })).toBe(303);
  expect(notes).toEqual([]);
  expect(await asked({ post_logout_redirect_uri: "http://localhost:3000/" })).toBe(200);
  expect(notes).toEqual(["post_logout_redirect_uri is ignored: neither id_token_hint nor client_id says whose it is"]);
});

describe("from a server, without the cookie of a browser", () => {
  const fromServer = (parameters: Record<string, string>) => new Browser(idp.issuer).open(logoutUrl(parameters));

  test("a hint ends the session that it names, and no other", async () => {
    const { browser, hint } = await signedIn();
    const other = await signedIn();
    const visit = await fromServer({ id_token_hint: hint, post_logout_redirect_uri: bye });
    expect(visit.left?.href).toBe(bye);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await isSignedIn(other.browser)).toBe(true);
  });

  test("a POST with a hint ends it at once: no browser follows a redirect", async () => {
    const { browser, hint } = await signedIn();
    const body = new URLSearchParams({ id_token_hint: hint });
    expect((await fetch(idp.issuer + path, { method: "POST", body, redirect: "manual" })).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("an expired hint ends it too", async () => {
    const { browser, hint } = await signedIn();
    clock.pass(5000);
    expect((await fromServer({ id_token_hint: hint })).page).toBe("signed-out");
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("a forged hint ends nothing", async () => {
    const { browser, hint } = await signedIn();
    const [header = "", payload = ""] = hint.split(".");
    expect((await fromServer({ id_token_hint: `${header}.${payload}.AAAA` })).status).toBe(400);
    expect((await fromServer({ id_token_hint: hint, client_id: "demo-app" })).status).toBe(400);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("a hint of another user's session in this browser still asks", async () => {
    const { browser } = await signedIn("bob");
    const { browser: alices, hint } = await signedIn("alice");
    expect((await browser.open(logoutUrl({ id_token_hint: hint }))).page).toBe("logout");
    expect(await isSignedIn(alices)).toBe(true);
  });
});

test("a public client may leave the port of a loopback address open, as that of a redirect URI", async () => {
  const { client_id: id } = native.credentials;
  const to = async (address: string) => {
    const visit = await new Browser(idp.issuer).open(logoutUrl({ client_id: id, post_logout_redirect_uri: address }));
    return [visit.status, visit.left?.href];
  };
  expect(await to("http://127.0.0.1:10000/bye")).toEqual([303, "http://127.0.0.1:10000/bye"]);
  expect(await to("http://127.0.0.1:10000/other")).toEqual([400, undefined]);
});

test("the page says why there is no redirect", async () => {
  const visit = await new Browser(idp.issuer).open(logoutUrl({ post_logout_redirect_uri: bye }));
  expect([visit.page, visit.left]).toEqual(["signed-out", null]);
  expect(visit.body).toContain("neither an id_token_hint nor a client_id");
  const { browser } = await signedIn();
  const asked = await browser.open(logoutUrl({ post_logout_redirect_uri: bye }));
  expect((await browser.press(asked, "logout-confirm")).body).toContain("neither an id_token_hint nor a client_id");
});

describe("with a genuine hint for this session: at once", () => {
  test("back to the registered address, with state alone", async () => {
    const { browser, hint } = await signedIn();
    const visit = await browser.open(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: bye, state: "a b&c" }));
    expect([visit.status, visit.headers.get("location")]).toEqual([303, `${bye}&state=a+b%26c`]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("a state that is not UTF-8 is refused", async () => {
    const visit = await new Browser(idp.issuer).open(`${logoutUrl({ post_logout_redirect_uri: bye })}&state=%FF`);
    expect([visit.status, visit.page]).toEqual([400, "error"]);
    expect(visit.body).toContain("state is not UTF-8");
  });

  test("without a state nothing is added", async () => {
    const { browser, hint } = await signedIn();
    const { headers } = await browser.open(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: bye }));
    expect(headers.get("location")).toBe(bye);
  });

  test("without an address: the signed-out page", async () => {
    const { browser, hint } = await signedIn();
    const visit = await browser.open(logoutUrl({ id_token_hint: hint, state: "s1" }));
    expect([visit.status, visit.page]).toEqual([200, "signed-out"]);
    expect(visit.body).toContain('id="signedout-message"');
    expect(visit.headers.get("cache-control")).toBe("no-store");
    expect(visit.headers.getSetCookie().join()).toMatch(/_session=; Max-Age=0/);
  });

  test("a user who is suspended meanwhile: the session does not come back when they are restored", async () => {
    const user = await enroll(idp);
    const { browser, hint } = await signedIn(user);
    await idp.call("users.suspend", { username: user });
    const { left } = await browser.open(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: bye }));
    expect(left?.href).toBe(bye);
    await idp.call("users.restore", { username: user });
    expect(await idp.call("sessions.list", { user })).toEqual([]);
  });

  test.each(["state", "ui_locales"])("with a %s that is too long: a page, and nothing has ended", async (name) => {
    const { browser, hint } = await signedIn();
    const body = new URLSearchParams({
      id_token_hint: hint,
      post_logout_redirect_uri: bye,
      [name]: "x".repeat(20_000),
    });
    expect(await browser.open(path, { method: "POST", body })).toMatchObject({ status: 400, page: "error" });
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("with the hint's client_id beside it", async () => {
    const { browser, hint } = await signedIn();
    const { left } = await browser.open(logoutUrl({ id_token_hint: hint, client_id, post_logout_redirect_uri: bye }));
    expect(left?.href).toBe(bye);
  });

  test("an expired hint is still a hint", async () => {
    const { browser, hint } = await signedIn();
    clock.pass(5000);
    const { left } = await browser.open(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: bye }));
    expect(left?.href).toBe(bye);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("by POST: with the cookie at once, without it (cross-site) by way of a GET", async () => {
    const { browser, hint } = await signedIn();
    const body = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: bye });
    const headers = { origin: "http://localhost:3000" };
    const crossSite = await fetch(idp.issuer + path, { method: "POST", body, headers, redirect: "manual" });
    expect([crossSite.status, crossSite.headers.get("location")]).toEqual([303, `${path}?${body.toString()}`]);
    expect((await browser.open(path, { method: "POST", body })).left?.href).toBe(bye);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("no session: straight back", async () => {
    const { hint } = await signedIn();
    const { left } = await new Browser(idp.issuer).open(
      logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: bye }),
    );
    expect(left?.href).toBe(bye);
  });

  test("of a client whose ID tokens are HS256, by its own secret (OpenID Connect Core 10.1)", async () => {
    const metadata = { id_token_signed_response_alg: "HS256" as const, post_logout_redirect_uris: [bye] };
    const own = await register(idp, metadata);
    const { browser, code } = await own.signIn();
    const hint = (await own.exchange(code)).json.id_token;
    const { left } = await browser.open(logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: bye }));
    expect([left?.href, await isSignedIn(browser)]).toEqual([bye, false]);
    // Another client's secret is no key for it.
    const other = await register(idp, metadata);
    const forged = `${hint.split(".")[0] ?? ""}.${Buffer.from(JSON.stringify({ ...jwtPart(hint, 1), aud: other.credentials.client_id })).toString("base64url")}.${hint.split(".")[2] ?? ""}`;
    expect((await browser.open(logoutUrl({ id_token_hint: forged }))).status).toBe(400);
  });

  test("a client's secret signs hints for its own users only", async () => {
    const own = await register(idp, { id_token_signed_response_alg: "HS256", post_logout_redirect_uris: [bye] });
    const [mine, foreign] = [await own.signIn(), await app.signIn({ user: await enroll(idp) })];
    const issued = (await own.exchange(mine.code)).json.id_token;
    const { sub } = jwtPart((await app.exchange(foreign.code)).json.id_token, 1);
    const sign = (claims: object): string => {
      const text = `${issued.split(".")[0] ?? ""}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
      const key = own.credentials.client_secret ?? "";
      return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
    };
    const forged = sign({ ...jwtPart(issued, 1), sub });
    expect((await foreign.browser.open(logoutUrl({ id_token_hint: forged }))).status).toBe(400);
    expect(await isSignedIn(foreign.browser)).toBe(true);
    // Of its own it could have had the same one from here.
    const { left } = await mine.browser.open(
      logoutUrl({ id_token_hint: sign(jwtPart(issued, 1)), post_logout_redirect_uri: bye }),
    );
    expect(left?.href).toBe(bye);
  });

  test("tokens live on: the session ends, not the grant", async () => {
    const { browser, code } = await app.signIn();
    const { json } = await app.exchange(code);
    await browser.open(logoutUrl({ id_token_hint: json.id_token }));
    expect((await userinfo(idp, json.access_token)).status).toBe(200);
  });
});

describe("without a hint the user is asked", () => {
  test.each<[name: string, parameters: () => Promise<Record<string, string>>, end: string]>([
    ["no hint", async () => ({}), "signed-out"],
    ["no hint, but the client", async () => ({ client_id, post_logout_redirect_uri: bye }), bye],
    ["a hint for another user", async () => ({ id_token_hint: (await signedIn("bob")).hint }), "signed-out"],
  ])("%s: the user can sign out or stay", async (_name, parameters, end) => {
    const { browser } = await signedIn();
    const url = logoutUrl(await parameters());
    const asks = await browser.open(url);
    expect([asks.page, asks.left]).toEqual(["logout", null]);
    expect(await isSignedIn(browser)).toBe(true);
    const stays = await browser.press(asks, "logout-stay");
    expect([stays.page, stays.left, await isSignedIn(browser)]).toEqual(["account", null, true]);
    const goes = await browser.press(await browser.open(url), "logout-confirm");
    expect(goes.left?.href ?? goes.page).toBe(end);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("after the yes: back to the address of the client that asked, with state", async () => {
    const { browser } = await signedIn();
    const asks = await browser.open(logoutUrl({ client_id, post_logout_redirect_uri: bye, state: "s1" }));
    expect((await browser.press(asks, "logout-confirm")).left?.href).toBe(`${bye}&state=s1`);
  });

  test("an address without a client: after the yes it stays here", async () => {
    const { browser } = await signedIn();
    const asks = await browser.open(logoutUrl({ post_logout_redirect_uri: bye }));
    const visit = await browser.press(asks, "logout-confirm");
    expect([visit.page, visit.left]).toEqual(["signed-out", null]);
  });

  test("the decision counts once", async () => {
    const { browser } = await signedIn();
    const asks = await browser.open(logoutUrl({}));
    await browser.press(asks, "logout-stay");
    expect((await browser.press(asks, "logout-confirm")).status).toBe(400);
    expect(await isSignedIn(browser)).toBe(true);
  });
});

describe("refused with a page, never a redirect, and nobody is signed out", () => {
  const claims = jwtPart(genuine, 1);
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const none = `${encode({ ...jwtPart(genuine, 0), alg: "none" })}.${genuine.split(".")[1] ?? ""}.`;
  function hs256(kid: unknown): string {
    const text = `${encode({ alg: "HS256", typ: "JWT", kid })}.${encode(claims)}`;
    return `${text}.${createHmac("sha256", app.credentials.client_secret ?? "")
      .update(text)
      .digest("base64url")}`;
  }
  const foreign = async () =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: String(jwtPart(genuine, 0)["kid"]) })
      .sign((await generateKeyPair("RS256")).privateKey);
  async function withOwnKey(): Promise<string> {
    const { publicKey, privateKey } = await generateKeyPair("RS256");
    const header = { alg: "RS256", typ: "JWT", jwk: await exportJWK(publicKey) };
    return new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  }

  test.each<[name: string, parameters: () => Promise<Record<string, string>>]>([
    ["a forged hint", async () => ({ id_token_hint: await foreign() })],
    ["a forged hint with its key in the header", async () => ({ id_token_hint: await withOwnKey() })],
    ["alg none", async () => ({ id_token_hint: none })],
    ["HS256 with the client's secret", async () => ({ id_token_hint: hs256(undefined) })],
    ["HS256 under the public key's kid", async () => ({ id_token_hint: hs256(jwtPart(genuine, 0)["kid"]) })],
    ["no JWT", async () => ({ id_token_hint: "x" })],
    ["an access token", async () => ({ id_token_hint: (await app.tokens()).access_token })],
    ["another client_id than the hint's", async () => ({ id_token_hint: genuine, client_id: "demo-app" })],
    ["an unknown client", async () => ({ client_id: "nobody" })],
  ])("%s", async (_name, parameters) => {
    const { browser } = await signedIn();
    const visit = await browser.open(logoutUrl({ post_logout_redirect_uri: bye, ...(await parameters()) }));
    expect([visit.status, visit.page, visit.left]).toEqual([400, "error", null]);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test.each([
    "https://evil.test/",
    "//evil.test",
    "javascript:alert(1)",
    "http://localhost:3000/\r\nX: y",
    "http://localhost:3000/bye",
    "http://localhost:3000/bye?x=1&y=2",
    "http://localhost:3000/bye?x=1/",
    "http://localhost:3000/x/../",
    "http://localhost:3000/callback",
  ])("an address that is not registered, or extended: %j", async (uri) => {
    const { browser, hint: own } = await signedIn();
    for (const who of [{ id_token_hint: own }, { client_id }]) {
      const visit = await browser.open(logoutUrl({ ...who, post_logout_redirect_uri: uri }));
      expect([visit.status, visit.page, visit.left]).toEqual([400, "error", null]);
    }
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("the page says the same of the client of a hint as of one that client_id names", async () => {
    const [long, sent] = ["http://localhost:3900/a/the-path-of-this-conformance-plan/bye", "?x=1"];
    const own = await register(idp, { client_id: "conformance-plan-client", post_logout_redirect_uris: [long] });
    const { browser, code } = await own.signIn();
    const { id_token } = (await own.exchange(code)).json;
    const refused = async (who: Record<string, string>) => {
      const { body } = await browser.open(logoutUrl({ ...who, post_logout_redirect_uri: long + sent }));
      return body.replace(/idp open( \w+)?/g, "").replace(/lang=[^"]*"|href="[^"]*"/g, "");
    };
    const page = await refused({ id_token_hint: id_token });
    expect(page).toContain(`${long}?x=1`);
    expect(page).toContain("idp clients edit conformance-plan-client");
    expect(page).toBe(await refused({ client_id: own.credentials.client_id }));
  });

  test("a parameter sent twice", async () => {
    const { browser } = await signedIn();
    const visit = await browser.open(
      `${logoutUrl({ client_id })}&post_logout_redirect_uri=${bye}&post_logout_redirect_uri=${bye}`,
    );
    expect([visit.status, visit.left]).toEqual([400, null]);
  });
});
