import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, pick } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** Two tabs, double submits, the back button, and what happens meanwhile: a decision applies to its own request, once. */

const clock = testClock();
const idp = await serve({ now: clock.now, settings: { session_ttl: 1_000_000 } });

describe("two tabs", () => {
  test("each sign-in goes on with its own request", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const one = await browser.open(app.url({ state: "one", nonce: "n-one", scope: "openid email" }));
    const two = await browser.open(app.url({ state: "two", nonce: "n-two", scope: "openid phone" }));
    const consentTwo = await pick(browser, two, "alice");
    const consentOne = await pick(browser, one, "alice");
    const backTwo = (await browser.press(consentTwo, "consent-allow")).left;
    const backOne = (await browser.press(consentOne, "consent-allow")).left;
    for (const [back, name, scope] of [
      [backOne, "one", "openid email"],
      [backTwo, "two", "openid phone"],
    ] as const) {
      expect(back?.searchParams.get("state")).toBe(name);
      const { json } = await app.exchange(back?.searchParams.get("code") ?? "");
      expect(json.scope).toBe(scope);
      expect(jwtPart(json.id_token, 1)["nonce"]).toBe(`n-${name}`);
    }
  });

  test("consent given in one tab is not requested again in the other", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open(app.url()), "alice");
    const [one, two] = [await browser.open(app.url({ state: "one" })), await browser.open(app.url({ state: "two" }))];
    await browser.press(one, "consent-allow");
    expect((await browser.open(two.url)).left?.searchParams.get("state")).toBe("two");
  });

  test("each tab's decision counts: denied in the second, it is denied there", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open(app.url()), "alice");
    const [one, two] = [await browser.open(app.url()), await browser.open(app.url({ state: "two" }))];
    await browser.press(one, "consent-allow");
    const { left } = await browser.press(two, "consent-deny");
    expect([left?.searchParams.get("error"), left?.searchParams.get("state")]).toEqual(["access_denied", "two"]);
  });

  test("each tab's decision counts: what is unticked in the second is not granted any more", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const scope = "openid email";
    await pick(browser, await browser.open(app.url()), "alice");
    const [one, two] = [await browser.open(app.url({ scope })), await browser.open(app.url({ scope }))];
    await browser.press(one, "consent-allow");
    const { left } = await browser.press(two, "consent-allow", { scope: ["openid"] });
    expect((await app.exchange(left?.searchParams.get("code") ?? "")).json.scope).toBe("openid");
  });

  test("another user signed in meanwhile: the old form decides nothing", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const alices = await pick(browser, await browser.open(app.url()), "alice");
    const bobs = await pick(browser, await browser.open(app.url({ prompt: "select_account" })), "bob");
    const refused = await browser.press(alices, "consent-allow");
    expect([refused.status, refused.state, refused.left]).toEqual([403, "other-user", null]);
    expect(refused.body).toContain("bob signed in in another tab. Reload this page");
    expect(refused.body).toContain(
      `id="error-reload" data-testid="error-reload" href="${new URL(alices.url).pathname}"`,
    );
    expect((await browser.open(alices.url)).body).toContain("bob");
    expect(await idp.call("grants.list", { client: app.credentials.client_id })).toEqual([]);
    await browser.press(bobs, "consent-allow");
    expect(await idp.call("grants.list", { client: app.credentials.client_id })).toMatchObject([{ user: "bob" }]);
  });

  test("another user signed in meanwhile: the forms of the account page say so too, and a forged one does not", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open(app.url()), "alice");
    const account = await browser.open("/account");
    await pick(browser, await browser.open(app.url({ prompt: "select_account" })), "bob");
    for (const button of ["account-save", "account-signout"]) {
      const refused = await browser.press(account, button, { language: "en", theme: "dark" });
      expect([button, refused.status, refused.state]).toEqual([button, 403, "other-user"]);
      const forged = await browser.press(account, button, { csrf: "x", language: "en", theme: "dark" });
      expect([button, forged.status, forged.state]).toEqual([button, 403, "form"]);
    }
  });

  test("another user signed in meanwhile: the old form of the sign-out page ends no session of theirs", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open(app.url()), "alice");
    const asks = await browser.open("/api/v2/oauth/logout");
    await pick(browser, await browser.open(app.url({ prompt: "select_account" })), "bob");
    for (const button of ["logout-confirm", "logout-stay"]) {
      const refused = await browser.press(asks, button);
      expect([button, refused.status, refused.state]).toEqual([button, 403, "other-user"]);
      expect(refused.body).toContain("bob signed in in another tab. Reload this page");
    }
    expect((await browser.press(asks, "logout-confirm", { csrf: "x" })).state).toBe("form");
    const reloaded = await browser.open(asks.url);
    expect((await browser.press(reloaded, "logout-confirm")).page).toBe("signed-out");
  });

  test("signed out meanwhile: the form of the sign-out page says so", async () => {
    const browser = new Browser(idp.issuer);
    const app = await register(idp);
    await pick(browser, await browser.open(app.url()), "alice");
    const asks = await browser.open("/api/v2/oauth/logout");
    await browser.press(await browser.open("/account"), "account-signout");
    expect(await browser.press(asks, "logout-confirm")).toMatchObject({ page: "signed-out", state: "already" });
  });

  test("another user signed in meanwhile: the old form of the factor page proves nothing for them", async () => {
    const users = ["erin", "otto"].map((username) => ({ username, factors: ["otp"] }));
    await idp.call("seed", { users, settings: { acr: { "urn:otp": ["otp"] } } });
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const url = app.url({ acr_values: "urn:otp" });
    const factor = await pick(browser, await browser.open(url), "erin");
    expect(factor.page).toBe("factor");
    await pick(browser, await browser.open(app.url({ prompt: "select_account" })), "otto");
    for (const button of ["factor-submit", "factor-cancel"]) {
      const refused = await browser.press(factor, button);
      expect([button, refused.status, refused.state]).toEqual([button, 403, "other-user"]);
      expect(refused.body).toContain("otto signed in in another tab. Reload this page");
    }
    expect(await browser.open(factor.url)).toMatchObject({ page: "factor", body: expect.stringContaining("otto") });
  });

  test("signed out meanwhile: consent has to wait for a sign-in", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const consent = await pick(browser, await browser.open(app.url({ state: "kept" })), "alice");
    await browser.press(await browser.open("/account"), "account-signout");
    const login = await browser.press(consent, "consent-allow");
    expect(login.page).toBe("login");
    const again = await pick(browser, login, "alice");
    expect((await browser.press(again, "consent-allow")).left?.searchParams.get("state")).toBe("kept");
  });
});

