import type { RequestHandler } from "express";
import session from "express-session";
import type { OAuth2Client } from "google-auth-library";
import passport from "passport";
import { describe, expect, test } from "vitest";
import { authApps, type AuthProvider, type NextProvider, type Plugin } from "../../helpers/auth-apps.ts";
import { approve, Browser } from "../../helpers/browser.ts";
import { startRelyingParty } from "../../helpers/relying-party.ts";
import { answerOf, sources, vendorGuide } from "../../helpers/vendor-guide.ts";

/** The libraries of apps that have "Sign in with Google" built in, unmodified, with the lines of docs/vendors.md. */

const { app, url } = await startRelyingParty();
const { example, lines, serveFor } = vendorGuide();
const apps = authApps(app, url);

describe("google-auth-library", async () => {
  const idp = await serveFor("google", `${url}/callback`);
  const { google } = await example<{ google: OAuth2Client }>("Google", "google-auth-library");
  const begin = (more: object = {}) =>
    google.generateAuthUrl({ scope: ["openid", "email", "profile"], access_type: "offline", ...more });

  test("signs in, verifies the ID token by the certificates, refreshes twice, and revokes", async () => {
    const { code = "" } = await answerOf(begin());
    const { tokens } = await google.getToken(code);
    const ticket = await google.verifyIdToken({ idToken: tokens.id_token ?? "", audience: "shop" });
    expect(ticket.getPayload()).toMatchObject({ email: "alice@example.com", hd: "example.com", name: "Alice Adams" });
    google.setCredentials(tokens);
    for (let round = 0; round < 2; round += 1) {
      const { credentials } = await google.refreshAccessToken();
      expect(credentials.refresh_token).toBe(tokens.refresh_token);
    }
    await google.revokeToken(tokens.access_token ?? "");
    await expect(google.refreshAccessToken()).rejects.toMatchObject({ response: { data: { error: "invalid_grant" } } });
    await expect(google.revokeToken("ya29.unknown")).rejects.toMatchObject({ response: { status: 400 } });
  });

  test("a second sign-in has no refresh token, and after a revocation in the account it has one", async () => {
    await idp.revoke({ user: "alice", client: "shop" });
    const tokens = async () => (await google.getToken((await answerOf(begin()))["code"] ?? "")).tokens;
    const first = await tokens();
    expect(first.refresh_token).toBeTypeOf("string");
    expect((await tokens()).refresh_token).toBeUndefined();
    await idp.revoke({ user: "alice", client: "shop" });
    google.setCredentials(first);
    await expect(google.refreshAccessToken()).rejects.toMatchObject({ response: { data: { error: "invalid_grant" } } });
    expect((await tokens()).refresh_token).toBeTypeOf("string");
  });

  test("a code that was used is refused", async () => {
    const { code = "" } = await answerOf(begin());
    await google.getToken(code);
    await expect(google.getToken(code)).rejects.toMatchObject({ response: { data: { error: "invalid_grant" } } });
  });
});

describe("passport-google-oauth20", async () => {
  const idp = await serveFor("google", `${url}/passport`);
  const { strategy } = await example<{ strategy: passport.Strategy }>("Google", "passport-google-oauth20");
  passport.use("google", strategy);
  passport.serializeUser((user, done) => {
    done(null, user);
  });
  passport.deserializeUser((user: Express.User, done) => {
    done(null, user);
  });
  app.use(session({ secret: "of the test", resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
  app.use(passport.session());
  app.get("/passport/login", passport.authenticate("google") as RequestHandler);
  app.get(
    "/passport",
    passport.authenticate("google", {
      successRedirect: "/passport/me",
      failureRedirect: "/passport/failed",
    }) as RequestHandler,
  );
  app.get("/passport/me", (req, res) => {
    res.json(req.user ?? null);
  });
  app.get("/passport/failed", (_req, res) => {
    res.status(401).json({ failed: true });
  });

  test("signs in, and a user who denies is not signed in", async () => {
    const browser = new Browser(idp.issuer, url);
    const me = await approve(browser, await browser.open(`${url}/passport/login`));
    expect(JSON.parse(me.body)).toMatchObject({ displayName: "Alice Adams", emails: [{ value: "alice@example.com" }] });
    const other = new Browser(idp.issuer, url);
    const consent = await other.press(await other.open(`${url}/passport/login`), "login-as-bob");
    expect((await other.press(consent, "consent-deny")).status).toBe(401);
  });
});

test.each(sources)("arctic, with the lines of %s", async (source) => {
  const idp = await serveFor("google", `${url}/arctic`);
  interface Arctic {
    begin: (state: string, verifier: string) => URL;
    finish: (code: string, verifier: string) => Promise<{ accessToken(): string; idToken(): string }>;
  }
  const { begin, finish } = await lines<Arctic>(source, idp, "Google", "arctic");
  const verifier = "v".repeat(43);
  const { code = "", state } = await answerOf(begin("s1", verifier));
  expect(state).toBe("s1");
  expect((await finish(code, verifier)).accessToken()).toMatch(/^ya29\./);
  await expect(finish(code, verifier)).rejects.toThrow("invalid_grant");
});

const signedIn = { user: { name: "Alice Adams", email: "alice@example.com" } };

test.each(sources)("better-auth, with the lines of %s", async (source) => {
  const idp = await serveFor("google", `${url}/api/auth/callback/google`);
  const { plugin } = await lines<{ plugin: Plugin }>(source, idp, "Google", "better-auth");
  expect(await apps.betterAuth(idp.issuer, "google", plugin)).toMatchObject(signedIn);
});

test.each(sources)("Auth.js, with the lines of %s", async (source) => {
  const idp = await serveFor("google", `${url}/auth/callback/google`);
  const { provider } = await lines<{ provider: AuthProvider }>(source, idp, "Google", "@auth/express");
  expect(await apps.authjs(idp.issuer, "google", provider)).toMatchObject(signedIn);
});

test.each(sources)("next-auth 4, with the lines of %s", async (source) => {
  const idp = await serveFor("google", `${url}/api/next/callback/google`);
  const { provider } = await lines<{ provider: NextProvider }>(source, idp, "Google", "next-auth");
  expect(await apps.nextAuth(idp.issuer, "google", provider)).toMatchObject(signedIn);
});
