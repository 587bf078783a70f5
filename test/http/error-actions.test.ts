import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { approve, Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, pick, pkce } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { csrfOf, openInspector } from "../helpers/inspector.ts";

/** The buttons of error pages, for a person who is in the inspector. What must not pass is in test/attacks/error-actions.test.ts. */

const idp = await serve({ settings: { http_redirect_hosts: ["app.internal"] } });
const { browser } = await openInspector(idp);
const uri = "http://localhost:3999/cb?tenant=a&b=%C3%A7";
const button = /id="fix-(add-redirect-uri|create-client|restore)"/;

/** The address that the page shows. */
const shownIn = ({ body }: Visit): string => unescapeHtml(/id="fix-uri"[^>]*>([^<]*)</.exec(body)?.[1] ?? "none");

const queryOf = (visit: Visit): Record<string, string> => Object.fromEntries(new URL(visit.url).searchParams);

describe("a redirect URI that is not registered", () => {
  test("is shown whole, added by a click, and the request goes on to the app", async () => {
    const app = await register(idp);
    const { client_id } = app.credentials;
    const page = await browser.open(app.url({ redirect_uri: uri }));
    expect([page.status, page.state]).toEqual([400, "redirect-uri"]);
    expect(shownIn(page)).toBe(uri);
    const login = await browser.press(page, "fix-add-redirect-uri");
    expect([login.status, login.page]).toEqual([200, "login"]);
    const { redirect_uris } = await idp.call("clients.show", { client_id });
    expect(redirect_uris).toEqual(["http://localhost:3000/callback", uri]);
    const back = (await approve(browser, login)).left;
    expect(back?.href).toMatch(/^http:\/\/localhost:3999\/cb\?tenant=a&b=%C3%A7&code=/);
    expect(back?.searchParams.get("state")).toBe("af0ifjsldkj");
  });

  test("the browser is sent to the same request: our path, the same parameters", async () => {
    const app = await register(idp);
    const page = await browser.open(app.url({ redirect_uri: uri, state: "a b&c=ü", ui_locales: "tr en" }));
    const form = formsOf(page.body)[0];
    const answer = await browser.request(form?.action ?? "", {
      method: "POST",
      headers: { origin: new URL(idp.issuer).origin },
      body: new URLSearchParams((form?.fields ?? []).map(([name, value]) => [name, value])),
    });
    const location = answer.headers.get("location") ?? "";
    expect([answer.status, location.split("?")[0]]).toEqual([303, "/api/v2/oauth/authorize"]);
    expect(Object.fromEntries(new URLSearchParams(location.split("?")[1]))).toEqual(queryOf(page));
  });

  test("on a host of http_redirect_hosts it is offered too", async () => {
    const app = await register(idp);
    const page = await browser.open(app.url({ redirect_uri: "http://app.internal:8080/cb" }));
    const next = await browser.press(page, "fix-add-redirect-uri");
    expect((await approve(browser, next)).left?.host).toBe("app.internal:8080");
  });

  test("of a posted request: the request goes on too", async () => {
    const app = await register(idp);
    const [path = "", query] = app.url({ redirect_uri: uri }).split("?");
    const page = await browser.open(path, { method: "POST", body: new URLSearchParams(query) });
    const next = await browser.press(page, "fix-add-redirect-uri");
    expect([next.status, ["login", "consent"].includes(next.page)]).toEqual([200, true]);
  });

  test("added twice, in two tabs, is registered once", async () => {
    const app = await register(idp);
    const page = await browser.open(app.url({ redirect_uri: uri }));
    await browser.press(page, "fix-add-redirect-uri");
    await browser.press(page, "fix-add-redirect-uri");
    const { redirect_uris } = await idp.call("clients.show", { client_id: app.credentials.client_id });
    expect(redirect_uris).toHaveLength(2);
  });
});

