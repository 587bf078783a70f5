import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderAccount, type AccountView } from "../../src/http/pages/account.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { pick, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { elementsOf, hooked, wordsOf } from "../helpers/html.ts";
import { accountViews } from "../helpers/views/account.ts";

const renderer = createRenderer();

const account = (changes: Partial<AccountView>): string =>
  renderAccount(renderer, { ...accountViews["account-one"], ...changes }).html;
const stateOf = (html: string): string | undefined => elementsOf(html)[0]?.attributes["data-state"];

test("has a state for none, one and many apps, one removed, and one removed elsewhere", () => {
  const { apps } = accountViews["account-many"];
  expect(stateOf(account({ apps: [] }))).toBe("none");
  expect(stateOf(account({}))).toBe("one");
  expect(stateOf(account({ apps }))).toBe("many");
  const removed = account({ outcome: { kind: "removed", app: "Demo App" } });
  expect(stateOf(removed)).toBe("removed");
  expect(hooked(removed, "account-status").attributes["role"]).toBe("status");
  expect(wordsOf(removed).replace(/\s+/g, " ")).toContain("Demo App can no longer use your account.");
  expect(stateOf(account({ outcome: { kind: "gone", app: "Demo App" } }))).toBe("gone");
});

test("leads from each app to the page that asks before it removes", () => {
  const html = account({});
  expect(hooked(html, "account-revoke-demo-app")).toMatchObject({
    tag: "a",
    attributes: { href: "/account/apps/demo-app/revoke", "aria-label": "Remove access for Demo App" },
  });
});

test("writes times with their zone, which is this machine's unless said otherwise", () => {
  const inZone = (timeZone?: string) => renderAccount(renderer, accountViews["account-one"], timeZone).html;
  expect(inZone("UTC")).toContain(">20 Nov 2026, 12:04 UTC</time>");
  expect(inZone("Europe/Istanbul")).toContain(">20 Nov 2026, 15:04 GMT+3</time>");
  expect(inZone()).toBe(inZone(new Intl.DateTimeFormat().resolvedOptions().timeZone));
});

async function signedIn(idp: Awaited<ReturnType<typeof serve>>, user: string): Promise<[Browser, Visit]> {
  const browser = new Browser(idp.issuer);
  return [browser, await pick(browser, await browser.open("/account"), user)];
}

test("sessions are told apart by their browser and their time to the second", async () => {
  const idp = await serve();
  const user = await enroll(idp);
  const agents = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/604.1",
    "<b>unknown</b>",
  ];
  for (const agent of agents) {
    const browser = new Browser(idp.issuer);
    const login = await browser.open("/account");
    await browser.press(login, `login-as-${user}`, {}, { "user-agent": agent });
  }
  const [, { body }] = await signedIn(idp, user);
  const text = wordsOf(body).replace(/\s+/g, " ");
  for (const program of ["Firefox, Linux", "Edge, Windows", "Safari, iOS"])
    expect(text).toContain(`Another browser ${program}`);
  expect(body).not.toContain("unknown");
  expect(text).toMatch(/Picked from the list, \d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d /);
});

test("language and theme are kept on the user, and hold in this browser", async () => {
  const idp = await serve();
  const user = await enroll(idp, { language: "en" });
  const [browser, page] = await signedIn(idp, user);
  const saved = await browser.press(page, "account-save", { language: "tr", theme: "dark" });
  expect([saved.page, saved.state]).toEqual(["account", "saved"]);
  expect(elementsOf(saved.body)[0]?.attributes).toMatchObject({ lang: "tr", "data-theme": "dark" });
  expect(await idp.call("users.show", { username: user })).toMatchObject({ language: "tr", theme: "dark" });
  expect(elementsOf((await browser.open("/account")).body)[0]?.attributes).toMatchObject({
    lang: "tr",
    "data-theme": "dark",
  });
});

test("a choice overrides an earlier one of the browser; an unknown one is refused", async () => {
  const idp = await serve();
  const user = await enroll(idp, { language: "en" });
  const [browser] = await signedIn(idp, user);
  const page = await browser.open("/account?lang=tr&theme=light");
  const saved = await browser.press(page, "account-save", { language: "en", theme: "system" });
  expect(elementsOf(saved.body)[0]?.attributes).toMatchObject({ lang: "en", "data-theme": "system" });
  const wanted = { language: "tr", theme: "dark" };
  for (const change of [{ language: "../x" }, { theme: "pink" }, { language: null }]) {
    expect((await browser.press(saved, "account-save", { ...wanted, ...change })).status).toBe(400);
  }
  expect((await browser.press(saved, "account-save", { ...wanted, csrf: "guessed" })).status).toBe(403);
  expect(await idp.call("users.show", { username: user })).toMatchObject({ language: "en", theme: "system" });
});

test("signing out everywhere ends the sessions of all browsers, of this user only", async () => {
  const idp = await serve();
  const user = await enroll(idp);
  const [other, otherPage] = await signedIn(idp, await enroll(idp));
  const [first] = await signedIn(idp, user);
  const [second, page] = await signedIn(idp, user);
  expect(hooked(page.body, "account-session-2").tag).toBe("li");
  expect(page.body).not.toContain("account-session-3");
  const out = await second.press(page, "account-signout-all");
  expect([out.page, out.state]).toEqual(["signed-out", "all-sessions"]);
  expect((await first.open("/account")).page).toBe("login");
  expect((await other.open(otherPage.url)).page).toBe("account");
  const again = await second.press(page, "account-signout");
  expect([again.page, again.state]).toEqual(["signed-out", "already"]);
});

