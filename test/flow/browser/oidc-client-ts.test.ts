import express from "express";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { User, UserManager } from "oidc-client-ts";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { signIn } from "../../../src/playwright.ts";
import { idp, newFolder, startIdp } from "../../helpers/cli.ts";
import { freePort } from "../../helpers/port.ts";
import { repository } from "../../helpers/readme.ts";
import { startRelyingParty } from "../../helpers/relying-party.ts";
import { startSinglePageApp, useChromium } from "../../helpers/single-page-app.ts";
import { commandsOn } from "../recipes/guide.ts";

/**
 * oidc-client-ts, with its defaults and what `idp env --for oidc-client-ts` and `idp init` print.
 * @module-tag browser
 */

const app = await startSinglePageApp(
  "oidc-client-ts",
  `
<script src="/node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js"></script>
<script type="module">
  import { config } from "/config.js";
  globalThis.manager = new oidc.UserManager(config);
  if (location.pathname === "/callback") await manager.signinRedirectCallback();
  globalThis.ready = true;
  // As an argument: a refresh ignores the setting of this name, and would wait as long as the server does.
  globalThis.refresh = () => manager.signinSilent({ silentRequestTimeoutInSeconds: 1 }).then(({ access_token }) => access_token, ({ error, message }) => error ?? message);
  /** An app that refreshes once when its access token is refused. */
  globalThis.userInfo = async () => {
    const { userinfo_endpoint } = await manager.metadataService.getMetadata();
    const ask = async ({ access_token }) =>
      (await fetch(userinfo_endpoint, { headers: { authorization: "Bearer " + access_token } })).status;
    const status = await ask(await manager.getUser());
    return status === 401 ? [status, await ask(await manager.signinSilent())] : [status];
  };
</script>`,
);
const newPage = useChromium();

/** A page in which alice is signed in. */
async function signedInPage(): Promise<Page> {
  const page = await newPage();
  await page.goto(app.url);
  await page.waitForFunction("globalThis.ready");
  await page.evaluate("void manager.signinRedirect()");
  await signIn(page, { user: "alice" });
  await page.waitForURL(`${app.url}/callback?*`);
  await page.waitForFunction("globalThis.ready");
  return page;
}

test("signs alice in, reads her, refreshes, and logs out", async () => {
  const page = await signedInPage();
  /** The user that a method of the library returns. */
  const user = (method: keyof UserManager) => page.evaluate<User | null>(`manager.${method}()`);
  const signedIn = await user("getUser");
  expect(signedIn?.profile).toMatchObject({ iss: app.issuer, name: "Alice Adams", email: "alice@example.com" });

  const refreshed = await user("signinSilent");
  expect(refreshed?.profile.sub).toBe(signedIn?.profile.sub);
  expect(refreshed?.access_token).not.toBe(signedIn?.access_token);
  expect(refreshed?.refresh_token).not.toBe(signedIn?.refresh_token);

  await page.evaluate("void manager.signoutRedirect()");
  await page.waitForURL(`${app.url}/`);
  await page.waitForFunction("globalThis.ready");
  expect(await user("getUser")).toBeNull();
  await page.evaluate("void manager.signinRedirect()");
  await page.getByTestId("login-as-alice").waitFor();
});

test("a page with only the code of idp init sends alice to sign in, and knows her after it", async () => {
  const { app, url } = await startRelyingParty();
  const cwd = newFolder();
  const idpPort = await freePort();
  const flags = ["--for", "oidc-client-ts", "--redirect-uri", `${url}/callback`, "--json"];
  const made = await idp(["init", ...flags], { cwd, env: { IDP_PORT: idpPort } });
  expect(made.code, made.stderr).toBe(0);
  const { pieces } = JSON.parse(made.stdout) as { readonly pieces: readonly { readonly text: string }[] };
  writeFileSync(join(cwd, "main.js"), `${pieces[0]?.text ?? ""}\nif (user) document.title = user.profile.name;\n`);
  await startIdp(["--port", idpPort], { cwd });

  const imports = {
    "oidc-client-ts": "/node_modules/oidc-client-ts/dist/esm/oidc-client-ts.js",
    "jwt-decode": "/node_modules/jwt-decode/build/esm/index.js",
  };
  app.use("/node_modules", express.static(join(repository, "node_modules")));
  app.use("/main.js", express.static(join(cwd, "main.js")));
  app.use((_req, res) => {
    res.send(`<!doctype html><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module" src="/main.js"></script>`);
  });
  const page = await newPage();
  await page.goto(`${url}/`);
  await page.getByTestId("login-as-alice").waitFor();
  // A denial is said, and does not begin the next sign-in.
  await signIn(page, { user: "alice", approve: false });
  await page.getByText("Not signed in").waitFor();
  expect(page.url()).toBe(`${url}/`);
  await page.reload();
  await page.getByTestId("consent-deny").waitFor();
  await signIn(page, { user: "alice" });
  await page.waitForFunction("document.title === 'Alice'");
  expect(page.url()).toBe(`${url}/`);
});

// The ledger says what the library did: its own report is not enough.
describe("recipes of docs/testing.md", () => {
  const { run, asked } = commandsOn(join(app.cwd, ".idp"));
  let page: Page;
  const refreshed = (): Promise<string> => page.evaluate("refresh()");
  beforeEach(async () => {
    await run("faults clear", "reset");
    page = await signedInPage();
    await run("requests clear");
  });

  test("expired access token mid-session: it refreshes, and repeats the call", async () => {
    expect(await page.evaluate("userInfo()")).toEqual([200]);
    await run("expire --user alice --client spa");
    expect(await page.evaluate("userInfo()")).toEqual([401, 200]);
    await asked("userinfo --user alice --status 401 --times 1");
    await asked("token --grant-type refresh_token --status 200 --times 1");
    await asked("userinfo --user alice --status 200 --times 2");
  });

  test("refresh refused once: the user has to sign in again, and another refresh would pass", async () => {
    await run("faults add token --grant-type refresh_token --status 400 --error invalid_grant");
    expect(await refreshed()).toBe("invalid_grant");
    await asked("token --grant-type refresh_token --times 1");
    expect(await refreshed()).toMatch(/^ey/);
    await asked("token --grant-type refresh_token --status 200 --times 1");
  });

  test("slow token endpoint: it gives up after its own timeout, and a second try passes", async () => {
    await run("faults add token --delay 5s");
    expect(await refreshed()).toMatch(/timed out/i);
    expect(await refreshed()).toMatch(/^ey/);
    await asked("token --status 200 --times 1");
    await asked("token --times 2 --within 10s");
  });

  test("revoked mid-session: UserInfo answers 403, and the refresh is refused", async () => {
    await run("revoke --user alice --client spa");
    expect(await page.evaluate("userInfo()")).toEqual([403]);
    expect(await refreshed()).toBe("invalid_grant");
    await asked("userinfo --user alice --status 403 --times 1");
    await asked("token --grant-type refresh_token --status 400 --times 1");
    await asked("authorize --never");
  });
});
