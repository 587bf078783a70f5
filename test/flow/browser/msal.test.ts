import type { AuthenticationResult } from "@azure/msal-browser";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { signIn } from "../../../src/playwright.ts";
import { repository } from "../../helpers/readme.ts";
import { startSinglePageApp, useChromium } from "../../helpers/single-page-app.ts";

/**
 * \@azure/msal-browser over https, with its defaults and what `idp env --for msal` prints, knownAuthorities and protocolMode among it.
 * @module-tag browser
 */

const tls = join(repository, "test/helpers/tls");
const app = await startSinglePageApp(
  "msal",
  `
<script src="/node_modules/@azure/msal-browser/lib/msal-browser.min.js"></script>
<script type="module">
  import { config, request } from "/config.js";
  globalThis.request = request;
  globalThis.app = new msal.PublicClientApplication(config);
  await app.initialize();
  globalThis.answer = await app.handleRedirectPromise();
  if (answer !== null) app.setActiveAccount(answer.account);
  globalThis.ready = true;
</script>`,
  ["--cert", join(tls, "cert.pem"), "--key", join(tls, "key.pem")],
);
const newPage = useChromium();

/** A page where alice is signed in, and what the library says of that. */
async function signedIn(): Promise<{ readonly page: Page; readonly result: AuthenticationResult }> {
  const page = await newPage();
  await page.goto(app.url);
  await page.waitForFunction("globalThis.ready");
  await page.evaluate("void app.loginRedirect(request)");
  await signIn(page, { user: "alice" });
  // The library goes back to the page that it left.
  await page.waitForURL(`${app.url}/`);
  await page.waitForFunction("globalThis.ready");
  return { page, result: await page.evaluate<AuthenticationResult>("answer") };
}

test("signs alice in, reads her, refreshes, and logs out", async () => {
  const { page, result } = await signedIn();
  expect(result.account).toMatchObject({ name: "Alice Adams" });
  expect(result.idTokenClaims).toMatchObject({ iss: app.issuer, email: "alice@example.com" });

  const acquire = (change = {}) =>
    page.evaluate<AuthenticationResult>(`app.acquireTokenSilent({ ...request, ...${JSON.stringify(change)} })`);
  expect(await acquire()).toMatchObject({ fromCache: true, accessToken: result.accessToken });
  const refreshed = await acquire({ forceRefresh: true });
  expect(refreshed).toMatchObject({ fromCache: false, uniqueId: result.uniqueId });
  expect(refreshed.accessToken).not.toBe(result.accessToken);

  await page.evaluate("void app.logoutRedirect({ idTokenHint: app.getActiveAccount().idToken })");
  await page.waitForURL(`${app.url}/?state=*`);
  await page.waitForFunction("globalThis.ready");
  expect(await page.evaluate("app.getAllAccounts()")).toEqual([]);
  await page.evaluate("void app.loginRedirect(request)");
  await page.getByTestId("login-as-alice").waitFor();
});

test("a logout without idTokenHint asks first, and says why it does not return", async () => {
  const { page } = await signedIn();
  await page.evaluate("void app.logoutRedirect()");
  await page.getByTestId("logout-confirm").click();
  await page.getByText("its request had neither an id_token_hint").waitFor();
});
