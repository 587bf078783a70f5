import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { signIn } from "../../src/playwright.ts";
import { sharedChromium } from "../helpers/chromium.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { freePort } from "../helpers/port.ts";
import { startRelyingParty } from "../helpers/relying-party.ts";

/**
 * `dev-idp/playwright`: `signIn` finds its way over the pages, and says where it could not.
 * @module-tag browser
 */

const browser = await sharedChromium();
const app = await startRelyingParty();
/** A redirect URI where nobody listens. */
let nowhere: string;
let idp: Idp;
let passwordOnly: Idp;
let context: BrowserContext;
let page: Page;

const users = [
  { username: "alice", displayName: "Alice Adams", password: "alice-secret" },
  { username: "bob.b+1@example.com" },
  { username: "carol", status: "suspended" },
  { username: "dave", password: "dave-secret", status: "banned" },
  ...Array.from({ length: 60 }, (_, at) => ({ username: `user-${at}` })),
] as const;

beforeAll(async () => {
  app.app.use((req, res) => {
    if (req.path !== "/never") res.send("<!doctype html><title>App</title><h1>Back in the app</h1>");
  });
  nowhere = `http://localhost:${await freePort()}/callback`;
  const redirect_uris = [`${app.url}/callback`, `${app.url}/never`, nowhere];
  const fixtures = {
    users: structuredClone(users) as never,
    clients: [
      { client_id: "app", client_secret: "app-secret", redirect_uris },
      { client_id: "own", client_secret: "own-secret", redirect_uris, skip_consent: true },
    ],
  };
  idp = await createIdp({ port: 0, fixtures });
  passwordOnly = await createIdp({ port: 0, fixtures, settings: { login: "password" } });
});
afterAll(async () => {
  await Promise.all([idp.close(), passwordOnly.close()]);
});

beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
  await idp.revoke({ client: "app" });
});
afterEach(() => context.close());

const start = (change: Readonly<Record<string, string>> = {}, at: Idp = idp, on: Page = page) =>
  on.goto(authorizeUrl(at, { client_id: "app", redirect_uri: `${app.url}/callback`, ...change }));

/** What the app was sent. */
const back = (on: Page = page): Record<string, string> => {
  const { origin, searchParams } = new URL(on.url());
  expect(origin).toBe(app.url);
  return Object.fromEntries(searchParams);
};

/** Well below the time limit of a test. */
const timeout = 1500;

describe("signs in", () => {
  test("by picking the user, and allows", async () => {
    await start();
    await signIn(page, { user: "alice" });
    expect(back()).toEqual({ code: expect.any(String), state: expect.any(String), iss: idp.issuer });
    expect(await idp.call("grants.list", { client: "app" })).toMatchObject([{ user: "alice", status: "active" }]);
  });

  test("without scripts", async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const other = await plain.newPage();
    await start({}, idp, other);
    await signIn(other, { user: "alice" });
    expect(back(other)).toHaveProperty("code");
    await plain.close();
  });

  test("and denies", async () => {
    await start();
    await signIn(page, { user: "alice", approve: false });
    expect(back()).toMatchObject({ error: "access_denied" });
  });

  test("a user whose name has special characters", async () => {
    await start();
    await signIn(page, { user: "bob.b+1@example.com", approve: true });
    expect(back()).toHaveProperty("code");
  });

  test("a user who is not on the first page of the picker", async () => {
    await start();
    expect(await page.locator('[data-testid="login-as-user-59"]').count()).toBe(0);
    await signIn(page, { user: "user-59" });
    expect(back()).toHaveProperty("code");
  });

  test.each([
    ["folded away below the picker", () => idp],
    ["where there is no picker", () => passwordOnly],
  ])("with a password, its form %s", async (_where, which) => {
    await start({}, which());
    await signIn(page, { user: "alice", password: "alice-secret" });
    expect(back()).toHaveProperty("code");
  });

  test("without a consent page, and with an earlier consent", async () => {
    await start({ client_id: "own" });
    await signIn(page, { user: "alice" });
    expect(back()).toHaveProperty("code");
    await idp.issueGrant({ user: "alice", client: "app", scope: "openid profile email" });
    await context.clearCookies();
    await start();
    await signIn(page, { user: "alice" });
    expect(back()).toHaveProperty("code");
  });

  test("another user than the one who has a session", async () => {
    await start({ client_id: "own" });
    await signIn(page, { user: "user-1" });
    await start();
    expect(await page.locator("html").getAttribute("data-page")).toBe("consent");
    await signIn(page, { user: "alice" });
    expect(await idp.call("grants.list", { client: "app", user: "alice" })).toMatchObject([{ status: "active" }]);
  });

  test("a user who has to sign in again, by picking and with the password", async () => {
    for (const password of [undefined, "alice-secret"]) {
      await start({ client_id: "own" });
      if (password === undefined) await signIn(page, { user: "alice" });
      await start({ client_id: "own", prompt: "login" });
      await signIn(page, { user: "alice", ...(password !== undefined && { password }) });
      expect(back()).toHaveProperty("code");
    }
  });

  test("with a response that is posted to the app", async () => {
    await start({ response_mode: "form_post" });
    await signIn(page, { user: "alice" });
    expect(page.url()).toBe(`${app.url}/callback`);
  });

  test("from a page that only redirects", async () => {
    await page.goto(app.url);
    const url = authorizeUrl(idp, { client_id: "app", redirect_uri: `${app.url}/callback` });
    // As an app does it that fetches the metadata first.
    await page.evaluate(`fetch("/").then(() => setTimeout(() => location.assign(${JSON.stringify(url)}), 200))`);
    await signIn(page, { user: "alice" });
    expect(back()).toHaveProperty("code");
  });

  test("with a redirect URI where nothing listens", async () => {
    await start({ redirect_uri: nowhere });
    await signIn(page, { user: "alice" });
    expect(await idp.call("grants.list", { client: "app", user: "alice" })).toMatchObject([{ status: "active" }]);
  });

  test("in a window that closes when it is done", async () => {
    await page.goto(app.url);
    const url = authorizeUrl(idp, { client_id: "app", redirect_uri: `${app.url}/callback` });
    const [popup] = await Promise.all([page.waitForEvent("popup"), page.evaluate(`void open(${JSON.stringify(url)})`)]);
    popup.on("framenavigated", (frame) => {
      if (frame.url().startsWith(app.url)) void popup.close();
    });
    await signIn(popup, { user: "alice" });
    expect(await idp.call("grants.list", { client: "app", user: "alice" })).toMatchObject([{ status: "active" }]);
  });
});

