import { expect, test } from "vitest";
import { peopleInChromium } from "../helpers/person-in-chromium.ts";

/**
 * A person in front of a real browser, scripts off: from the app to the login page, to consent, and back.
 * @module-tag browser
 */

const newPerson = peopleInChromium();

test("by keyboard alone: pick a user, untick a scope, allow, and be back with a code", async () => {
  const { idp, page, authorizationUrl, place, answer, tabTo, enter } = await newPerson();
  await page.goto(authorizationUrl());
  expect(await place()).toBe("login default");
  await tabTo("login-as-alice");
  await enter();
  expect(await place()).toBe("consent default");
  expect(await page.getByTestId("consent-client").textContent()).toBe("Web App");
  expect(await page.getByTestId("consent-user").textContent()).toContain("Alice Adams");
  await tabTo("consent-scope-phone");
  await page.keyboard.press("Space");
  await tabTo("consent-allow");
  await enter();
  expect(await place()).toBe("app");
  expect(answer().get("code")).toMatch(/.{40,}/);
  expect(answer().get("state")).toBe("s1");
  expect(answer().get("iss")).toBe(idp.issuer);
  const grants = await idp.call("grants.list", {});
  expect(grants).toMatchObject([{ user: "alice", client: "web", scope: "openid profile email", status: "active" }]);
});

test("by keyboard alone: a wrong password shows an error, the right one signs in", async () => {
  const { page, authorizationUrl, place, tabTo, enter } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByText("Sign in with a password").focus();
  await page.keyboard.press("Enter");
  await tabTo("login-username");
  await page.keyboard.type("alice");
  await tabTo("login-password");
  await page.keyboard.type("wrong");
  await enter();
  expect(await place()).toBe("login error-credentials");
  expect(await page.title()).toMatch(/^Error: /);
  expect(await page.getByTestId("login-error").textContent()).toContain("Wrong user name or password");
  expect(await page.getByTestId("login-username").inputValue()).toBe("alice");
  expect(await page.getByTestId("login-password").inputValue()).toBe("");
  await tabTo("login-password");
  await page.keyboard.type("alice-secret");
  await enter();
  expect(await place()).toBe("consent default");
});

test("by keyboard alone: deny, and by the back button there is nothing left to decide", async () => {
  const { idp, page, authorizationUrl, place, answer, tabTo, enter } = await newPerson();
  await page.goto(authorizationUrl());
  await tabTo("login-as-bob");
  await enter();
  await tabTo("consent-deny");
  await enter();
  expect([await place(), answer().get("error")]).toEqual(["app", "access_denied"]);
  await page.waitForLoadState();
  await page.goBack();
  expect(await place()).toBe("consent finished");
  expect(await idp.call("grants.list", {})).toEqual([]);
});

test("deny and cancel both return to the app with access_denied", async () => {
  const { idp, page, authorizationUrl, place, answer } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByTestId("login-cancel").click();
  expect(answer().get("error")).toBe("access_denied");
  await page.goto(authorizationUrl());
  await page.getByTestId("login-as-bob").click();
  await page.getByTestId("consent-deny").click();
  expect(await place()).toBe("app");
  expect(Object.fromEntries(answer())).toMatchObject({
    error: "access_denied",
    error_description: "The user denied the request",
    state: "s1",
  });
  expect(await idp.call("grants.list", {})).toEqual([]);
});

test("a suspended user sees why, and another one can be picked", async () => {
  const { page, authorizationUrl, place } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByTestId("login-as-carol").click();
  expect(await place()).toBe("login error-suspended");
  expect(await page.getByTestId("login-error").textContent()).toContain("idp users restore carol");
  await page.getByTestId("login-as-bob").click();
  expect(await place()).toBe("consent default");
});

test("another user switches the account, and consent is asked of that user", async () => {
  const { page, authorizationUrl, place } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByTestId("login-as-alice").click();
  await page.getByTestId("consent-switch-user").click();
  expect(await place()).toBe("login default");
  await page.getByTestId("login-as-bob").click();
  expect(await page.getByTestId("consent-user").textContent()).toContain("Bob Brown");
});

test("a decision counts once: by the back button there is nothing left to decide", async () => {
  const { page, authorizationUrl, place, callback } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByTestId("login-as-alice").click();
  await page.getByTestId("consent-allow").click();
  expect(await place()).toBe("app");
  await page.waitForLoadState();
  await page.goBack();
  expect(await place()).toBe("consent finished");
  expect(await page.getByTestId("consent-again").getAttribute("href")).toBe(`${new URL(callback).origin}/`);
  expect(await page.getByTestId("consent-allow").count()).toBe(0);
});

