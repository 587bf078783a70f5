import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { signIn } from "../../../src/playwright.ts";
import { idpIn } from "../../helpers/command.ts";
import { startSinglePageApp, useChromium } from "../../helpers/single-page-app.ts";

/**
 * Recipes of docs/testing.md against oidc-client-ts in a browser. The ledger says what the library did: its own report is not enough.
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

/** Runs a command as it is printed. @returns its exit code */
async function idp(words: string): Promise<number> {
  const { code, stderr } = await idpIn(app.cwd, words.split(" "));
  if (code !== 0 && code !== 6) throw new Error(stderr);
  return code;
}

let page: Page;
const refreshed = (): Promise<string> => page.evaluate("refresh()");

beforeEach(async () => {
  for (const command of ["faults clear", "reset --no-input"]) await idp(command);
  page = await newPage();
  await page.goto(app.url);
  await page.waitForFunction("globalThis.ready");
  await page.evaluate("void manager.signinRedirect()");
  await signIn(page, { user: "alice" });
  await page.waitForURL(`${app.url}/callback?*`);
  await page.waitForFunction("globalThis.ready");
  await idp("requests clear");
});

test("expired access token mid-session: it refreshes, and repeats the call", async () => {
  expect(await page.evaluate("userInfo()")).toEqual([200]);
  await idp("expire --user alice --client spa");
  expect(await page.evaluate("userInfo()")).toEqual([401, 200]);
  expect(await idp("expect userinfo --user alice --status 401 --times 1")).toBe(0);
  expect(await idp("expect token --grant-type refresh_token --status 200 --times 1")).toBe(0);
  expect(await idp("expect userinfo --user alice --status 200 --times 2")).toBe(0);
});

test("refresh refused once: the user has to sign in again, and another refresh would pass", async () => {
  await idp("faults add token --grant-type refresh_token --status 400 --error invalid_grant");
  expect(await refreshed()).toBe("invalid_grant");
  expect(await idp("expect token --grant-type refresh_token --times 1")).toBe(0);
  expect(await refreshed()).toMatch(/^ey/);
  expect(await idp("expect token --grant-type refresh_token --status 200 --times 1")).toBe(0);
});

test("slow token endpoint: it gives up after its own timeout, and a second try passes", async () => {
  await idp("faults add token --delay 5s");
  expect(await refreshed()).toMatch(/timed out/i);
  expect(await refreshed()).toMatch(/^ey/);
  expect(await idp("expect token --status 200 --times 1")).toBe(0);
  expect(await idp("expect token --times 2 --within 10s")).toBe(0);
});

test("revoked mid-session: UserInfo answers 403, and the refresh is refused", async () => {
  await idp("revoke --user alice --client spa");
  expect(await page.evaluate("userInfo()")).toEqual([403]);
  expect(await refreshed()).toBe("invalid_grant");
  expect(await idp("expect userinfo --user alice --status 403 --times 1")).toBe(0);
  expect(await idp("expect token --grant-type refresh_token --status 400 --times 1")).toBe(0);
  expect(await idp("expect authorize --never")).toBe(0);
});
