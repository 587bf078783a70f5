import type { User, UserManager } from "oidc-client-ts";
import { expect, test } from "vitest";
import { signIn } from "../../../src/playwright.ts";
import { startSinglePageApp, useChromium } from "../../helpers/single-page-app.ts";

/**
 * oidc-client-ts, with its defaults and what `idp env --for oidc-client-ts` prints.
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
</script>`,
);
const newPage = useChromium();

test("signs alice in, reads her, refreshes, and logs out", async () => {
  const page = await newPage();
  /** The user that a method of the library returns. */
  const user = (method: keyof UserManager) => page.evaluate<User | null>(`manager.${method}()`);
  await page.goto(app.url);
  await page.waitForFunction("globalThis.ready");
  await page.evaluate("void manager.signinRedirect()");
  await signIn(page, { user: "alice" });
  await page.waitForURL(`${app.url}/callback?*`);
  await page.waitForFunction("globalThis.ready");
  const signedIn = await user("getUser");
  expect(signedIn?.profile).toMatchObject({ iss: app.issuer, name: "Alice Adams", email: "alice@example.test" });

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
