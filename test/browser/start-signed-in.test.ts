import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import express from "express";
import { afterAll, afterEach, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { preparedChromium, sharedChromium } from "../helpers/chromium.ts";
import { newFolder } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { appClient, plainApp } from "../helpers/plain-app.ts";
import { repository } from "../helpers/readme.ts";
import { startRelyingParty } from "../helpers/relying-party.ts";
import { newProject, shell } from "../helpers/shell.ts";

/**
 * Playwright and curl begin signed in with the files of `idp sign-in`, and `--browser` signs in at apps that need scripts.
 * @module-tag browser
 */

const chromium = await sharedChromium();
let asks: Readonly<Record<string, string>> = {};
let far: string | null = null;
afterEach(() => {
  asks = {};
  far = null;
});
let issuer = "";
const app = await plainApp(
  () => issuer,
  () => ({
    asks,
    answers: (path) => (far !== null && path === "/login" ? { status: 302, headers: { location: far } } : null),
  }),
);
const spa = await startRelyingParty();
const fixtures = {
  users: [
    { username: "alice", displayName: "Alice Adams" },
    { username: "erin", factors: ["otp" as const] },
  ],
  clients: [appClient(app.url), { client_id: "spa", redirect_uris: [`${spa.url}/callback`] }],
  settings: { acr: { "urn:otp": ["otp" as const] } },
};
const idp = await serve({ fixtures });
const guarded = await serve({ fixtures: { ...fixtures, settings: { ...fixtures.settings, login: "password" } } });
const settings = () => ({
  ...{ authority: idp.issuer, client_id: "spa", redirect_uri: `${spa.url}/callback`, scope: "openid profile" },
});
spa.app.use("/node_modules", express.static(join(repository, "node_modules")));
spa.app.use((req, res) => {
  const store = req.path === "/me" ? "" : "localStorage.setItem('theme', 'dark');";
  res.send(`<!doctype html><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,"><p>Welcome
<script src="/node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js"></script>
<script type="module">
  ${store}
  const manager = new oidc.UserManager(${JSON.stringify(settings())});
  const user = await manager.getUser();
  if (location.pathname === "/callback") await manager.signinRedirectCallback();
  else if (user === null) await manager.signinRedirect();
  else document.querySelector("p").textContent = "Signed in as " + user.profile.name;
</script>`);
});
const cwd = newFolder(afterAll);
const { path, env } = preparedChromium();

const signIn = (start: string, words: readonly string[], server: typeof idp = idp) => {
  ({ issuer } = server);
  const target = ["--url", server.issuer, "--data", join(cwd, "none")];
  const variables = { ...env, PATH: process.env.PATH, CHROMIUM_PATH: path, IDP_ADMIN_TOKEN: server.adminToken };
  return idpHere(["sign-in", "--start", start, ...words, ...target], "", variables);
};

test("Playwright begins as the user of the file", async () => {
  const storageState = join(cwd, "auth", "alice.json");
  expect((await signIn(`${app.url}/login`, ["--output", storageState])).code).toBe(0);
  const context = await chromium.newContext({ storageState });
  const page = await context.newPage();
  await page.goto(`${app.url}/me`);
  expect(await page.locator("body").innerText()).toContain("I am ");
});

test("the fixture of the guide begins each test of Playwright signed in", async () => {
  ({ issuer } = idp);
  const project = newProject();
  const guide = readFileSync(join(repository, "docs/start-signed-in.md"), "utf8");
  const [, fixture = ""] = /```js\n(import \{ test as base \}.*?)```/s.exec(guide) ?? [];
  const config = `const { path, env } = JSON.parse(process.env.TEST_CHROMIUM);
const launchOptions = { executablePath: path, args: ["--no-sandbox"], env: { ...process.env, ...env } };
export default { reporter: "list", timeout: 60_000, use: { launchOptions } };`;
  const spec = `import { expect } from "@playwright/test";
import { test } from "./test.js";
test("sees the page", async ({ page }) => {
  await page.goto("${app.url}/me");
  await expect(page.getByText("I am ")).toBeVisible();
});`;
  const files = {
    "package.json": JSON.stringify({ type: "module" }),
    "playwright.config.js": config,
    "test.js": fixture.replaceAll("http://localhost:3000", app.url).replaceAll("http://localhost:4370", idp.issuer),
    "page.spec.js": spec,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project.cwd, name), text);
  mkdirSync(join(project.cwd, "node_modules", "@playwright"));
  const ours = join("node_modules", "@playwright", "test");
  symlinkSync(join(repository, ours), join(project.cwd, ours));
  const variables = { TEST_CHROMIUM: JSON.stringify({ path, env }), IDP_ADMIN_TOKEN: idp.adminToken };
  const ended = await shell(`timeout 100 node ${ours}/cli.js test`, {
    cwd: project.cwd,
    env: { ...project.env, ...variables },
  });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("1 passed") });
});

test("curl is signed in with the jar", { tags: ["curl"] }, async () => {
  const jar = join(cwd, "auth", "cookies.txt");
  expect((await signIn(`${app.url}/login`, ["--as", "cookies", "--output", jar])).code).toBe(0);
  const words = ["-s", "-b", jar, `${app.url}/me`];
  const body = await new Promise((resolve) =>
    execFile("curl", words, (_error, stdout) => {
      resolve(stdout);
    }),
  );
  expect(body).toContain("I am ");
});

test("an app of one page is signed in by its script: its storage is in the result", async () => {
  expect(await signIn(spa.url, [])).toMatchObject({ code: 6, stderr: expect.stringContaining("--browser") });
  const { code, stdout, stderr } = await signIn(`${spa.url}/login`, [
    "--browser",
    "--signed-in",
    `${spa.url}/me`,
    "--json",
  ]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("Signed in as alice")]);
  expect(JSON.parse(stdout)).toMatchObject({
    cookies: [],
    origins: [{ origin: spa.url, localStorage: expect.arrayContaining([{ name: "theme", value: "dark" }]) }],
    sessionStorage: { [spa.url]: [{ name: expect.stringContaining("oidc.user"), value: expect.any(String) }] },
  });
});

test("Chromium gives what the browser without scripts gives, and codes and sessions where nobody can be picked", async () => {
  asks = { acr_values: "urn:otp" };
  for (const server of [idp, guarded]) {
    const { code, stdout, stderr } = await signIn(`${app.url}/login`, ["--browser", "--user", "erin"], server);
    expect([code, stderr]).toEqual([0, expect.stringContaining("Signed in as erin")]);
    const { cookies } = JSON.parse(stdout) as { cookies: { name: string }[] };
    expect(cookies.map(({ name }) => name).sort()).toEqual(["sid", "theme"]);
  }
});

test("Chromium does not open a public or a link-local address", async () => {
  for (const location of ["http://93.184.216.34/", "http://169.254.169.254/latest/"]) {
    far = location;
    expect(await signIn(`${app.url}/login`, ["--browser"])).toMatchObject({ code: 2, stdout: "" });
  }
});
