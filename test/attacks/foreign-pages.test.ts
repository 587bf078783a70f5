import { describe, expect, test } from "vitest";
import { enroll, register } from "../helpers/app.ts";
import { foreignOrigins, underAttack } from "../helpers/attack.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, paths, pick, userinfo } from "../helpers/client.ts";

/** What a page of another origin can do to a person who is signed in here, and a person to another one. */

const idp = await underAttack();
const app = await register(idp);

/** A browser on the consent page. */
async function atConsent(user: string, parameters = {}): Promise<{ browser: Browser; page: Visit }> {
  const browser = new Browser(idp.issuer);
  const page = await pick(browser, await browser.open(app.url(parameters)), user);
  expect(page.page).toBe("consent");
  return { browser, page };
}

describe("a form that a foreign page sends is refused, with the right csrf value too", () => {
  test.each(foreignOrigins(idp))("%s", async (origin) => {
    const user = await enroll(idp);
    const fresh = new Browser(idp.issuer);
    const login = await fresh.open(app.url());
    expect((await pick(new Browser(idp.issuer), login, user)).status).toBe(400);
    expect((await fresh.press(login, "login-as-alice", {}, { origin })).status).toBe(403);
    const { browser, page } = await atConsent(user);
    expect((await browser.press(page, "consent-allow", {}, { origin })).status).toBe(403);
    const account = await browser.open("/account");
    expect((await browser.press(account, "account-signout", {}, { origin })).status).toBe(403);
    expect((await browser.open("/account")).page).toBe("account");
    expect((await browser.press(page, "consent-allow")).left?.searchParams.has("code")).toBe(true);
  });

  test.each(["", "x", "__proto__"])("and one of ours with the csrf value %j", async (csrf) => {
    const { browser, page } = await atConsent(await enroll(idp));
    expect((await browser.press(page, "consent-allow", { csrf })).status).toBe(403);
    expect((await browser.press(page, "consent-allow", { csrf: null })).status).toBe(403);
  });
});

describe("loads of a foreign page do nothing for the user who is signed in", () => {
  const parts = [
    ["an image of another localhost port", { "sec-fetch-site": "same-site", "sec-fetch-dest": "image" }],
    ["a frame", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" }],
    ["a script's request", { "sec-fetch-site": "same-site", "sec-fetch-dest": "empty" }],
  ] as const;

  test.each(parts)("%s does not count as a guess of a device code", async (_what, headers) => {
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open("/account"), await enroll(idp));
    const load = () => browser.open("/device?user_code=BBBB-BBBB", { headers });
    const loads = await Promise.all(Array.from({ length: 60 }, load));
    expect(new Set(loads.map(({ state }) => state))).toEqual(new Set(["enter"]));
    // Followed as a link, the code is checked, and guesses are left for it.
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" };
    expect((await browser.open("/device?user_code=BBBB-BBBB", { headers: link })).state).toBe("invalid");
  });

  test.each(parts)("%s changes neither language nor theme", async (_what, headers) => {
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open("/account"), await enroll(idp));
    const before = [...browser.cookies];
    await browser.open("/account?lang=tr&theme=dark", { headers });
    expect([...browser.cookies]).toEqual(before);
  });
});

test("a consent page is refused in another user's browser, and after another user signed in", async () => {
  const [mine, theirs] = [await enroll(idp), await enroll(idp)];
  const victim = await atConsent(mine);
  const attacker = await atConsent(theirs);
  expect((await attacker.browser.press(victim.page, "consent-allow")).status).toBe(400);
  expect((await victim.browser.press(attacker.page, "consent-allow")).status).toBe(400);
  // The same interaction, by now of another user.
  const again = await pick(victim.browser, await victim.browser.open(app.url({ prompt: "login" })), theirs);
  expect(again.page).toBe("consent");
  expect((await victim.browser.press(victim.page, "consent-allow")).status).toBe(403);
});

test("scopes that were not asked for cannot be ticked, and a decision is taken once", async () => {
  const { browser, page } = await atConsent(await enroll(idp), { scope: "openid profile" });
  const scope = ["openid", "email", "phone", "admin", "__proto__"];
  const { left } = await browser.press(page, "consent-allow", { scope });
  const { json } = await app.exchange(left?.searchParams.get("code") ?? "");
  expect(json.scope).toBe("openid");
  expect((await browser.press(page, "consent-allow", { scope })).left).toBeNull();
  expect((await browser.press(page, "consent-deny")).left).toBeNull();
  const { user } = (await userinfo(idp, json.access_token)).json as { user?: object };
  expect(user).not.toHaveProperty("email");
});

test("a planted session cookie is replaced at sign-in", async () => {
  const { browser: attacker } = await app.signIn({ user: await enroll(idp) });
  const name = `idp_${idp.port}_session`;
  const planted = attacker.cookies.get(name) ?? "";
  const victim = new Browser(idp.issuer);
  const login = await victim.open(app.url());
  const form = formsOf(login.body).find(({ fields }) => fields.some(([, value]) => value === "alice"));
  const cookies = [...victim.cookies, [name, planted]].map((pair) => pair.join("=")).join("; ");
  const answer = await fetch(new URL(form?.action ?? "", idp.issuer), {
    method: "POST",
    redirect: "manual",
    headers: { cookie: cookies, origin: new URL(idp.issuer).origin },
    body: new URLSearchParams(form?.fields.map(([field, value]) => [field, value])),
  });
  const set = answer.headers.getSetCookie().find((line) => line.startsWith(name)) ?? "";
  expect(set).toMatch(/HttpOnly.*SameSite=Lax/);
  expect(set).not.toContain(planted);
  expect((await attacker.open("/account")).page).toBe("login");
});

test("an origin that is not registered cannot read the API: no CORS", async () => {
  for (const origin of ["https://evil.test", "null", "http://localhost:3000.evil.test", "com.example.app:"]) {
    for (const path of [paths.token, paths.userinfo, paths.revoke]) {
      const { headers } = await fetch(idp.issuer + path, { method: "POST", headers: { origin } });
      expect([path, origin, headers.get("access-control-allow-origin")]).toEqual([path, origin, null]);
    }
  }
  const { headers } = await fetch(idp.issuer + paths.authorize, { headers: { origin: "http://localhost:3000" } });
  expect(headers.get("access-control-allow-origin")).toBeNull();
});

test("a form of another origin that is too long to come again as GET: no cookie is set or taken away", async () => {
  const long = "x".repeat(12_500);
  const { searchParams } = new URL(authorizeUrl(idp, { login_hint: long }));
  for (const [path, parameters] of [
    ["/api/v2/oauth/logout", new URLSearchParams({ state: long })],
    [paths.authorize, searchParams],
  ] as const) {
    const headers = { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.test" };
    const body = parameters.toString();
    const answer = await fetch(idp.issuer + path, { method: "POST", redirect: "manual", headers, body });
    expect([answer.status, answer.headers.getSetCookie()], path).toEqual([400, []]);
    expect(await answer.text(), path).toContain("too long to be repeated as GET");
  }
});
