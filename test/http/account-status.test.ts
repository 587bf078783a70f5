import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser, formsOf } from "../helpers/browser.ts";
import { pick, userinfo } from "../helpers/client.ts";

/** Suspended and banned users, at every point. Suspension is reversible, a ban is for good. */

const idp = await serve({ settings: { code_ttl: 600 } });
const app = await register(idp);

const suspend = (username: string) => idp.call("users.suspend", { username });
const ban = (username: string) => idp.call("users.ban", { username });
const restore = (username: string) => idp.call("users.restore", { username });

const statuses = [
  ["suspended", suspend, "account_suspended"],
  ["banned", ban, "account_banned"],
] as const;

describe.each(statuses)("a %s user", (status, bar, error) => {
  const message = `The user's account is ${status}`;

  test("UserInfo: 403 at once, saying which it is", async () => {
    const user = await enroll(idp);
    const { access_token: token } = await app.tokens({ user });
    await bar(user);
    const answer = await userinfo(idp, token);
    expect(answer.status).toBe(403);
    expect(answer.json).toEqual({ error, error_description: message, message });
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer .*error="invalid_token"/);
  });

  test("the token endpoint: neither a code nor a refresh token passes, and the answer says why", async () => {
    const user = await enroll(idp);
    const { browser, code } = await app.signIn({ user });
    const { refresh_token: token } = (await app.exchange(code)).json;
    const { code: unused } = await app.signIn({ user, browser });
    await bar(user);
    for (const { status: answered, json } of [await app.exchange(unused), await app.refresh(token)]) {
      expect([answered, json.error]).toEqual([400, "invalid_grant"]);
      expect(json.error_description).toContain(message);
    }
  });

  test("a session counts as signed out: login page, and login_required with prompt=none", async () => {
    const user = await enroll(idp);
    const { browser } = await app.signIn({ user });
    await bar(user);
    expect((await browser.open(app.url())).page).toBe("login");
    expect((await browser.open(app.url({ prompt: "none" }))).left?.searchParams.get("error")).toBe("login_required");
    expect((await browser.open("/account")).page).toBe("login");
  });

  test("cannot sign in, by picker or password, and the page says which it is; another user can go on", async () => {
    const user = await enroll(idp, { password: "right" });
    await bar(user);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url());
    const picked = await pick(browser, login, user);
    const typed = await browser.press(login, "login-submit", { username: user, password: "right" });
    for (const page of [picked, typed]) {
      expect([page.status, page.page, page.state]).toEqual([403, "login", `error-${status}`]);
      expect(page.body).toContain(`idp users restore ${user}`);
    }
    expect((await pick(browser, picked, "bob")).page).toBe("consent");
  });

  test("a sign-in by e-mail address shows the command for the user name, quoted or not", async () => {
    const user = await enroll(idp, {
      password: "right",
      email: `x\`touch pwned\`.${status}@example.com`.replace(" ", ""),
    });
    await bar(user);
    const browser = new Browser(idp.issuer);
    const email = (await idp.call("users.show", { username: user })).email;
    const page = await browser.press(await browser.open(app.url()), "login-submit", {
      username: email,
      password: "right",
    });
    expect([page.status, page.state]).toEqual([403, `error-${status}`]);
    expect(page.body).toContain(`>idp users restore ${user}</code>`);
  });

  test("with a wrong password the page does not show the status of the account", async () => {
    const user = await enroll(idp, { password: "right" });
    await bar(user);
    const browser = new Browser(idp.issuer);
    const page = await browser.press(await browser.open(app.url()), "login-submit", {
      username: user,
      password: "wrong",
    });
    expect([page.status, page.state]).toEqual([401, "error-credentials"]);
  });

  test("is in the picker, with the status in words", async () => {
    const { body } = await new Browser(idp.issuer).open(app.url());
    const name = status === "suspended" ? "carol" : "dave";
    expect(body.slice(body.indexOf(`login-as-${name}`))).toMatch(new RegExp(`^[^]*?class="status badge">${status}<`));
  });

  test("barred between the pages: the consent cannot be given", async () => {
    const user = await enroll(idp);
    const own = await register(idp);
    const browser = new Browser(idp.issuer);
    const consent = await pick(browser, await browser.open(own.url()), user);
    await bar(user);
    expect((await browser.press(consent, "consent-allow")).left).toBeNull();
    expect(await idp.call("grants.list", { client: own.credentials.client_id })).toEqual([]);
  });

  test("the operator cannot issue them tokens either", async () => {
    const user = await enroll(idp);
    await bar(user);
    const input = { user, client: app.credentials.client_id };
    const issued = [() => idp.issueTokens(input), () => idp.issueGrant(input), () => idp.issueCode(input)];
    for (const issue of issued) {
      await expect(issue()).rejects.toMatchObject({
        code: "refused",
        message: expect.stringContaining(status) as string,
        hint: { text: "To restore", command: ["idp", "users", "restore", user] },
      });
    }
  });
});

describe("suspension is reversible", () => {
  test("after restore unexpired tokens, refresh tokens, unused codes and the session work again", async () => {
    const user = await enroll(idp);
    const { browser, code } = await app.signIn({ user });
    const tokens = (await app.exchange(code)).json;
    const { code: unused } = await app.signIn({ user, browser });
    await suspend(user);
    expect((await app.exchange(unused)).status).toBe(400);
    await restore(user);
    expect((await userinfo(idp, tokens.access_token)).status).toBe(200);
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
    expect((await app.exchange(unused)).status).toBe(200);
    expect((await browser.open(app.url())).left?.searchParams.has("code")).toBe(true);
  });
});

describe("a ban is for good", () => {
  test("it ends sessions and revokes grants; after restore the old tokens are dead, and consent is asked", async () => {
    const user = await enroll(idp);
    const { browser, code } = await app.signIn({ user });
    const tokens = (await app.exchange(code)).json;
    expect(await ban(user)).toMatchObject({
      status: "banned",
      previousStatus: "active",
      sessionsEnded: 1,
      grantsRevoked: 1,
    });
    await restore(user);
    expect((await userinfo(idp, tokens.access_token)).json.error).toBe("access_revoked");
    expect((await app.refresh(tokens.refresh_token)).json.error).toBe("invalid_grant");
    const login = await browser.open(app.url());
    expect(login.page).toBe("login");
    expect((await pick(browser, login, user)).page).toBe("consent");
  });

  test("it cannot be lightened to a suspension", async () => {
    const user = await enroll(idp);
    await ban(user);
    await expect(suspend(user)).rejects.toMatchObject({ code: "conflict" });
  });
});

test("the form of the picker signs in nobody where the picker is off", async () => {
  const strict = await serve({ settings: { login: "password" } });
  const browser = new Browser(strict.issuer);
  const own = await register(strict);
  const login = await browser.open(own.url());
  expect(formsOf(login.body).flatMap(({ fields }) => fields.map(([name]) => name))).not.toContain("pick");
  const forced = await browser.press(login, "login-submit", { username: "alice", password: "", pick: "1" });
  expect([forced.status, forced.state]).toEqual([401, "error-credentials"]);
  expect((await browser.press(forced, "login-submit", { username: "alice", password: "alice" })).page).toBe("consent");
});
