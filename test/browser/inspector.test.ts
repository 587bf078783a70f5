import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { sharedChromium } from "../helpers/chromium.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { programThatKeeps } from "../helpers/opened.ts";
import { onTerminal } from "../helpers/terminal.ts";

/**
 * The inspector in a real browser: its cookie, its forms, and the script that keeps its pages up to date.
 * @module-tag browser
 */

const browser = await sharedChromium();

async function inspect(javaScriptEnabled = true) {
  const idp = await serve();
  const complaints: string[] = [];
  const context = await browser.newContext({ javaScriptEnabled });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: idp.issuer });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto((await idp.call("inspector.open", {})).url);
  return { idp, page, complaints, app: await register(idp, { client_id: "live" }) };
}

const rows = (page: Page) => page.locator("[id^=row-flow-]");
const stateOf = (page: Page) => page.getAttribute("html", "data-state");

test.each([true, false])(
  "the file that idp open gives a browser leads into the inspector, and is removed then (scripts: %s)",
  { tags: ["script"] },
  async (javaScriptEnabled) => {
    const cwd = newFolder();
    const { issuer } = await startIdp([], { cwd });
    const given = programThatKeeps(cwd);
    const { ended } = onTerminal("open", cwd, { BROWSER: given.program });
    const { file } = await given.opened();
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href);
    await page.getByTestId("inspector-tab-users").click();
    await page.getByTestId("row-user-bob").waitFor();
    expect(page.url()).toMatch(new RegExp(`^${issuer}/_idp/[\\w-]{22}/users$`));
    expect(await ended).toBe(0);
    expect(existsSync(file)).toBe(false);
  },
);

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
  await page.getByTestId("inspector-stale").waitFor({ timeout: 30_000 });
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

test("another port: its server gets no cookie of the inspector, and neither it nor its pages reach the inspector or the control API", async () => {
  const { idp, page, app } = await inspect();
  const { url } = await idp.call("inspector.open", {});
  const { pathname } = new URL(page.url());
  // Every public address, and what an attacker may guess.
  const paths = [
    "/",
    "/account",
    "/device",
    "/_idp",
    "/_idp/",
    "/_idp/users",
    "/_idp/change",
    "/_idp/api/users",
    "/_idp/health",
  ];
  const cookies: string[] = [];
  const attacker = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.setHeader("Content-Type", "text/html").end(`<iframe src="${idp.issuer}${request.url ?? ""}"></iframe>`);
  });
  await new Promise<void>((resolve) => attacker.listen(0, "localhost", resolve));
  const other = `http://localhost:${String((attacker.address() as AddressInfo).port)}`;
  try {
    await page.goto(app.url());
    await page.getByTestId("login-as-alice").click();
    for (const path of paths) await page.goto(other + path);
    const all = cookies.join("; ");
    // Cookies ignore ports: what is for every path comes to the attacker too.
    expect(all).toContain(`idp_${idp.port}_session=`);
    expect(all).not.toContain("_inspector=");
    expect(all).not.toContain(pathname.split("/")[2]);
    // The server uses what it got, with a forged Origin; its page sends what the browser lets it.
    const headers = { cookie: all, origin: idp.issuer, "content-type": "application/x-www-form-urlencoded" };
    const body = "csrf=x&change=ban&target=bob";
    const post = (to: string) => ({ by: idp.issuer + to, init: { method: "POST", headers, body } });
    for (const { by, init } of ["/_idp/change", `${pathname}change`, "/_idp/api/users/bob/ban"].map(post)) {
      expect([401, 403, 404]).toContain((await fetch(by, init)).status);
    }
    const sent = await page.evaluate(
      `Promise.all(${JSON.stringify([...paths, `${pathname}change`, "/_idp/api/users/bob/ban"])}.map((path) =>
        fetch(${JSON.stringify(idp.issuer)} + path, { method: "POST", credentials: "include", mode: "no-cors",
          headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: ${JSON.stringify(body)} })
          .then((r) => r.type, () => "blocked")))`,
    );
    expect(new Set(sent as string[])).not.toContain("basic");
    const read = await page.evaluate(
      `Promise.all(${JSON.stringify(["/", "/_idp/", pathname, "/_idp/api/users"])}.map((path) =>
        fetch(${JSON.stringify(idp.issuer)} + path, { credentials: "include" }).then(() => "read", () => "blocked")))`,
    );
    expect(new Set(read as string[])).toEqual(new Set(["blocked"]));
    expect(await idp.call("users.show", { username: "bob" })).toMatchObject({ status: "active" });
    // No request of theirs used up the key.
    expect((await fetch(url, { redirect: "manual" })).status).toBe(303);
  } finally {
    attacker.closeAllConnections();
    attacker.close();
  }
});

test("the button of a refused sign-in adds the redirect URI and restores the user, without scripts", async () => {
  const { idp, page, app } = await inspect(false);
  const opened = async () => {
    const [flow = ""] = /f\d+$/.exec(await page.getByText("idp open f").first().innerText()) ?? [];
    await page.goto((await idp.call("inspector.open", { flow })).url);
  };
  const url = app.url({ redirect_uri: "http://localhost:3999/cb" });
  await page.goto(url);
  expect(await stateOf(page)).toBe("redirect-uri");
  await opened();
  await page.getByTestId("add-redirect-uri-live").click();
  await page.getByTestId("inspector-done").waitFor();
  await page.goto(url);
  await page.getByTestId("login-as-carol").click();
  await opened();
  await page.getByTestId("restore-carol").click();
  await page.goto(url);
  await page.getByTestId("login-as-carol").click();
  await page.getByTestId("consent-allow").waitFor();
});

test("the fix of an error page is copied by a button, which is there only where scripts run", async () => {
  for (const scripts of [true, false]) {
    const { idp, page, app, complaints } = await inspect(scripts);
    await page.goto(app.url({ redirect_uri: "http://localhost:3999/cb" }));
    const button = page.locator("[data-copy=error-fix]");
    expect(await button.isVisible()).toBe(scripts);
    if (!scripts) continue;
    await button.click();
    await page.locator("[data-copy]", { hasText: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe("idp clients edit live --add-redirect-uri http://localhost:3999/cb");
    await page.goto(app.url());
    await page.getByTestId("login-as-carol").click();
    await page.locator("[data-copy=login-fix]").click();
    await page.locator("[data-copy]", { hasText: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("idp users restore carol");
    expect(complaints.filter((line) => !line.includes("status of"))).toEqual([]);
    await idp.close();
  }
});