test("a session is ended from the account page, and only the user's own", async () => {
  const idp = await serve();
  const user = await enroll(idp);
  const [stranger, strangersPage] = await signedIn(idp, await enroll(idp));
  const [first, firstPage] = await signedIn(idp, user);
  const [second, page] = await signedIn(idp, user);
  expect(page.body).not.toContain("account-session-end-1");
  const ended = await second.press(page, "account-session-end-2");
  expect([ended.page, ended.state]).toEqual(["account", "ended"]);
  expect(wordsOf(ended.body)).toContain("That session has ended.");
  expect(ended.body).not.toContain("account-session-2");
  expect((await first.open(firstPage.url)).page).toBe("login");
  const [session] = await idp.call("sessions.list", { user });
  expect((await stranger.press(strangersPage, "account-signout", { csrf: "guessed" })).status).toBe(403);
  const forged = await stranger.open("/account/end-session", {
    method: "POST",
    body: new URLSearchParams({ csrf: formsOf(strangersPage.body)[0]?.fields[0]?.[1] ?? "", sid: session?.id ?? "" }),
  });
  expect([forged.page, forged.state]).toEqual(["account", "ended"]);
  expect((await second.open("/account")).page).toBe("account");
});

test("says to the hour when each app last received a token, and UserInfo writes nothing", async () => {
  const clock = testClock();
  const data = newFolder();
  const idp = await serve({ now: clock.now, data });
  const app = await register(idp, { client_id: "shop", client_name: "The Shop" });
  const { browser, code } = await app.signIn();
  const usedAt = async (): Promise<string | undefined> =>
    /Last used<\/dt>\s*<dd><time datetime="([^"]+)"/.exec((await browser.open("/account")).body)?.[1];
  expect(await usedAt()).toBe("2026-01-15T12:00:00.000Z");
  clock.pass(30);
  const { access_token: token, refresh_token } = (await app.exchange(code)).json;
  expect(await usedAt()).toBe("2026-01-15T12:00:00.000Z");
  clock.pass(600);
  const written = () => readdirSync(data).map((name) => statSync(join(data, name)).size);
  const before = written();
  expect((await userinfo(idp, token)).status).toBe(200);
  expect(await usedAt()).toBe("2026-01-15T12:00:00.000Z");
  expect(written()).toEqual(before);
  // A grant that is changed is still of that app.
  await idp.call("grants.edit", {
    id: (await idp.call("grants.list", { client: "shop" }))[0]?.id ?? "",
    scope: "openid email",
  });
  expect(await usedAt()).toBe("2026-01-15T12:00:00.000Z");
  await idp.call("seed", { grants: [{ user: "alice", client: "shop", scope: "openid" }] });
  expect(await usedAt()).toBe("2026-01-15T12:00:00.000Z");
  clock.pass(7200);
  expect((await app.refresh(refresh_token)).status).toBe(200);
  await idp.close();
  const again = await serve({ now: clock.now, data });
  const account = await again.call("grants.list", { user: "alice", client: "shop" });
  expect(account).toHaveLength(1);
  const [, page] = await signedIn(again, "alice");
  expect(page.body).toContain('<time datetime="2026-01-15T14:10:30.000Z">');
  await idp.close();
});

test("a user who is suspended while signed in can still sign out: the session does not come back", async () => {
  const idp = await serve();
  const user = await enroll(idp);
  const [browser, page] = await signedIn(idp, user);
  await idp.call("users.suspend", { username: user });
  await browser.press(page, "account-signout");
  await idp.call("users.restore", { username: user });
  expect(await idp.call("sessions.list", { user })).toEqual([]);
});

test("a user who is suspended while signed in sees why the account page asks to sign in", async () => {
  const idp = await serve();
  const user = await enroll(idp);
  const [browser] = await signedIn(idp, user);
  await idp.call("users.suspend", { username: user });
  const login = await browser.open("/account");
  expect([login.status, login.page, login.state]).toEqual([200, "login", "default"]);
  expect(wordsOf(login.body)).toContain(`The account “${user}” is suspended`);
  expect(login.body).toContain(`>idp users restore ${user}</code>`);
});

test("the notice of a removed app disappears once it is connected again", async () => {
  const idp = await serve();
  const app = await register(idp, { client_id: "shop", client_name: "The Shop" });
  const { browser } = await app.signIn();
  const removed = await browser.press(await browser.open("/account/apps/shop/remove"), "account-revoke-confirm");
  expect(wordsOf(removed.body)).toMatch(/The Shop\s+can no longer use your account\./);
  await app.signIn({ browser });
  expect(wordsOf((await browser.open(removed.url)).body)).not.toContain("can no longer use your account");
});

test("an app that was removed elsewhere is reported as gone", async () => {
  const idp = await serve();
  const app = await register(idp, { client_id: "shop", client_name: "The Shop" });
  const { browser } = await app.signIn();
  const page = await browser.open("/account/apps/shop/remove");
  await idp.revoke({ user: "alice", client: "shop" });
  const gone = await browser.press(page, "account-revoke-confirm");
  expect([gone.page, gone.state]).toEqual(["account", "gone"]);
  expect(wordsOf(gone.body).replace(/\s+/g, " ")).toContain("The Shop already had no access.");
});

test("after a sign-out that an app asked for, the page leads back to the address it registered for that", async () => {
  const idp = await serve();
  const [browser] = await signedIn(idp, "alice");
  const asks = await browser.open("/api/v2/oauth/logout?client_id=demo-app");
  expect(asks.page).toBe("logout");
  const out = await browser.press(asks, "logout-confirm");
  expect([out.page, out.state]).toEqual(["signed-out", "done"]);
  expect(hooked(out.body, "signedout-return").attributes["href"]).toBe("http://localhost:3000/");
});
