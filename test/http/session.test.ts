import { describe, expect, test } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, pick } from "../helpers/client.ts";
import { createMemoryStore } from "../../src/store/memory.ts";
import { testClock } from "../helpers/clock.ts";

/** The session of a browser and its cookies. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);

/** Attributes of each cookie that an answer sets, by its name. */
const cookiesOf = (headers: Headers): Record<string, string[]> =>
  Object.fromEntries(
    headers.getSetCookie().map((line) => {
      const [pair = "", ...attributes] = line.split("; ");
      return [pair.split("=")[0] ?? "", attributes.sort()];
    }),
  );
const sessionOf = (browser: Browser): string | undefined => browser.cookies.get(`idp_${idp.port}_session`);

/** The answer to the form that signs in, before the redirect is followed. */
async function signInAnswer(to: App, issuer: string): Promise<Headers> {
  const browser = new Browser(issuer);
  const response = await browser.request(to.url());
  const login = await browser.open(response.headers.get("location") ?? "");
  const csrf = /name="csrf" value="([^"]+)"/.exec(login.body)?.[1] ?? "";
  const body = new URLSearchParams({ csrf, username: "alice", pick: "1" });
  return (await browser.request(login.url, { method: "POST", body })).headers;
}

describe("cookies", () => {
  test("of the browser: set when a page is shown, for this browser session", async () => {
    const { headers } = await fetch(app.url(), { redirect: "manual" });
    expect(cookiesOf(headers)).toEqual({ [`idp_${idp.port}_browser`]: ["HttpOnly", "Path=/", "SameSite=Lax"] });
  });

  test("of the session: named by the port, HttpOnly, SameSite=Lax, as long as the session lives", async () => {
    expect(cookiesOf(await signInAnswer(app, idp.issuer))).toEqual({
      [`idp_${idp.port}_session`]: ["HttpOnly", "Max-Age=86400", "Path=/", "SameSite=Lax"],
    });
  });

  test("Secure for an https issuer, and below its path", async () => {
    const secure = await serve({ issuer: "https://localhost/tenant" });
    const response = await fetch(`http://localhost:${secure.port}/tenant/account`, { redirect: "manual" });
    expect(cookiesOf(response.headers)).toEqual({
      [`idp_${secure.port}_browser`]: ["HttpOnly", "Path=/tenant", "SameSite=Lax", "Secure"],
    });
  });

  test("two servers on one machine have different cookies", async () => {
    const other = await serve();
    const { browser } = await app.signIn();
    const [name, value] = [`idp_${other.port}_session`, sessionOf(browser) ?? ""];
    for (const cookie of [`${name}=${value}`, [...browser.cookies].map(([one, held]) => `${one}=${held}`).join("; ")]) {
      const response = await fetch(`${other.issuer}/account`, { headers: { cookie }, redirect: "manual" });
      expect(response.headers.get("location")).toMatch(/\/interaction\//);
    }
  });
});

describe("the session", () => {
  test("is renewed at sign-in: the previous value is refused (session fixation)", async () => {
    const { browser } = await app.signIn();
    const before = sessionOf(browser) ?? "";
    await pick(browser, await browser.open(app.url({ prompt: "login" })), "alice");
    const after = sessionOf(browser) ?? "";
    expect(after).not.toBe(before);
    const account = (value: string) =>
      fetch(`${idp.issuer}/account`, { headers: { cookie: `idp_${idp.port}_session=${value}` }, redirect: "manual" });
    expect([(await account(before)).status, (await account(after)).status]).toEqual([303, 200]);
  });

  test("a made-up value is not a session", async () => {
    for (const value of ["made-up", "", '"', "%00", "x".repeat(4000)]) {
      const cookie = `idp_${idp.port}_session=${value}; idp_${idp.port}_browser=${value}`;
      const response = await fetch(`${idp.issuer}/account`, { headers: { cookie }, redirect: "manual" });
      expect([value, response.status]).toEqual([value, 303]);
    }
  });

  test("the same user who signs in again keeps the sid, another gets a new one", async () => {
    const { browser, code } = await app.signIn();
    const sidOf = async (of: string) => jwtPart((await app.exchange(of)).json.id_token, 1)["sid"];
    const sid = await sidOf(code);
    // What `idp sessions end` is given must not look like a flag.
    expect(sid).toMatch(/^s_/);
    const again = await app.signIn({ browser, prompt: "login" });
    expect(await sidOf(again.code)).toBe(sid);
    const bob = await app.signIn({ browser, prompt: "login", user: "bob" });
    expect(await sidOf(bob.code)).not.toBe(sid);
  });

  test("another user who signs in ends the session of the one before", async () => {
    const { browser } = await app.signIn({ user: await enroll(idp, { username: "first" }) });
    const before = sessionOf(browser) ?? "";
    await app.signIn({ browser, prompt: "login", user: "bob" });
    expect((await browser.open("/account")).body).toContain("Bob Brown");
    const cookie = `idp_${idp.port}_session=${before}`;
    expect((await fetch(`${idp.issuer}/account`, { headers: { cookie }, redirect: "manual" })).status).toBe(303);
  });

  test("lives a day, to the second, however it is used", async () => {
    const { browser } = await app.signIn();
    clock.pass(86_399);
    expect((await browser.open(app.url())).left).not.toBeNull();
    clock.pass(1);
    expect((await browser.open(app.url())).page).toBe("login");
  });

  test("lives as long as the setting session_ttl says", async () => {
    const brief = await serve({ now: clock.now, settings: { session_ttl: 10 } });
    const own = await register(brief);
    const { browser } = await own.signIn();
    clock.pass(9);
    expect((await browser.open(own.url())).left).not.toBeNull();
    clock.pass(1);
    expect((await browser.open(own.url())).page).toBe("login");
  });
});

describe("sign-in", () => {
  const login = async (username: string, password: string) => {
    const browser = new Browser(idp.issuer);
    const page = await browser.open(app.url({ prompt: "login" }));
    return browser.press(page, "login-submit", { username, password });
  };

  test.each(["alice", "alice@example.com", "ALICE@example.com"])("by password, as %s", async (username) => {
    expect((await login(username, "alice")).page).not.toBe("login");
  });

  test.each([
    ["a wrong password", "alice", "wrong"],
    ["no password", "alice", ""],
    ["an unknown user", "nobody", "typed-in"],
    ["a user without a password", "plain", ""],
    ["nothing at all", "", ""],
  ])("%s: 401, the same page and words, and no session", async (_name, username, password) => {
    await enroll(idp, { username: "plain" });
    const { status, page, state, body, headers } = await login(username, password);
    expect([status, page, state]).toEqual([401, "login", "error-credentials"]);
    expect(body).toMatch(/id="login-error"[^]*Wrong user name or password/);
    expect(headers.getSetCookie()).toEqual([]);
    if (password !== "") expect(body).not.toContain(`value="${password}"`);
  });

  test("after a wrong password the right one goes on with the same request", async () => {
    const browser = new Browser(idp.issuer);
    const own = await register(idp);
    const page = await browser.open(own.url({ state: "kept" }));
    const failed = await browser.press(page, "login-submit", { username: "alice", password: "wrong" });
    const consent = await browser.press(failed, "login-submit", { username: "alice", password: "alice" });
    const { left } = await browser.press(consent, "consent-allow");
    expect(left?.searchParams.get("state")).toBe("kept");
  });

  test("cancel: access_denied, with the state", async () => {
    const browser = new Browser(idp.issuer);
    const { left } = await browser.press(await browser.open(app.url({ state: "s1" })), "login-cancel");
    expect(Object.fromEntries(left?.searchParams ?? [])).toMatchObject({
      error: "access_denied",
      state: "s1",
      iss: idp.issuer,
    });
  });

  test("login: auto:alice signs in without a page", async () => {
    const auto = await serve({ settings: { login: "auto:alice" } });
    const own = await register(auto);
    const browser = new Browser(auto.issuer);
    const consent = await browser.open(own.url());
    expect(consent.page).toBe("consent");
    expect((await browser.press(consent, "consent-allow")).left?.searchParams.has("code")).toBe(true);
  });

  test("the oldest of very many sessions without a cookie are removed", async () => {
    const store = createMemoryStore({ now: clock.now });
    const most = 100_000;
    const session = { userId: "1", authTime: 0, amr: [], clientIds: [], createdAt: "", expiresAt: clock.now() + 1000 };
    await store.transaction((tx) => {
      for (let at = 0; at <= most; at += 1) tx.insert("sessions", { ...session, id: `${at}`, sid: `s_${at}` });
    });
    const known = await store.read((tx) => [
      tx.count("sessions"),
      tx.get("sessions", "0"),
      tx.get("sessions", "999"),
      tx.get("sessions", "1000")?.id,
    ]);
    expect(known).toEqual([most - 999, undefined, undefined, "1000"]);
  });
});