describe("a decision counts once", () => {
  test.each(["consent-allow", "consent-deny"])(
    "%s pressed twice: the second says that it was answered",
    async (button) => {
      const app = await register(idp);
      const browser = new Browser(idp.issuer);
      const consent = await pick(browser, await browser.open(app.url()), "alice");
      expect((await browser.press(consent, button)).left).not.toBeNull();
      const again = await browser.press(consent, button);
      expect([again.status, again.page, again.state, again.left]).toEqual([400, "consent", "finished", null]);
    },
  );

  test("denied, then allowed by the back button: it stays denied", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const consent = await pick(browser, await browser.open(app.url()), "alice");
    await browser.press(consent, "consent-deny");
    expect((await browser.press(consent, "consent-allow")).left).toBeNull();
    expect(await idp.call("grants.list", { client: app.credentials.client_id })).toEqual([]);
  });

  test("a sign-in that led straight back to the client is over too", async () => {
    const app = await register(idp);
    const { browser } = await app.signIn();
    const login = await browser.open(app.url({ prompt: "login" }));
    expect((await pick(browser, login, "alice")).left).not.toBeNull();
    const again = await pick(browser, login, "alice");
    expect([again.status, again.page, again.left]).toEqual([400, "login", null]);
  });

  test("canceled on the login page: the form is refused afterwards", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url());
    await browser.press(login, "login-cancel");
    const again = await pick(browser, login, "alice");
    expect([again.status, again.page, again.left]).toEqual([400, "login", null]);
  });
});

describe("the back button", () => {
  test("from consent to login: signing in again, also as another user, goes on with the same request", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url({ state: "kept" }));
    await pick(browser, login, "alice");
    const consent = await pick(browser, await browser.open(login.url), "bob");
    expect(consent.body).toContain("Bob Brown");
    expect((await browser.press(consent, "consent-allow")).left?.searchParams.get("state")).toBe("kept");
    expect(await idp.call("grants.list", { client: app.credentials.client_id })).toMatchObject([{ user: "bob" }]);
  });

  test("to an answered consent page: it says so, and has no buttons", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const consent = await pick(browser, await browser.open(app.url()), "alice");
    await browser.press(consent, "consent-allow");
    const back = await browser.open(consent.url);
    expect([back.status, back.page]).toEqual([404, "consent"]);
    expect(back.body).not.toContain("consent-allow");
  });
});

describe("a request waits an hour", () => {
  test.each(["login", "consent"])("%s: after it the page says that it is over", async (step) => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url());
    const page = step === "login" ? login : await pick(browser, login, "alice");
    clock.pass(3599);
    expect((await browser.open(page.url)).status).toBe(200);
    clock.pass(1);
    const over = await browser.open(page.url);
    expect([over.status, over.page, over.state]).toEqual([404, step, "expired"]);
    const pressed = step === "login" ? await pick(browser, page, "alice") : await browser.press(page, "consent-allow");
    expect([pressed.status, pressed.left]).toEqual([400, null]);
  });
});
