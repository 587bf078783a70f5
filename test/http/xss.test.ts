import { expect, test } from "vitest";
import { register, serve, type App } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { pick } from "../helpers/client.ts";
import { elementsOf, unescapeHtml } from "../helpers/html.ts";

/** Values of clients, users and requests are shown as text on every page of a running server. */

const payload = `"'><img src=x onerror=alert(1)><script>alert(1)</script><%= 7 %><%~ it %>`;

const idp = await serve({
  fixtures: {
    users: [
      {
        username: "alice",
        displayName: `Alice ${payload}`,
        about: payload,
        location: payload,
        claims: { roles: [payload] },
      },
    ],
    scopes: { orders: { description: { en: `Orders ${payload}` }, claims: ["roles"] } },
  },
});
const app: App = await register(idp, { client_id: "shop", client_name: `Shop ${payload}` });

/** The page is built of our own elements only, none of them with a handler, and says what it was given. */
function isHarmless(visit: Visit, says: readonly string[] = [payload]): void {
  const elements = elementsOf(visit.body);
  expect(elements.filter(({ tag }) => tag === "img" || tag === "iframe")).toEqual([]);
  const hasScript = visit.page === "form-post" || / data-(?:options|copy)="/.test(visit.body);
  expect(elements.filter(({ tag }) => tag === "script").length).toBe(hasScript ? 1 : 0);
  const names = elements.flatMap(({ attributes }) => Object.keys(attributes));
  expect(names.filter((name) => name.startsWith("on") || name === "style")).toEqual([]);
  for (const text of says) expect(unescapeHtml(visit.body)).toContain(text);
}

/** Of a request, only short values are shown. */
const short = `"'><b id=x>`;

const everything = {
  state: `state ${payload}`,
  nonce: short,
  login_hint: short,
  acr_values: payload.replaceAll(" ", "_"),
  ui_locales: payload,
  scope: `openid details orders ${short.replaceAll(" ", "_")}`,
};

test("login, its search and its refusals", async () => {
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url(everything));
  isHarmless(login, [`Shop ${payload}`, `Alice ${payload}`, short, short.replaceAll(" ", "_")]);
  isHarmless(await browser.open(`${login.url}?${new URLSearchParams({ q: payload, page: payload }).toString()}`));
  isHarmless(await browser.press(login, "login-submit", { username: payload, password: payload }));
});

test("consent, the account and its questions", async () => {
  const browser = new Browser(idp.issuer);
  const consent = await pick(browser, await browser.open(app.url(everything)), "alice");
  expect(consent.page).toBe("consent");
  isHarmless(consent, [`Shop ${payload}`, `Alice ${payload}`, `Orders ${payload}`, short, short.replaceAll(" ", "_")]);
  await browser.press(consent, "consent-allow");
  isHarmless(await browser.press(consent, "consent-allow"), [`Shop ${payload}`]);
  isHarmless(await browser.open("/account"), [`Shop ${payload}`, `Alice ${payload}`, `Orders ${payload}`]);
  const question = await browser.open("/account/apps/shop/remove");
  isHarmless(question, [`Shop ${payload}`, `Orders ${payload}`]);
  isHarmless(await browser.press(question, "account-revoke-confirm"), [`Shop ${payload}`]);
  isHarmless(await browser.open("/api/v2/oauth/logout?client_id=shop"), [`Shop ${payload}`]);
});

test("the answer by form_post, with a description of what went wrong", async () => {
  const browser = new Browser(idp.issuer);
  const scope = short.replaceAll(" ", "_");
  const refused = await browser.open(app.url({ scope, response_mode: "form_post", state: payload }));
  expect(refused.page).toBe("form-post");
  // A description holds no double quotes (RFC 6749 4.1.2.1).
  isHarmless(refused, [`no scope in '${scope.replaceAll('"', "'")}' is defined here`, payload]);
  const login = await browser.open(app.url({ state: payload, response_mode: "form_post" }));
  const denied = await browser.press(login, "login-cancel");
  expect(denied.page).toBe("form-post");
  isHarmless(denied);
});

test.each([
  ["an unknown client", { client_id: short }],
  ["an address that is not registered", { redirect_uri: `http://localhost:3000/${short.replace(" ", "_")}` }],
  ["an unknown client of a long name", { client_id: payload }],
] as const)("the error page for %s", async (what, change) => {
  const refused = await new Browser(idp.issuer).open(app.url(change));
  expect([refused.status, refused.page]).toEqual([400, "error"]);
  isHarmless(refused, []);
  expect(/<b[ _]id=x>/.test(unescapeHtml(refused.body))).toBe(!what.includes("long"));
  expect(refused.body).not.toContain("onerror=alert(1)");
});

test("a code that somebody types, and a path that is not there", async () => {
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), "alice");
  isHarmless(await browser.open(`/device?${new URLSearchParams({ user_code: payload }).toString()}`));
  isHarmless(
    await browser.open(`/${encodeURIComponent(payload)}?${new URLSearchParams({ [payload]: payload }).toString()}`),
    [],
  );
});
