import { expect, test } from "vitest";
import { peopleInChromium } from "../helpers/person-in-chromium.ts";

/**
 * The account page in a real browser, scripts off: an app's access is removed, sessions end, and the person signs out.
 * @module-tag browser
 */

const newPerson = peopleInChromium();

test("by keyboard alone: an app's access is removed, a session ended, and the person signs out", async () => {
  const { idp, page, place, tabTo, enter, browser } = await newPerson();
  await idp.issueGrant({ user: "alice", client: "web", scope: "openid" });
  const elsewhere = await browser.newContext({ javaScriptEnabled: false });
  const other = await elsewhere.newPage();
  await other.goto(`${idp.issuer}/account`);
  await other.getByTestId("login-as-alice").click();
  await page.goto(`${idp.issuer}/account`);
  await tabTo("login-as-alice");
  await enter();
  expect(await place()).toBe("account one");
  await tabTo("account-revoke-web");
  await enter();
  await tabTo("account-revoke-confirm");
  await enter();
  expect(await place()).toBe("account removed");
  await tabTo("account-session-end-2");
  await enter();
  expect(await place()).toBe("account ended");
  await other.reload();
  expect(await place(other)).toBe("login default");
  await elsewhere.close();
  await tabTo("account-signout");
  await enter();
  expect(await place()).toBe("signed-out done");
});

test("access is taken back on the account page, after a page that asks; then consent is asked again", async () => {
  const { idp, page, authorizationUrl, place } = await newPerson();
  await page.goto(authorizationUrl());
  await page.getByTestId("login-as-alice").click();
  await page.getByTestId("consent-allow").click();
  await page.goto(authorizationUrl());
  expect(await place()).toBe("app");

  await page.goto(`${idp.issuer}/account`);
  expect(await place()).toBe("account one");
  await page.getByTestId("account-revoke-web").click();
  expect(await place()).toBe("account revoke");
  await page.getByTestId("account-revoke-confirm").click();
  expect(await place()).toBe("account removed");
  expect(await page.getByTestId("account-status").textContent()).toBe("Web App can no longer use your account.");

  await page.goto(authorizationUrl());
  expect(await place()).toBe("consent default");
});

test("the account page asks to sign in first, comes back, and signs out", async () => {
  const { idp, page, place } = await newPerson();
  await page.goto(`${idp.issuer}/account`);
  expect(await place()).toBe("login default");
  await page.getByTestId("login-as-bob").click();
  expect(await place()).toBe("account none");
  await page.getByTestId("account-signout").click();
  expect(await place()).toBe("signed-out done");
  await page.goto(`${idp.issuer}/account`);
  expect(await place()).toBe("login default");
});
