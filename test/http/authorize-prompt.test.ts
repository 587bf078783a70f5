import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, pick } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { hooked } from "../helpers/html.ts";

/** prompt, max_age, login_hint and id_token_hint (OpenID Connect Core 3.1.2.1). */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);

/** A browser in which alice is signed in and has granted the app everything. */
const returning = async () => (await app.signIn()).browser;
const authTimeOf = async (code: string): Promise<unknown> =>
  jwtPart((await app.exchange(code)).json.id_token, 1)["auth_time"];

describe("prompt", () => {
  test("none: back at once if no question is needed", async () => {
    const { left } = await (await returning()).open(app.url({ prompt: "none" }));
    expect(left?.searchParams.has("code")).toBe(true);
  });

  test("none: login_required without a session, consent_required if scopes are missing", async () => {
    const stranger = await new Browser(idp.issuer).open(app.url({ prompt: "none" }));
    expect(stranger.left?.searchParams.get("error")).toBe("login_required");
    const { left } = await (await returning()).open(app.url({ prompt: "none", scope: "openid phone" }));
    expect(left?.searchParams.get("error")).toBe("consent_required");
  });

  test("none leaves nothing behind: no cookie for a browser that had none", async () => {
    const browser = new Browser(idp.issuer);
    await browser.open(app.url({ prompt: "none" }));
    expect(browser.cookies.size).toBe(0);
  });

  test("login: asks again although there is a session, and auth_time is new", async () => {
    const browser = await returning();
    clock.pass(100);
    const login = await browser.open(app.url({ prompt: "login" }));
    expect([login.page, login.state]).toEqual(["login", "reauth"]);
    const { left } = await pick(browser, login, "alice");
    expect(await authTimeOf(left?.searchParams.get("code") ?? "")).toBe(clock.now() / 1000);
  });

  test("login: a request is not through before the sign-in, whatever is opened meanwhile", async () => {
    const browser = await returning();
    const login = await browser.open(app.url({ prompt: "login" }));
    const jumped = await browser.open(login.url.replace(/login$/, "consent"));
    expect(jumped.page).toBe("login");
  });

  test("consent: asks again although all is granted", async () => {
    const browser = await returning();
    const consent = await browser.open(app.url({ prompt: "consent" }));
    expect([consent.page, consent.state]).toEqual(["consent", "again"]);
    const { left } = await browser.press(consent, "consent-allow");
    expect(left?.searchParams.has("code")).toBe(true);
  });

  test("login consent: first the one, then the other", async () => {
    const browser = await returning();
    const login = await browser.open(app.url({ prompt: "consent login" }));
    expect(login.page).toBe("login");
    expect((await pick(browser, login, "alice")).page).toBe("consent");
  });

  test("select_account: shows every user, and another can be picked", async () => {
    const browser = await returning();
    const login = await browser.open(app.url({ prompt: "select_account" }));
    expect([login.page, login.state]).toEqual(["login", "default"]);
    expect(login.body).toContain('id="login-as-bob"');
    const consent = await pick(browser, login, "bob");
    expect(consent.body).toMatch(/id="consent-user"[^]*Bob Brown/);
  });
});

describe("another user signs in although this one is asked again", () => {
  test.each([{ prompt: "login" }, { max_age: "0" }])("%j: by the link, and by the name", async (asked) => {
    const browser = await returning();
    const login = await browser.open(app.url(asked));
    expect(login.body).not.toContain('id="login-as-bob"');
    expect(hooked(login.body, "login-username").attributes).not.toHaveProperty("readonly");
    const everybody = await browser.open(hooked(login.body, "login-switch-user").attributes["href"] ?? "");
    expect([everybody.state, everybody.body.includes("login-switch-user")]).toEqual(["default", false]);
    const consent = await pick(browser, everybody, "bob");
    expect(consent.body).toMatch(/id="consent-user"[^]*Bob Brown/);
  });

  test("not if the request names the user", async () => {
    const { browser, code } = await app.signIn();
    const { id_token: hint } = (await app.exchange(code)).json;
    const login = await browser.open(app.url({ prompt: "login", id_token_hint: hint }));
    expect(login.body).not.toContain("login-switch-user");
    expect(hooked(login.body, "login-username").attributes).toHaveProperty("readonly");
    const forced = await browser.open(`${login.url}?switch=1`);
    expect([forced.state, forced.body.includes('id="login-as-bob"')]).toEqual(["reauth", false]);
  });
});

