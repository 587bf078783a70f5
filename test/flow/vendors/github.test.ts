import type { OAuthApp } from "@octokit/oauth-app";
import type { RequestHandler } from "express";
import session from "express-session";
import passport from "passport";
import { describe, expect, test } from "vitest";
import { authApps, type AuthProvider, type NextProvider, type Plugin } from "../../helpers/auth-apps.ts";
import { approve, Browser } from "../../helpers/browser.ts";
import { startRelyingParty } from "../../helpers/relying-party.ts";
import { answerOf, sources, vendorGuide } from "../../helpers/vendor-guide.ts";

/** The libraries of apps that have "Sign in with GitHub" built in, unmodified, with the lines of docs/vendors.md. */

const { app, url } = await startRelyingParty();
const { example, lines, serveFor } = vendorGuide();
const apps = authApps(app, url);

describe("Octokit", async () => {
  const idp = await serveFor("github", `${url}/callback`);
  const { app: octokit } = await example<{ app: OAuthApp }>("GitHub", "@octokit/oauth-app");
  const signIn = async () => {
    const { url: address } = octokit.getWebFlowAuthorizationUrl({ scopes: ["read:user", "read:org"], state: "s1" });
    const { code = "", state } = await answerOf(address);
    expect(state).toBe("s1");
    return octokit.createToken({ code });
  };

  test("signs in, calls the API, and ends the token and the grant", async () => {
    const { authentication } = await signIn();
    expect(authentication).toMatchObject({ tokenType: "oauth", scopes: ["read:user,read:org"] });
    const { token } = authentication;
    const user = await octokit.getUserOctokit({ token, scopes: [] });
    expect((await user.request("GET /user")).data).toMatchObject({ login: "alice", id: 583231, email: null });
    expect((await user.request("GET /user/orgs")).data).toMatchObject([{ login: "octo-org" }]);
    await expect(user.request("GET /user/emails")).rejects.toMatchObject({ status: 404 });
    expect((await octokit.deleteToken({ token })).status).toBe(204);
    await expect(user.request("GET /user")).rejects.toMatchObject({ status: 401, message: /Bad credentials/ });
    const { authentication: other } = await signIn();
    expect((await octokit.deleteAuthorization({ token: other.token })).status).toBe(204);
    await expect(octokit.deleteToken({ token: other.token })).rejects.toMatchObject({ status: 404 });
  });

  test("a code that was used is bad_verification_code, and a revocation in the account ends the token", async () => {
    await expect(octokit.createToken({ code: "nonsense" })).rejects.toThrow(/bad_verification_code/);
    const { authentication } = await signIn();
    await idp.revoke({ user: "alice", client: "shop" });
    const user = await octokit.getUserOctokit({ token: authentication.token, scopes: [] });
    await expect(user.request("GET /user")).rejects.toMatchObject({ status: 401 });
  });
});

describe("passport-github2", async () => {
  const idp = await serveFor("github", `${url}/passport`);
  const { strategy } = await example<{ strategy: passport.Strategy }>("GitHub", "passport-github2");
  passport.use("github", strategy);
  passport.serializeUser((user, done) => {
    done(null, user);
  });
  passport.deserializeUser((user: Express.User, done) => {
    done(null, user);
  });
  app.use(session({ secret: "of the test", resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
  app.use(passport.session());
  const where = { successRedirect: "/passport/me", failureRedirect: "/passport/failed" };
  app.get("/passport/login", passport.authenticate("github") as RequestHandler);
  app.get("/passport", passport.authenticate("github", where) as RequestHandler);
  app.get("/passport/me", (req, res) => {
    res.json(req.user ?? null);
  });
  app.get("/passport/failed", (_req, res) => {
    res.status(401).json({ failed: true });
  });

  test("signs in with the e-mail address of /user/emails, and a user who denies is not signed in", async () => {
    const browser = new Browser(idp.issuer, url);
    const me = await approve(browser, await browser.open(`${url}/passport/login`));
    const emails = [{ value: "alice@example.com" }];
    expect(JSON.parse(me.body)).toMatchObject({ id: "583231", username: "alice", displayName: "Alice Adams", emails });
    const other = new Browser(idp.issuer, url);
    const consent = await other.press(await other.open(`${url}/passport/login`), "login-as-bob");
    expect((await other.press(consent, "consent-deny")).status).toBe(401);
  });
});

test.each(sources)("arctic, with the lines of %s", async (source) => {
  const idp = await serveFor("github", `${url}/arctic`);
  interface Arctic {
    begin: (state: string) => URL;
    finish: (code: string) => Promise<{ accessToken(): string }>;
  }
  const { begin, finish } = await lines<Arctic>(source, idp, "GitHub", "arctic");
  const { code = "", state, iss } = await answerOf(begin("s1"));
  expect({ state, iss }).toEqual({ state: "s1", iss: idp.issuer });
  expect((await finish(code)).accessToken()).toMatch(/^gho_/);
});

const signedIn = { user: { name: "Alice Adams", email: "alice@example.com" } };

test.each(sources)("better-auth, with the lines of %s", async (source) => {
  const idp = await serveFor("github", `${url}/api/auth/callback/github`);
  const { plugin } = await lines<{ plugin: Plugin }>(source, idp, "GitHub", "better-auth");
  expect(await apps.betterAuth(idp.issuer, "github", plugin)).toMatchObject(signedIn);
});

test.each(sources)("Auth.js, with the lines of %s", async (source) => {
  const idp = await serveFor("github", `${url}/auth/callback/github`);
  const { provider } = await lines<{ provider: AuthProvider }>(source, idp, "GitHub", "@auth/express");
  expect(await apps.authjs(idp.issuer, "github", provider)).toMatchObject(signedIn);
});

test.each(sources)("next-auth 4, with the lines of %s", async (source) => {
  const idp = await serveFor("github", `${url}/api/next/callback/github`);
  const { provider } = await lines<{ provider: NextProvider }>(source, idp, "GitHub", "next-auth");
  expect(await apps.nextAuth(idp.issuer, "github", provider)).toMatchObject(signedIn);
});
