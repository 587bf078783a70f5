import type Keycloak from "keycloak-js";
import { expect, test } from "vitest";
import { signIn } from "../../../src/playwright.ts";
import { startSinglePageApp, useChromium } from "../../helpers/single-page-app.ts";

/**
 * keycloak-js, with its defaults and what `idp env --for keycloak-js` prints: answers arrive in the fragment, and it sends credentials.
 * @module-tag browser
 */

const app = await startSinglePageApp(
  "keycloak-js",
  `
<script type="module">
  import Keycloak from "/node_modules/keycloak-js/lib/keycloak.js";
  import { config, options } from "/config.js";
  globalThis.keycloak = new Keycloak(config);
  await keycloak.init(options);
  globalThis.ready = true;
</script>`,
);
const newPage = useChromium();

test("signs alice in, reads her, refreshes, and logs out", async () => {
  const page = await newPage();
  const state = () => page.evaluate<Keycloak>("({ ...keycloak })");
  await page.goto(app.url);
  await signIn(page, { user: "alice" });
  await page.waitForFunction("globalThis.ready");
  expect(page.url()).toBe(`${app.url}/callback`);
  const signedIn = await state();
  expect(signedIn).toMatchObject({ authenticated: true, responseMode: "fragment", pkceMethod: "S256" });
  expect(signedIn.idTokenParsed).toMatchObject({ iss: app.issuer, name: "Alice Adams", email: "alice@example.com" });
  expect(await page.evaluate("keycloak.loadUserInfo()")).toMatchObject({ sub: signedIn.subject });

  expect(await page.evaluate("keycloak.updateToken(-1)")).toBe(true);
  const refreshed = await state();
  expect(refreshed.subject).toBe(signedIn.subject);
  expect(refreshed.token).not.toBe(signedIn.token);
  expect(refreshed.refreshToken).not.toBe(signedIn.refreshToken);

  // The page that it returns to asks for a sign-in again.
  const returned = page.waitForRequest(`${app.url}/`);
  await page.evaluate(`void keycloak.logout({ redirectUri: "${app.url}/" })`);
  await returned;
  await page.getByTestId("login-as-alice").waitFor();
});
