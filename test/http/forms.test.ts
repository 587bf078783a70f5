import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { pick } from "../helpers/client.ts";

/** Forms of our own pages: csrf value, origin, and the browser they were shown in. */

const idp = await serve();

/** A page with a form, and what sends it. */
interface Shown {
  readonly browser: Browser;
  readonly visit: Visit;
  readonly button: string;
  readonly change?: Record<string, string>;
}
async function loginPage(): Promise<Shown> {
  const browser = new Browser(idp.issuer);
  return { browser, visit: await browser.open((await register(idp)).url()), button: "login-as-alice" };
}
async function signedIn(): Promise<Browser> {
  const { browser, visit } = await loginPage();
  await pick(browser, visit, "alice");
  return browser;
}
async function consentPage(): Promise<Shown> {
  const browser = await signedIn();
  return { browser, visit: await browser.open((await register(idp)).url()), button: "consent-allow" };
}
async function accountPage(): Promise<Shown> {
  const browser = await signedIn();
  return { browser, visit: await browser.open("/account"), button: "account-signout" };
}
async function removePage(): Promise<Shown> {
  const app = await register(idp);
  const { browser } = await app.signIn();
  const visit = await browser.open(`/account/apps/${app.credentials.client_id}/remove`);
  return { browser, visit, button: "account-revoke-confirm" };
}
async function logoutPage(): Promise<Shown> {
  const browser = await signedIn();
  return { browser, visit: await browser.open("/api/v2/oauth/logout"), button: "logout-confirm" };
}
async function devicePage(): Promise<Shown> {
  const app = await register(idp, { grant_types: ["urn:ietf:params:oauth:grant-type:device_code"], redirect_uris: [] });
  const { client_id, client_secret } = app.credentials;
  const body = new URLSearchParams({ client_id, client_secret: client_secret ?? "" });
  const response = await fetch(`${idp.issuer}/api/v2/oauth/device_authorization`, { method: "POST", body });
  const { user_code: code } = (await response.json()) as { user_code: string };
  const browser = await signedIn();
  return { browser, visit: await browser.open(`/device?user_code=${code}`), button: "device-allow" };
}