describe("an unknown client", () => {
  test("is created by a click: public, with this redirect URI; its request goes on with PKCE", async () => {
    const { challenge } = pkce();
    const proof = { code_challenge: challenge, code_challenge_method: "S256" };
    const page = await browser.open(authorizeUrl(idp, { client_id: "shop", redirect_uri: uri, ...proof }));
    expect([page.state, shownIn(page)]).toEqual(["client", uri]);
    const next = await browser.press(page, "fix-create-client");
    expect((await approve(browser, next)).left?.searchParams.get("code")).toMatch(/./);
    expect(await idp.call("clients.show", { client_id: "shop" })).toMatchObject({ public: true, redirect_uris: [uri] });
  });

  test("that sends no PKCE is refused, as every public client is", async () => {
    const page = await browser.open(authorizeUrl(idp, { client_id: "shop-2", redirect_uri: uri }));
    const { left } = await browser.press(page, "fix-create-client");
    expect([left?.searchParams.get("error"), left?.searchParams.get("error_description")]).toEqual([
      "invalid_request",
      expect.stringContaining("code_challenge") as string,
    ]);
  });

  test("that was added meanwhile is left unchanged", async () => {
    const page = await browser.open(authorizeUrl(idp, { client_id: "taken", redirect_uri: uri }));
    await register(idp, { client_id: "taken" });
    expect((await browser.press(page, "fix-create-client")).status).toBe(409);
    expect(await idp.call("clients.show", { client_id: "taken" })).toMatchObject({ public: false });
  });
});

describe("a suspended user", () => {
  test("is restored on the login page, and signs in there", async () => {
    const user = await enroll(idp, { status: "suspended" });
    const app = await register(idp);
    const { browser: own } = await openInspector(idp);
    const refused = await pick(own, await own.open(app.url()), user);
    expect([refused.status, refused.state]).toEqual([403, "error-suspended"]);
    const again = await own.press(refused, "fix-restore");
    expect([again.status, again.page, again.state]).toEqual([200, "login", "default"]);
    expect(await idp.call("users.show", { username: user })).toMatchObject({ status: "active" });
    const back = await own.press(await pick(own, again, user), "consent-allow");
    expect(back.left?.searchParams.get("code")).toMatch(/./);
  });

  test("is restored on the consent page, which comes again", async () => {
    const user = await enroll(idp);
    const app = await register(idp);
    const { browser: own } = await openInspector(idp);
    const consent = await pick(own, await own.open(app.url()), user);
    await idp.call("users.suspend", { username: user });
    const ended = await own.press(consent, "consent-allow");
    expect([ended.page, ended.state]).toEqual(["consent", "suspended"]);
    const again = await own.press(ended, "fix-restore");
    expect((await approve(own, again, user)).left?.searchParams.get("code")).toMatch(/./);
  });
});

describe("without the inspector, the page has a command and no button", () => {
  test("redirect URI, client, user", async () => {
    const other = new Browser(idp.issuer);
    const app = await register(idp);
    const user = await enroll(idp, { status: "suspended" });
    const pages = [
      await other.open(app.url({ redirect_uri: uri })),
      await other.open(authorizeUrl(idp, { client_id: "nobody", redirect_uri: uri })),
      await pick(other, await other.open(app.url()), user),
    ];
    for (const { body } of pages) {
      expect(body).not.toMatch(button);
      expect(body).toMatch(/idp (<span[^>]*>)?(clients|users) /);
    }
    expect(pages[0]?.headers.get("referrer-policy")).toBe("no-referrer");
  });
});

test("other refusals have no button: a sign-out, another parameter", async () => {
  const query = new URLSearchParams({ client_id: "demo-app", post_logout_redirect_uri: "http://localhost:3001/" });
  expect((await browser.open(`/api/v2/oauth/logout?${query.toString()}`)).body).not.toMatch(button);
  expect((await browser.open(authorizeUrl(idp, { redirect_uri: null }))).body).not.toMatch(button);
});

test("a page read as data has no form: programs have the command", async () => {
  const user = await enroll(idp, { status: "suspended" });
  const app = await register(idp);
  const { browser: own } = await openInspector(idp);
  const login = await own.open(app.url());
  const answer = await own.request(login.url, {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams({ csrf: csrfOf(login), pick: "1", username: user }),
  });
  const text = await answer.text();
  expect([answer.status, text.includes("fixForm")]).toEqual([403, false]);
  expect(text).toContain(`idp users restore ${user}`);
});
