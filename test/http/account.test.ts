import { expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { pick, userinfo } from "../helpers/client.ts";

/** The user's own page: connected apps, taking their access away, signing out. */

const idp = await serve();

/** Somebody who is signed in and has allowed nothing yet. */
async function somebody() {
  const user = await enroll(idp);
  const browser = new Browser(idp.issuer);
  return { user, browser, account: await pick(browser, await browser.open("/account"), user) };
}

test("without a session: the login page, and back", async () => {
  const { account } = await somebody();
  expect([account.status, account.page, account.url]).toEqual([200, "account", `${idp.issuer}/account`]);
  expect(account.body).toContain('id="account-user"');
});

test("lists the apps that were allowed, and no others", async () => {
  const { user, browser } = await somebody();
  const [one, other] = [await register(idp), await register(idp)];
  await one.signIn({ user, browser });
  await other.signIn({ user: "bob" });
  const { body } = await browser.open("/account");
  expect(body).toContain(`id="account-app-${one.credentials.client_id}"`);
  expect(body).not.toContain(`id="account-app-${other.credentials.client_id}"`);
});

test("removing an app goes over a page that confirms; only the confirmation does it", async () => {
  const { user, browser } = await somebody();
  const app = await register(idp, { client_name: "Reports" });
  const id = app.credentials.client_id;
  const { code } = await app.signIn({ user, browser });
  const { access_token: token } = (await app.exchange(code)).json;
  const { body } = await browser.open("/account");
  const href = new RegExp(`id="account-revoke-${id}"[^>]*href="([^"]+)"`).exec(body)?.[1] ?? "";
  const asks = await browser.open(href);
  expect([asks.page, asks.state]).toEqual(["account", "revoke"]);
  expect((await userinfo(idp, token)).status).toBe(200);
  const done = await browser.press(asks, "account-revoke-confirm");
  expect([done.page, done.state]).toEqual(["account", "removed"]);
  expect(done.body).toMatch(/id="account-status"[^]*Reports/);
  expect(done.body).not.toContain(`id="account-app-${id}"`);
  expect((await userinfo(idp, token)).status).toBe(403);
});

test("an app without access: the page says so", async () => {
  const { browser } = await somebody();
  const app = await register(idp);
  for (const id of [app.credentials.client_id, "nobody"]) {
    const visit = await browser.open(`/account/apps/${id}/remove`);
    expect([visit.status, visit.page]).toEqual([200, "account"]);
  }
});

test("confirmed twice: the second finds nothing to do", async () => {
  const { user, browser } = await somebody();
  const app = await register(idp);
  await app.signIn({ user, browser });
  const asks = await browser.open(`/account/apps/${app.credentials.client_id}/remove`);
  await browser.press(asks, "account-revoke-confirm");
  expect((await browser.press(asks, "account-revoke-confirm")).state).toBe("gone");
});

test("signing out ends this browser's session, and no other's; grants and tokens stay", async () => {
  const { user, browser } = await somebody();
  const app = await register(idp);
  const { code } = await app.signIn({ user, browser });
  const { access_token: token } = (await app.exchange(code)).json;
  const elsewhere = new Browser(idp.issuer);
  await pick(elsewhere, await elsewhere.open("/account"), user);
  const cookie = `idp_${idp.port}_session=${browser.cookies.get(`idp_${idp.port}_session`) ?? ""}`;
  const out = await browser.press(await browser.open("/account"), "account-signout");
  expect(out.page).toBe("signed-out");
  expect(out.headers.getSetCookie().join()).toMatch(/_session=; Max-Age=0/);
  expect((await browser.open("/account")).page).toBe("login");
  expect((await fetch(`${idp.issuer}/account`, { headers: { cookie }, redirect: "manual" })).status).toBe(303);
  expect((await elsewhere.open("/account")).page).toBe("account");
  expect((await userinfo(idp, token)).status).toBe(200);
});

test("signing out everywhere ends every session of this user, and of nobody else", async () => {
  const { user, browser } = await somebody();
  const [elsewhere, stranger] = [new Browser(idp.issuer), (await somebody()).browser];
  await pick(elsewhere, await elsewhere.open("/account"), user);
  await browser.press(await browser.open("/account"), "account-signout-all");
  expect((await elsewhere.open("/account")).page).toBe("login");
  expect((await stranger.open("/account")).page).toBe("account");
});

test("signed out in another tab: a form that is left over asks to sign in, and does nothing", async () => {
  const { user, browser } = await somebody();
  const app = await register(idp);
  await app.signIn({ user, browser });
  const asks = await browser.open(`/account/apps/${app.credentials.client_id}/remove`);
  await browser.press(await browser.open("/account"), "account-signout");
  expect((await browser.press(asks, "account-revoke-confirm")).page).toBe("login");
  expect(await idp.call("grants.list", { user })).toMatchObject([{ status: "active" }]);
});