describe("says where it could not", () => {
  test.each<[string, Parameters<typeof signIn>[1], RegExp]>([
    [
      "a wrong password",
      { user: "alice", password: "x" },
      /"alice" could not sign in \(data-page="login" data-state="error-credentials" at http.*\): \S/,
    ],
    [
      "a suspended user",
      { user: "carol" },
      /"carol" could not sign in \(data-page="login" data-state="error-suspended" .*\): .*suspended/,
    ],
    [
      "a banned user",
      { user: "dave", password: "dave-secret" },
      /"dave" could not sign in .*data-state="error-banned"/,
    ],
    ["a user who is not there", { user: "nobody" }, /the login page has no user "nobody" to pick; it has alice, bob/],
  ])("%s", async (_what, options, message) => {
    await start();
    await expect(signIn(page, options)).rejects.toThrow(message);
  });

  test("a login page that wants a password", async () => {
    await start({}, passwordOnly);
    await expect(signIn(page, { user: "alice" })).rejects.toThrow(
      /the login page has no picker: also give the password of "alice"/,
    );
  });

  test("somebody else who has to sign in again", async () => {
    await start({ client_id: "own" });
    await signIn(page, { user: "alice" });
    await start({ prompt: "login" });
    await expect(signIn(page, { user: "carol" })).rejects.toThrow(/asks a user other than "carol"/);
  });

  test("an error page, with its code and message", async () => {
    await start({ client_id: "ap" });
    await expect(signIn(page, { user: "alice" })).rejects.toThrow(/data-page="error" .*\): invalid_client: .*ap/);
  });

  test("a sign-in that is over", async () => {
    await start();
    const login = page.url();
    await signIn(page, { user: "alice" });
    await context.clearCookies();
    await page.goto(login);
    await expect(signIn(page, { user: "alice" })).rejects.toThrow(
      /this page is not a sign-in page \(data-page="login" data-state="(expired|no-cookie)" .*\): \S/,
    );
  });

  test("a consent that is not asked for cannot be denied", async () => {
    await start({ client_id: "own" });
    await expect(signIn(page, { user: "alice", approve: false })).rejects.toThrow(
      /no consent page that "alice" could deny/,
    );
  });

  test("a page of the app alone", async () => {
    await page.goto(`${app.url}/callback`);
    await expect(signIn(page, { user: "alice", timeout })).rejects.toThrow(
      new RegExp(`no page of idp came within 1500 ms: the browser is at ${app.url}/callback`),
    );
  });

  test("an app that does not respond", async () => {
    await start({ redirect_uri: `${app.url}/never` });
    await expect(signIn(page, { user: "alice", timeout })).rejects.toThrow(
      /no page came within 1500 ms after allowing/,
    );
  });
});