describe.each<[name: string, show: () => Promise<Shown>]>([
  ["login", loginPage],
  ["consent", consentPage],
  ["account: sign out", accountPage],
  ["account: remove an app", removePage],
  ["logout", logoutPage],
  ["device", devicePage],
])("%s", (_name, show) => {
  /** Sends the form with other headers or fields. */
  const press = ({ browser, visit, button }: Shown, headers: Record<string, string>, change = {}): Promise<Visit> =>
    browser.press(visit, button, change, headers);
  const isRefused = (visit: Visit) => {
    expect([visit.status, visit.page, visit.left]).toEqual([403, "error", null]);
    expect(visit.body).toContain("the form did not come from this server");
  };

  test("passes from its own page", async () => {
    const shown = await show();
    expect((await press(shown, {})).status).toBeLessThan(400);
  });

  test.each([
    ["a foreign site", { origin: "https://evil.test" }],
    ["another port of localhost, which is the same site", { origin: "http://localhost:1" }],
    ["another scheme", { origin: "https://localhost" }],
    ["an opaque origin", { origin: "null" }],
    ["an opaque origin of another site", { origin: "null", "sec-fetch-site": "cross-site" }],
    ["an opaque origin of the same site", { origin: "null", "sec-fetch-site": "same-site" }],
    ["an empty origin", { origin: "" }],
  ])("is refused from %s, and does nothing", async (_case, headers: Record<string, string>) => {
    const shown = await show();
    isRefused(await press(shown, headers));
    expect((await press(shown, {})).status).toBeLessThan(400);
  });

  test("Origin: null passes with Sec-Fetch-Site: same-origin", async () => {
    const shown = await show();
    expect((await press(shown, { origin: "null", "sec-fetch-site": "same-origin" })).status).toBeLessThan(400);
  });

  test("without any Origin, as from curl, the csrf value decides", async () => {
    const { browser, visit, button } = await show();
    const form = formsOf(visit.body).find(({ buttons }) => buttons.some(({ id }) => id === button));
    const pressed = form?.buttons.find(({ id }) => id === button);
    const send = (csrf: string) => {
      const body = new URLSearchParams((form?.fields ?? []).map(([name, value]) => [name, value]));
      body.set("csrf", csrf);
      if (pressed?.name != null) body.set(pressed.name, pressed.value);
      return browser.open(form?.action ?? "", { method: "POST", body });
    };
    isRefused(await send("wrong"));
    const right = form?.fields.find(([name]) => name === "csrf")?.[1] ?? "";
    expect((await send(right)).status).toBeLessThan(400);
  });

  test.each([
    ["a wrong csrf value", { csrf: "wrong" }],
    ["no csrf value", { csrf: null }],
    ["an empty csrf value", { csrf: "" }],
  ])("is refused with %s, and does nothing", async (_case, change) => {
    const shown = await show();
    isRefused(await press(shown, {}, change));
    expect((await press(shown, {})).status).toBeLessThan(400);
  });

  test("csrf sent twice is refused", async () => {
    const shown = await show();
    const right =
      formsOf(shown.visit.body)
        .flatMap(({ fields }) => fields)
        .find(([name]) => name === "csrf")?.[1] ?? "";
    expect((await press(shown, {}, { csrf: [right, right] })).status).toBe(400);
  });

  test("the csrf value of another such page is refused", async () => {
    const [shown, other] = [await show(), await show()];
    const foreign =
      formsOf(other.visit.body)
        .flatMap(({ fields }) => fields)
        .find(([name]) => name === "csrf")?.[1] ?? "";
    isRefused(await press(shown, {}, { csrf: foreign }));
  });
});

describe("an interaction belongs to the browser in which it began", () => {
  test.each([
    ["login", loginPage],
    ["consent", consentPage],
  ])("%s: another browser gets an error, and nothing happens", async (_name, show) => {
    const { visit, button, browser } = await show();
    const stranger = new Browser(idp.issuer);
    const seen = await stranger.open(visit.url);
    expect([seen.status, seen.state]).toEqual([400, "no-cookie"]);
    const pressed = await stranger.press(visit, button);
    expect([pressed.status, pressed.state, pressed.left]).toEqual([400, "no-cookie", null]);
    expect((await browser.press(visit, button)).status).toBeLessThan(400);
  });

  test("a signed-in user of another browser cannot be made to consent to it", async () => {
    const { visit } = await consentPage();
    const victim = await signedIn();
    expect((await victim.open(visit.url)).state).toBe("no-cookie");
  });

  test.each(["login", "consent"])("an unknown uid: the page says that it is over (%s)", async (step) => {
    const visit = await new Browser(idp.issuer).open(`/interaction/made-up/${step}`);
    expect([visit.status, visit.page]).toEqual([404, step]);
  });
});

test("a decision that is neither allow nor deny: 400, and the page can still be answered", async () => {
  const { browser, visit, button } = await consentPage();
  const form = formsOf(visit.body).find(({ buttons }) => buttons.some(({ id }) => id === button));
  const csrf = form?.fields.find(([name]) => name === "csrf")?.[1] ?? "";
  for (const decision of ["maybe", ""]) {
    const body = new URLSearchParams({ csrf, decision });
    expect((await browser.open(form?.action ?? "", { method: "POST", body })).status).toBe(400);
  }
  expect((await browser.press(visit, button)).left).not.toBeNull();
});

test("a refused form has a button that leads to its page", async () => {
  const { browser, visit, button } = await accountPage();
  const refused = await browser.press(visit, button, { csrf: "wrong" });
  const href = /id="error-reload"[^>]* href="([^"]+)"/.exec(refused.body)?.[1] ?? "";
  expect(await browser.open(href)).toMatchObject({ status: 200, page: "account" });
});
