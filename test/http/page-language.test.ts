import { expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, pick } from "../helpers/client.ts";
import { elementsOf, wordsOf } from "../helpers/html.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";

/** In which language and theme a page is shown: what was asked for, chosen before, or is the user's own. */

const idp = await serve();
const app = await register(idp, { client_name: "Demo" });

const root = (visit: Visit): Readonly<Record<string, string>> => elementsOf(visit.body)[0]?.attributes ?? {};
const shown = (visit: Visit): string => `${root(visit)["lang"] ?? ""} ${root(visit)["data-theme"] ?? ""}`;
const turkish = { headers: { "accept-language": "de-DE, tr-TR;q=0.9, en;q=0.8" } };

test("the browser's first language with texts; English without one", async () => {
  expect(shown(await new Browser(idp.issuer).open(app.url(), turkish))).toBe("en system");
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url());
  expect(shown(await browser.open(login.url, turkish))).toBe("tr system");
  expect(shown(await browser.open(login.url, { headers: { "accept-language": "xx" } }))).toBe("en system");
});

test("text of a fixture in another language than the page's is marked as such", async () => {
  await idp.call("seed", { scopes: { "orders:read": { description: { en: "See your orders" } } } });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url({ ui_locales: "tr", scope: "openid orders:read" }));
  const consent = await pick(browser, login, "alice");
  expect(consent.body).toContain('<span class="scope-title" lang="en">See your orders</span>');
});

test("a right-to-left language sets dir", async () => {
  const arabic = await serve({ templates: templatesFolder({ "locales/ar.json": '{"login.title":"تسجيل الدخول"}' }) });
  const browser = new Browser(arabic.issuer);
  const login = await browser.open("/account");
  expect(root(await browser.open(`${login.url}?lang=ar`))).toMatchObject({ lang: "ar", dir: "rtl" });
  expect(root(await new Browser(idp.issuer).open("/account"))).toMatchObject({ lang: "en", dir: "ltr" });
});

test("ui_locales goes before the browser's language, a choice made before, and the user's own", async () => {
  const user = await enroll(idp, { language: "en" });
  const browser = new Browser(idp.issuer);
  await browser.open("/device?lang=en");
  const login = await browser.open(app.url({ ui_locales: "xx tr-CY" }));
  expect(shown(login)).toBe("tr system");
  expect(wordsOf(login.body)).toContain("Bir test kullanıcısı seçin");
  expect(shown(await pick(browser, login, user))).toBe("tr system");
  const refused = await browser.open(app.url({ ui_locales: "tr", redirect_uri: "http://localhost:1/" }));
  expect(wordsOf(refused.body)).toContain("Hiçbir şey paylaşılmadı.");
});

test("ui_locales of a sign-out hold for the page that asks and the one that follows (RP-Initiated Logout 1.0, 2)", async () => {
  const logout = "/api/v2/oauth/logout?ui_locales=tr";
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), await enroll(idp, { language: "en" }));
  const asked = await browser.open(logout);
  expect([asked.page, shown(asked)]).toEqual(["logout", "tr system"]);
  const out = await browser.press(asked, "logout-confirm");
  expect([out.page, out.state, shown(out)]).toEqual(["signed-out", "done", "tr system"]);
  const already = await browser.open(logout);
  expect([already.page, already.state, shown(already)]).toEqual(["signed-out", "already", "tr system"]);
});

test("the link in the footer goes before everything, for the rest of the sign-in, and is kept for later", async () => {
  const user = await enroll(idp, { language: "en" });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url({ ui_locales: "en" }));
  const link = elementsOf(login.body).find(({ attributes }) => attributes["hreflang"] === "tr");
  const chosen = await browser.open(new URL(link?.attributes["href"] ?? "", login.url).href);
  expect(shown(chosen)).toBe("tr system");
  expect(shown(await pick(browser, chosen, user))).toBe("tr system");
  expect(shown(await browser.open("/account"))).toBe("tr system");
  expect(shown(await browser.open(app.url({ ui_locales: "en" })))).toBe("en system");
});

test("the language and theme in a user's record decide nothing: they are data of a fixture", async () => {
  const user = await enroll(idp, { language: "tr", theme: "dark" });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url());
  expect(shown(login)).toBe("en system");
  expect(shown(await pick(browser, login, user))).toBe("en system");
  const light = await browser.open("/account?theme=light");
  expect(shown(light)).toBe("en light");
  expect(shown(await browser.open("/account"))).toBe("en light");
  expect(shown(await browser.open("/account?theme=system"))).toBe("en system");
});

test("a language or a theme that does not exist changes nothing and is not kept", async () => {
  const browser = new Browser(idp.issuer);
  const visit = await browser.open("/nothing?lang=../../etc&theme=%22%3E");
  expect(shown(visit)).toBe("en system");
  expect(visit.headers.getSetCookie()).toEqual([]);
});

