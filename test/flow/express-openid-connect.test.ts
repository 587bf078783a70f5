import openid from "express-openid-connect";
import { expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { relyingPartySecret, startIdpFor, startRelyingParty } from "../helpers/relying-party.ts";

/** express-openid-connect, unmodified: the issuer, a client and its secret are all it is given. */

const { app, url } = await startRelyingParty();
const idp = await startIdpFor([`${url}/callback`], { post_logout_redirect_uris: [url] });

app.use(
  openid.auth({
    issuerBaseURL: idp.issuer,
    baseURL: url,
    clientID: "app",
    clientSecret: relyingPartySecret,
    secret: "a long secret of the application's own",
    authRequired: false,
    idpLogout: true,
    authorizationParams: { response_type: "code", scope: "openid profile email" },
  }),
);
app.get("/", (req, res) => {
  res.json({ user: req.oidc.user ?? null });
});
app.get("/userinfo", openid.requiresAuth(), async (req, res) => {
  res.json(await req.oidc.fetchUserInfo());
});
app.get("/refresh", openid.requiresAuth(), async (req, res) => {
  const { access_token: before } = req.oidc.accessToken ?? {};
  const after = await req.oidc.accessToken?.refresh();
  res.json({ isNew: after !== undefined && after.access_token !== before });
});

const jsonOf = async (browser: Browser, path: string): Promise<unknown> =>
  JSON.parse((await browser.open(url + path)).body);

test("alice signs in, her data is fetched, tokens are refreshed, and she signs out everywhere", async () => {
  const browser = new Browser(idp.issuer, url);
  // A page that needs a user sends her to sign in, and comes back to it.
  const page = await approve(browser, await browser.open(`${url}/userinfo`));
  expect(page.url).toBe(`${url}/userinfo`);
  expect(JSON.parse(page.body)).toMatchObject({ sub: "7123456789012345678", user: { username: "alice" } });
  expect(await jsonOf(browser, "/")).toMatchObject({ user: { name: "Alice Adams", email: "alice@example.com" } });
  expect(await jsonOf(browser, "/refresh")).toEqual({ isNew: true });

  const signedOut = await browser.open(`${url}/logout`);
  expect(signedOut.url).toBe(`${url}/`);
  expect(JSON.parse(signedOut.body)).toEqual({ user: null });
  // Not only signed out of the application: the next sign-in shows the login page again.
  expect(await browser.open(`${url}/login`)).toMatchObject({ page: "login" });
});

test("a user who denies is not signed in", async () => {
  const browser = new Browser(idp.issuer, url);
  const consent = await browser.press(await browser.open(`${url}/login`), "login-as-bob");
  const denied = await browser.press(consent, "consent-deny");
  expect(denied.status).toBe(400);
  expect(await jsonOf(browser, "/")).toEqual({ user: null });
});
