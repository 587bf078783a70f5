import { describe, expect, test } from "vitest";
import { renderEnded } from "../../src/http/pages/pages.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import type { EndedView } from "../../src/http/pages/error-views.ts";
import { endedViews } from "../helpers/views/login.ts";
import { register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, pick } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { csrfOf } from "../helpers/inspector.ts";
import { hooked, wordsOf } from "../helpers/html.ts";

const renderer = createRenderer();

const ended = (view: Pick<EndedView, "step" | "state"> & Partial<EndedView>): string =>
  renderEnded(renderer, { ...endedViews["login-expired-unknown"], ...view }).html;

const demoApp = { id: "demo-app", name: "Demo App" };

test("leads back to the app if it is known", () => {
  const href = "http://localhost:3000/";
  const html = ended({ step: "login", state: "expired", client: demoApp, href });
  expect(hooked(html, "login-again").attributes["href"]).toBe(href);
  expect(html).toContain("Start again from Demo App");
});

test("names the app if its address is unknown", () => {
  const html = ended({ step: "consent", state: "expired", client: demoApp });
  expect(wordsOf(html).replace(/\s+/g, " ")).toContain("Return to Demo App and start again.");
  expect(html).not.toContain("consent-again");
});

test("names localhost and 127.0.0.1 as the likely cause of a missing cookie, and leads to the right address", () => {
  const href = "http://localhost:4370/interaction/f7Q2/login";
  const html = ended({ step: "login", state: "no-cookie", href });
  expect(wordsOf(html)).toMatch(/“localhost” and “127\.0\.0\.1” are two different sites/);
  expect(hooked(html, "login-again").attributes["href"]).toBe(href);
});

test("does not send a user back who has already answered", () => {
  const html = ended({ step: "consent", state: "finished" });
  expect(html).toContain("You already answered");
  expect(html).not.toContain("start again");
  expect(html).not.toContain("Error:");
});

test("a sign-in that is over leads back to its app: canceled, answered, or left too long", async () => {
  const clock = testClock();
  const idp = await serve({ now: clock.now });
  const browser = new Browser(idp.issuer);
  const first = await browser.open(authorizeUrl(idp));
  await browser.press(first, "login-cancel");
  const canceled = await browser.open(first.url);
  expect([canceled.status, canceled.page, canceled.state]).toEqual([404, "login", "expired"]);
  expect((await browser.request(first.url, { method: "HEAD" })).status).toBe(404);
  expect(hooked(canceled.body, "login-again").attributes["href"]).toBe("http://localhost:3000/");

  const consent = await browser.press(await browser.open(authorizeUrl(idp)), "login-as-alice");
  await browser.press(consent, "consent-allow");
  const twice = await browser.press(consent, "consent-allow");
  expect([twice.status, twice.page, twice.state, twice.left]).toEqual([400, "consent", "finished", null]);
  expect(wordsOf(twice.body)).toContain("Go to Demo App");

  const left = await browser.open(authorizeUrl(idp, { prompt: "login" }));
  clock.pass(3601);
  const late = await browser.open(left.url);
  expect([late.status, late.page, late.state]).toEqual([404, "login", "expired"]);
  expect(wordsOf(late.body)).toContain("Start again from Demo App");
});

test("a decision on an unknown request, as after a restart, is not called answered", async () => {
  const idp = await serve();
  const browser = new Browser(idp.issuer);
  const body = new URLSearchParams({ csrf: "x", decision: "allow" });
  const page = await browser.open(`${idp.issuer}/interaction/AAAAAAAAAAAAAAAAAAAAAA/consent`, { method: "POST", body });
  expect([page.status, page.page, page.state]).toEqual([400, "consent", "expired"]);
  expect(wordsOf(page.body)).toContain("Nothing was shared.");
});

test("leads to where the app says that sign-ins begin, with the issuer", async () => {
  const idp = await serve();
  const app = await register(idp, { initiate_login_uri: "https://app.example.test/login?from=idp" });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url());
  await browser.press(login, "login-cancel");
  const over = await browser.open(login.url);
  const href = `https://app.example.test/login?from=idp&iss=${encodeURIComponent(idp.issuer)}`;
  expect(hooked(over.body, "login-again").attributes["href"]).toBe(href);
});

describe.each([
  ["suspended", "users.suspend", "Your account is suspended"],
  ["banned", "users.ban", "Your account is banned"],
] as const)("a user who is %s meanwhile sees that on the page, and nothing is shared", (state, change, says) => {
  const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  type Act = (browser: Browser, visit: Visit) => Promise<Visit>;
  const reload: Act = (browser, { url }) => browser.open(url);
  const typed: Act = (browser, visit) => browser.press(visit, "factor-submit", { otp: "123456" });
  const button: Act = (browser, visit) => browser.press(visit, "factor-passkey-button");
  const passkey: Act = (browser, { url, body }) =>
    browser.open(url, {
      method: "POST",
      headers: { origin: new URL(url).origin },
      body: new URLSearchParams({ csrf: csrfOf({ body }), passkey: '{"id":"a"}' }),
    });

  test.each<readonly [what: string, page: "consent" | "factor", acr: string | null, act: Act]>([
    ["the consent page, loaded again", "consent", null, reload],
    ["the consent page, allowed", "consent", null, (browser, visit) => browser.press(visit, "consent-allow")],
    ["the page for a code, loaded again", "factor", "urn:otp", reload],
    ["a code", "factor", "urn:otp", typed],
    ["the page for a passkey, loaded again", "factor", "phr", reload],
    ["the button in place of a passkey", "factor", "phr", button],
    ["a passkey", "factor", "phr", passkey],
  ])("%s", async (_what, page, acr, act) => {
    const idp = await serve();
    const users = [{ username: "otto", factors: ["otp", "passkey"] as const, otp_secret: secret }];
    await idp.call("seed", { users, settings: { acr: { "urn:otp": ["otp"], phr: ["passkey"] } } });
    const browser = new Browser(idp.issuer);
    const login = await browser.open(authorizeUrl(idp, { acr_values: acr }));
    const before = await pick(browser, login, "otto");
    expect(before.page).toBe(page);
    await idp.call(change, { username: "otto" });
    const told = await act(browser, before);
    expect([told.status, told.page, told.state]).toEqual([403, page, state]);
    expect(wordsOf(told.body)).toContain(says);
    expect(wordsOf(told.body)).toContain("idp users restore otto");
    expect(wordsOf(told.body)).not.toMatch(/suspended or banned/);
    const data = await browser.request(before.url, { headers: { accept: "application/json" } });
    expect(data.status).toBe(403);
    expect(await data.json()).toMatchObject({ state, error_description: `the account was ${state} meanwhile` });
    expect(await idp.call("grants.list", { user: "otto" })).toEqual([]);
  });
});