describe("max_age", () => {
  test("asks again once the sign-in is older than that, and not before", async () => {
    const browser = await returning();
    clock.pass(60);
    expect((await browser.open(app.url({ max_age: "60" }))).left?.searchParams.has("code")).toBe(true);
    clock.pass(1);
    const login = await browser.open(app.url({ max_age: "60" }));
    expect([login.page, login.state]).toEqual(["login", "reauth"]);
    const { left } = await pick(browser, login, "alice");
    expect(await authTimeOf(left?.searchParams.get("code") ?? "")).toBe(clock.now() / 1000);
  });

  test("0: asks again in any case, once", async () => {
    const browser = await returning();
    const login = await browser.open(app.url({ max_age: "0" }));
    expect(login.page).toBe("login");
    expect((await pick(browser, login, "alice")).left?.searchParams.has("code")).toBe(true);
  });

  test("with prompt=none: login_required where it would have to ask", async () => {
    const browser = await returning();
    clock.pass(10);
    const { left } = await browser.open(app.url({ max_age: "5", prompt: "none" }));
    expect(left?.searchParams.get("error")).toBe("login_required");
  });

  test("the client's default_max_age holds where the request says nothing, and the request wins", async () => {
    const own = await register(idp, { default_max_age: 30 });
    const { browser } = await own.signIn();
    clock.pass(31);
    expect((await browser.open(own.url({ max_age: "60" }))).left?.searchParams.has("code")).toBe(true);
    expect((await browser.open(own.url())).page).toBe("login");
  });

  test("auth_time is when the user signed in, not when the request came", async () => {
    const browser = await returning();
    const signedIn = clock.now() / 1000;
    clock.pass(500);
    const { left } = await browser.open(app.url());
    expect(await authTimeOf(left?.searchParams.get("code") ?? "")).toBe(signedIn);
  });
});

describe("login_hint", () => {
  test.each(["bob", "bob@example.com", "BOB@EXAMPLE.COM"])("%s: is in the form, and bob comes first", async (hint) => {
    const { state, body } = await new Browser(idp.issuer).open(app.url({ login_hint: hint }));
    expect(state).toBe("hint");
    expect(body).toContain(`value="${hint}"`);
    expect(body.indexOf("login-as-bob")).toBeLessThan(body.indexOf("login-as-alice"));
  });

  test("an unknown user: the page says so, and any user can sign in", async () => {
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url({ login_hint: "nobody" }));
    expect(login).toMatchObject({ status: 200, page: "login", state: "hint" });
    expect(login.body).toContain("nobody");
    expect((await pick(browser, login, "alice")).page).not.toBe("login");
  });

  test("is only a hint: another signed-in user passes", async () => {
    const { left } = await (await returning()).open(app.url({ login_hint: "bob" }));
    expect(left?.searchParams.has("code")).toBe(true);
  });
});

describe("id_token_hint", () => {
  const hintFor = async (user: string) => (await app.tokens({ user })).id_token;

  test("of the user who is signed in: passes, also with prompt=none, also when it has expired", async () => {
    const hint = await hintFor("alice");
    clock.pass(4000);
    const { left } = await (await returning()).open(app.url({ prompt: "none", id_token_hint: hint }));
    expect(left?.searchParams.has("code")).toBe(true);
  });

  test("of another user: login_required with prompt=none, else that user has to sign in", async () => {
    const hint = await hintFor(await enroll(idp, { username: "hinted" }));
    const browser = await returning();
    const silent = await browser.open(app.url({ prompt: "none", id_token_hint: hint }));
    expect(silent.left?.searchParams.get("error")).toBe("login_required");
    const login = await browser.open(app.url({ id_token_hint: hint }));
    expect(login.page).toBe("login");
    expect((await pick(browser, login, "hinted")).left?.searchParams.has("code")).toBe(true);
  });

  test("of another user than the one who then signs in: login_required", async () => {
    const hint = await hintFor("bob");
    const browser = new Browser(idp.issuer);
    const { left } = await pick(browser, await browser.open(app.url({ id_token_hint: hint })), "alice");
    expect(left?.searchParams.get("error")).toBe("login_required");
  });

  test("an access token is refused", async () => {
    const { access_token: token } = await app.tokens();
    const { left } = await new Browser(idp.issuer).open(app.url({ id_token_hint: token }));
    expect(left?.searchParams.get("error")).toBe("invalid_request");
    expect(left?.searchParams.get("error_description")).not.toContain(token.slice(0, 20));
  });
});
