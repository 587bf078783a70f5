import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, pick, pkce } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector } from "../helpers/inspector.ts";

/**
 * A refused request: its error page names the commands, and the inspector has the button. test/attacks/inspector.test.ts says who must not
 * have it.
 */

const idp = await serve({ settings: { http_redirect_hosts: ["app.internal"] } });
const browser = new Browser(idp.issuer);
const uri = "http://localhost:3999/cb?t=a&b=c";
const button = /id="(add-redirect-uri|create-client|restore)-/;
const textOf = ({ body }: { readonly body: string }): string => unescapeHtml(body.replace(/<[^>]*>/g, ""));

/** The sign-in that an error page names. */
const flowOn = (page: Visit): string => /idp open (f[a-z]*\d+)/.exec(textOf(page))?.[1] ?? "none";

/** The page of that sign-in in the inspector. */
const inspected = (page: Visit) => openInspector(idp, flowOn(page));

describe("a redirect URI that is not registered", () => {
  test("is added by the button of its sign-in, and the same request passes then", async () => {
    const app = await register(idp);
    const { client_id } = app.credentials;
    const page = await browser.open(app.url({ redirect_uri: uri }));
    expect([page.status, page.state]).toEqual([400, "redirect-uri"]);
    expect(textOf(page)).toContain(`idp clients edit ${client_id} --add-redirect-uri VALUE`);
    expect(textOf(page)).toContain(`VALUE is ${uri}:`);
    expect(page.body).not.toMatch(/<form[^>]*_idp/);
    const { browser: inside, first } = await inspected(page);
    expect([first.state, textOf(first).includes(`VALUE is ${uri}`)]).toEqual(["sign-in", true]);
    const done = await inside.press(first, `add-redirect-uri-${client_id}`);
    expect([done.url.split("?")[0], done.state]).toEqual([first.url, "sign-in"]);
    expect(done.body).toContain('id="inspector-done"');
    expect(done.body).not.toMatch(button);
    const { redirect_uris } = await idp.call("clients.show", { client_id });
    expect(redirect_uris).toEqual(["http://localhost:3000/callback", uri]);
    expect((await browser.open(app.url({ redirect_uri: uri }))).page).toBe("login");
    // In another tab, the button is still there.
    await inside.press(first, `add-redirect-uri-${client_id}`);
    expect((await idp.call("clients.show", { client_id })).redirect_uris).toHaveLength(2);
  });

  test.each([
    ["posted", "http://localhost:3999/posted"],
    ["on a host of http_redirect_hosts", "http://app.internal:8080/cb"],
  ])("%s: the same", async (_name, redirect_uri) => {
    const app = await register(idp);
    const [path = "", query] = app.url({ redirect_uri }).split("?");
    const page = await browser.open(path, { method: "POST", body: new URLSearchParams(query) });
    const { browser: inside, first } = await inspected(page);
    await inside.press(first, `add-redirect-uri-${app.credentials.client_id}`);
    expect((await browser.open(app.url({ redirect_uri }))).page).toBe("login");
  });

  test("of a pushed request: the same", async () => {
    const app = await register(idp);
    const { client_id, client_secret } = app.credentials;
    const body = new URLSearchParams({
      ...{ client_id, client_secret: client_secret ?? "", response_type: "code", scope: "openid" },
      redirect_uri: "http://localhost:3999/pushed",
    });
    expect((await fetch(`${idp.issuer}/api/v2/oauth/par`, { method: "POST", body })).status).toBe(400);
    const [refused] = (await idp.call("requests.list", { endpoint: "par" })).slice(-1);
    const { first } = await openInspector(idp, refused?.flow ?? "");
    expect(first.body).toContain(`id="add-redirect-uri-${client_id}"`);
  });
});

test("an unknown client is created by a click: public, with this redirect URI; a taken id is left unchanged", async () => {
  const { challenge } = pkce();
  const proof = { code_challenge: challenge, code_challenge_method: "S256" };
  const url = authorizeUrl(idp, { client_id: "shop", redirect_uri: uri, ...proof });
  const page = await browser.open(url);
  expect(page.state).toBe("client");
  const { browser: inside, first } = await inspected(page);
  expect(textOf(first)).toContain(`idp clients add shop --public --redirect-uri VALUE`);
  await inside.press(first, "create-client-shop");
  expect(await idp.call("clients.show", { client_id: "shop" })).toMatchObject({ public: true, redirect_uris: [uri] });
  expect((await browser.open(url)).page).toBe("login");
  expect((await inside.press(first, "create-client-shop")).status).toBe(409);
});

describe("a suspended user is restored by the button of the sign-in", () => {
  test("that the login page refused", async () => {
    const user = await enroll(idp, { status: "suspended" });
    const app = await register(idp);
    const own = new Browser(idp.issuer);
    const refused = await pick(own, await own.open(app.url()), user);
    expect([refused.status, refused.state]).toEqual([403, "error-suspended"]);
    expect(textOf(refused)).toContain(`idp users restore ${user}`);
    const { browser: inside, first } = await inspected(refused);
    await inside.press(first, `restore-${user}`);
    expect((await pick(own, refused, user)).page).toBe("consent");
  });

  test("that the consent page ended", async () => {
    const user = await enroll(idp);
    const app = await register(idp);
    const own = new Browser(idp.issuer);
    const consent = await pick(own, await own.open(app.url()), user);
    await idp.call("users.suspend", { username: user });
    const ended = await own.press(consent, "consent-allow");
    expect([ended.page, ended.state]).toEqual(["consent", "suspended"]);
    expect(textOf(ended)).toContain(`idp users restore ${user}`);
    const { browser: inside, first } = await inspected(ended);
    await inside.press(first, `restore-${user}`);
    expect(await idp.call("users.show", { username: user })).toMatchObject({ status: "active" });
  });
});

test("a request that belongs to no sign-in names the inspector alone", async () => {
  for (const path of [
    "/nothing",
    "/api/v2/oauth/logout?client_id=demo-app&post_logout_redirect_uri=http://localhost:1/",
  ]) {
    expect(textOf(await browser.open(path))).toMatch(/idp open\s*$/m);
  }
});

test("the error page as data has the commands too", async () => {
  const user = await enroll(idp, { status: "suspended" });
  const app = await register(idp);
  const own = new Browser(idp.issuer);
  const login = await own.open(app.url());
  const answer = await own.request(login.url, {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams({
      csrf: /name="csrf" value="([^"]+)"/.exec(login.body)?.[1] ?? "",
      pick: "1",
      username: user,
    }),
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    403,
    {
      inspect: expect.stringMatching(/^idp open f[a-z]*\d+$/) as string,
      message: { fix: expect.stringContaining("restore") as string },
    },
  ]);
});
