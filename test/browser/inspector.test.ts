import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { launchChromium } from "../helpers/chromium.ts";

/**
 * The inspector in a real browser: its cookie, its forms, and the script that keeps its pages up to date.
 * @module-tag browser
 */

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});

afterAll(async () => {
  await browser.close();
});

async function inspect(javaScriptEnabled = true) {
  const idp = await serve();
  const complaints: string[] = [];
  const context = await browser.newContext({ javaScriptEnabled });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: idp.issuer });
  const page = await context.newPage();
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto((await idp.call("inspector.open", {})).url);
  return { idp, page, complaints, app: await register(idp, { client_id: "live" }) };
}

const rows = (page: Page) => page.locator("[id^=row-flow-]");
const stateOf = (page: Page) => page.getAttribute("html", "data-state");

test("a sign-in appears by itself, its page grows, and Pause holds the page still", async () => {
  const { page, app, complaints } = await inspect();
  expect(await stateOf(page)).toBe("empty");
  await page.getByTestId("inspector-pause").waitFor();
  expect(await page.getByTestId("inspector-refresh").isVisible()).toBe(false);
  const { code } = await app.signIn();
  await rows(page).first().waitFor();
  await rows(page).first().getByRole("link").click();
  await page.getByTestId("inspector-pause").waitFor();
  await page.locator("summary", { hasText: "authorize" }).click();
  await app.exchange(code, { client_secret: "wrong" });
  await page.locator("li.bad", { hasText: "token" }).waitFor();
  // What was unfolded stays so.
  expect(await page.locator("details[open]", { hasText: "authorize" }).count()).toBeGreaterThan(0);

  await page.getByTestId("inspector-pause").click();
  expect(await stateOf(page)).toBe("paused");
  const requests = await page.locator(".sequence > ol > li").count();
  await app.exchange(code);
  await page.getByTestId("inspector-back").click();
  await expect.poll(() => rows(page).count()).toBeGreaterThan(0);
  await page.goBack();
  expect(await page.locator(".sequence > ol > li").count()).toBeGreaterThanOrEqual(requests);
  expect(complaints).toEqual([]);
});

test("a request is copied as curl", async () => {
  const { page, app } = await inspect();
  await app.signIn();
  await rows(page).first().getByRole("link").click();
  // An update would replace what is being clicked.
  await page.getByTestId("inspector-pause").click();
  await page.locator("summary", { hasText: "authorize" }).click();
  await page.locator("[data-copy]").first().click();
  await page.locator("[data-copy]", { hasText: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^curl -i '?http:\/\/localhost:\d+\/api/);
});

test("the page says that the server has gone", async () => {
  const { idp, page } = await inspect();
  await page.getByTestId("inspector-pause").waitFor();
  const { port } = idp;
  await idp.close();
  await serve({ port });
  await page.getByTestId("inspector-stale").waitFor({ timeout: 15_000 });
  expect(await stateOf(page)).toBe("stale");
});

test("without scripts: every tab by keyboard, a form that changes something, and a link that refreshes", async () => {
  const { idp, page, app } = await inspect(false);
  await app.signIn();
  await page.getByTestId("inspector-refresh").focus();
  await page.keyboard.press("Enter");
  await rows(page).first().waitFor();
  for (const tab of ["users", "clients", "grants", "tokens", "testing", "fixtures", "sign-ins"]) {
    await page.getByTestId(`inspector-tab-${tab}`).focus();
    await page.keyboard.press("Enter");
    await page.locator(`#inspector-tab-${tab}[aria-current=page]`).waitFor();
  }
  await page.getByTestId("inspector-tab-users").click();
  await page.getByTestId("row-user-bob").locator("summary").focus();
  await page.keyboard.press("Enter");
  await page.getByTestId("suspend-bob").focus();
  await page.keyboard.press("Enter");
  expect(await page.getByTestId("inspector-done").innerText()).toContain("idp users suspend bob");
  expect(await idp.call("users.show", { username: "bob" })).toMatchObject({ status: "suspended" });
});

test("a page of another port cannot post its forms, frame it, or use up a key", async () => {
  const { idp, page } = await inspect();
  const { url } = await idp.call("inspector.open", {});
  const other = await serve();
  await page.goto(`${other.issuer}/_idp/health`);
  const body = `csrf=x&change=ban&target=bob`;
  const status = await page.evaluate(
    `fetch(${JSON.stringify(`${idp.issuer}/_idp/change`)}, { method: "POST", credentials: "include", mode: "no-cors",
      headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: ${JSON.stringify(body)} }).then((r) => r.type, () => "blocked")`,
  );
  expect(["opaque", "blocked"]).toContain(status);
  expect(await idp.call("users.show", { username: "bob" })).toMatchObject({ status: "active" });
  expect((await fetch(url, { redirect: "manual" })).status).toBe(303);
});

test("the button of an error page adds the redirect URI, and the sign-in goes on", async () => {
  const { page, app } = await inspect(false);
  await page.goto(app.url({ redirect_uri: "http://localhost:3999/cb" }));
  expect(await stateOf(page)).toBe("redirect-uri");
  await page.getByTestId("fix-add-redirect-uri").click();
  await page.getByTestId("login-as-alice").waitFor();
  await page.getByTestId("login-as-carol").click();
  await page.getByTestId("fix-restore").click();
  await page.getByTestId("login-as-carol").click();
  await page.getByTestId("consent-allow").waitFor();
});