test("the links keep the other parameters of the page, and stay on this server whatever the path", async () => {
  const browser = new Browser(idp.issuer);
  const hrefs = async (path: string): Promise<(string | undefined)[]> =>
    elementsOf((await browser.open(path)).body)
      .filter(({ attributes }) => attributes["hreflang"] !== undefined)
      .map(({ attributes }) => attributes["href"]);
  const { pathname } = new URL((await browser.open(authorizeUrl(idp))).url);
  expect(await hrefs(`${pathname}?q=al&q=b&lang=tr&page=%22%3E`)).toEqual([
    "?q=al&q=b&page=%22%3E&lang=en",
    "?q=al&q=b&page=%22%3E&lang=tr",
  ]);
  expect(await hrefs(`${idp.issuer}//evil.example/`)).toEqual(["?lang=en", "?lang=tr"]);
});

test("a page that answers a form, and has no address of its own, offers no other language or theme; a form that comes back does", async () => {
  const browser = new Browser(idp.issuer);
  const links = (body: string) => elementsOf(body).filter(({ attributes }) => attributes["hreflang"] !== undefined);
  const login = await browser.open("/account");
  const wrong = await browser.press(login, "login-submit", { username: "alice", password: "wrong" });
  expect(links(wrong.body)).toHaveLength(2);
  for (const link of links(wrong.body)) {
    const other = await browser.open(new URL(link.attributes["href"] ?? "", wrong.url).href);
    expect([other.status, other.page]).toEqual([200, "login"]);
  }
  const account = await pick(browser, login, "alice");
  const out = await browser.press(account, "account-signout");
  expect([out.status, links(out.body)]).toEqual([200, []]);
  expect(out.body).not.toContain("<nav");
});

test("discovery lists the languages of the pages, also those that templates add", async () => {
  const german = await serve({ templates: templatesFolder({ "locales/de.json": '{"login.title":"Anmelden"}' }) });
  const languagesOf = async (issuer: string): Promise<unknown> => {
    const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
    return ((await answer.json()) as Record<string, unknown>)["ui_locales_supported"];
  };
  expect(await languagesOf(idp.issuer)).toEqual(["en", "tr"]);
  expect(await languagesOf(german.issuer)).toEqual(["de", "en", "tr"]);
});

test("a client's name in the language of the page is used wherever it is named (RFC 7591 2.2)", async () => {
  const names = { client_name: "Weather", "client_name#tr-TR": "Hava Durumu", "client_name#de": "Wetter" };
  const device = "urn:ietf:params:oauth:grant-type:device_code";
  const named = await register(idp, {
    ...names,
    grant_types: ["authorization_code", "refresh_token", device],
    post_logout_redirect_uris: ["http://localhost:3000/"],
  });
  const user = await enroll(idp);
  const browser = new Browser(idp.issuer);
  const seen = new Map<string, string>();
  const see = (visit: Visit): Visit => {
    seen.set(`${visit.page} ${visit.state}`, wordsOf(visit.body));
    return visit;
  };
  const login = see(await browser.open(named.url({ ui_locales: "tr" })));
  const consent = see(await pick(browser, login, user));
  await browser.press(consent, "consent-allow");
  see(await browser.open(`${consent.url}?lang=tr`));
  see(await browser.open("/account?lang=tr"));
  see(await browser.open(`/account/apps/${named.credentials.client_id}/remove`));
  const begun = await fetch(`${idp.issuer}/api/v2/oauth/device_authorization`, {
    method: "POST",
    body: new URLSearchParams({ ...named.credentials, client_secret: named.credentials.client_secret ?? "" }),
  });
  const { user_code } = (await begun.json()) as Record<string, string>;
  see(await browser.open(`/device?user_code=${user_code}`));
  const logout = see(await browser.open(`/api/v2/oauth/logout?client_id=${named.credentials.client_id}`));
  see(await browser.press(logout, "logout-confirm"));

  expect([...seen.keys()]).toEqual([
    ...["login default", "consent default", "consent finished", "account one", "account revoke"],
    ...["device confirm", "logout default", "signed-out done"],
  ]);
  for (const [page, words] of seen) {
    expect([page, words]).toEqual([page, expect.stringContaining("Hava Durumu")]);
    expect([page, words]).toEqual([page, expect.not.stringMatching(/Weather|Wetter/)]);
  }
  expect(wordsOf((await browser.open(named.url({ ui_locales: "en" }))).body)).toContain("Weather");
});

test("the account page selects what it is shown in, so that saving the theme keeps the language", async () => {
  const user = await enroll(idp, { language: "en", theme: "light" });
  const browser = new Browser(idp.issuer);
  const account = await pick(browser, await browser.open("/account"), user);
  expect(shown(account)).toBe("en system");
  const inTurkish = await browser.open("/account?lang=tr&theme=dark");
  const selected = elementsOf(inTurkish.body).filter(({ attributes }) => Object.hasOwn(attributes, "selected"));
  expect(selected.map(({ attributes }) => attributes["value"])).toEqual(["tr", "dark"]);
  const saved = await browser.press(inTurkish, "account-save", { language: "tr", theme: "system" });
  expect(shown(saved)).toBe("tr system");
});