test("two tabs sign in at once, each for its own request", async () => {
  const { context, page, authorizationUrl, place, answer } = await newPerson();
  const other = await context.newPage();
  await page.goto(authorizationUrl({ state: "one" }));
  await other.goto(authorizationUrl({ state: "two" }));
  await page.getByTestId("login-as-alice").click();
  await other.getByTestId("login-as-alice").click();
  await page.getByTestId("consent-allow").click();
  expect([await place(), answer().get("state")]).toEqual(["app", "one"]);
  if ((await place(other)) !== "app") await other.getByTestId("consent-allow").click();
  expect([await place(other), answer(other).get("state")]).toEqual(["app", "two"]);
  expect(answer(other).get("code")).not.toBe(answer().get("code"));
});

test("under another name of this machine the cookie is missing, and the page leads back to the right one", async () => {
  const { page, authorizationUrl, place } = await newPerson();
  await page.goto(authorizationUrl());
  await page.goto(page.url().replace("localhost", "127.0.0.1"));
  expect(await place()).toBe("login no-cookie");
  await page.getByTestId("login-again").click();
  expect(await place()).toBe("login default");
  await page.getByTestId("login-as-alice").click();
  expect(await place()).toBe("consent default");
});

test("in Turkish and dark by the links of the footer, from the login page to the signed-out page", async () => {
  const { idp, page, authorizationUrl, place } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByRole("link", { name: "Türkçe" }).click();
  await page.getByRole("link", { name: "Koyu" }).click();
  expect(await page.locator("h1").textContent()).toBe("Giriş yapın");
  await page.getByTestId("login-as-alice").click();
  expect(await page.locator("h1").textContent()).toBe("Web App hesabınıza erişim istiyor");
  await page.getByTestId("consent-allow").click();
  await page.goto(`${idp.issuer}/account`);
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  await page.getByTestId("account-language").selectOption("en");
  await page.getByTestId("account-theme").selectOption("light");
  await page.getByTestId("account-save").click();
  expect(await place()).toBe("account saved");
  expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
  await page.getByTestId("account-signout-all").click();
  expect(await place()).toBe("signed-out all-sessions");
  expect(await page.locator("h1").textContent()).toBe("You are signed out");
});

test("text of clients, users and requests runs no script in a browser", async () => {
  const { idp, authorizationUrl, place, browser, callback } = await newPerson();
  const payload = `"'><img src=x onerror=alert(1)><script>alert(1)</script>{{ 7 | plus: 1 }}`;
  await idp.call("seed", {
    users: [{ username: "mallory", displayName: `Mallory ${payload}`, about: payload, claims: { roles: [payload] } }],
    clients: [{ client_id: "evil", client_secret: "evil-secret", client_name: payload, redirect_uris: [callback] }],
    scopes: { orders: { description: { en: payload }, claims: ["roles"] } },
  });
  const scripted = await browser.newContext();
  const tab = await scripted.newPage();
  const dialogs: string[] = [];
  tab.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const shown = async (): Promise<[page: string, elements: number, text: boolean]> => [
    await place(tab),
    await tab.locator('img, main script:not([src^="/_idp/assets/"]), iframe').count(),
    ((await tab.locator("main").textContent()) ?? "").includes(payload),
  ];
  const request = { client_id: "evil", scope: "openid orders", state: payload, login_hint: payload };
  await tab.goto(authorizationUrl(request));
  expect(await shown()).toEqual(["login default", 0, true]);
  await tab.getByTestId("login-as-mallory").click();
  expect(await shown()).toEqual(["consent default", 0, true]);
  await tab.getByTestId("consent-allow").click();
  expect(new URL(tab.url()).searchParams.get("state")).toBe(payload);
  await tab.goto(`${idp.issuer}/account`);
  expect(await shown()).toEqual(["account one", 0, true]);
  await tab.getByTestId("account-revoke-evil").click();
  expect(await shown()).toEqual(["account revoke", 0, true]);
  await tab.goto(authorizationUrl({ ...request, redirect_uri: `${callback}${payload}` }));
  expect(await shown()).toEqual(["error redirect-uri", 0, false]);
  await tab.goto(authorizationUrl({ client_id: payload }));
  expect(await shown()).toEqual(["error client", 0, false]);
  expect(dialogs).toEqual([]);
  await scripted.close();
});

test("a double click on Allow is one decision", async () => {
  const { idp, page, authorizationUrl, place, answer } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByTestId("login-as-alice").dblclick();
  await page.waitForSelector("[data-page=consent]");
  const decisions: number[] = [];
  page.on("response", (response) => {
    if (response.request().method() === "POST") decisions.push(response.status());
  });
  await page.getByTestId("consent-allow").dblclick();
  // The browser gives up the first request for the second: where the first was already decided by then, the page of the second says so.
  await page.waitForSelector("h1:has-text('Back in the app'), [data-page=consent][data-state=finished]");
  if (decisions.includes(400)) expect(await place()).toBe("consent finished");
  else expect(answer().get("code")).toMatch(/.{40,}/);
  expect(await idp.call("grants.list", {})).toHaveLength(1);
});
