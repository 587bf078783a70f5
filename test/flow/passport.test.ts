import type { RequestHandler } from "express";
import session from "express-session";
import passport from "passport";
import { Strategy } from "passport-openidconnect";
import { expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { relyingPartySecret, startIdpFor, startRelyingParty } from "../helpers/relying-party.ts";

/** passport-openidconnect, unmodified. It knows no discovery: the addresses it is given are those of the metadata. */

const { app, url } = await startRelyingParty();
const callback = `${url}/oauth2/redirect`;
const idp = await startIdpFor([callback]);
const metadata = (await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json()) as Readonly<
  Record<string, string>
>;

const strategy = new Strategy(
  {
    issuer: metadata["issuer"] ?? "",
    authorizationURL: metadata["authorization_endpoint"] ?? "",
    tokenURL: metadata["token_endpoint"] ?? "",
    userInfoURL: metadata["userinfo_endpoint"] ?? "",
    clientID: "app",
    clientSecret: relyingPartySecret,
    callbackURL: callback,
    scope: ["profile", "email"],
    nonce: "yes",
    skipUserProfile: false,
  },
  (_issuer: string, profile: passport.Profile, done: (error: Error | null, user?: Express.User) => void) => {
    done(null, profile);
  },
);
passport.use(strategy);
passport.serializeUser((user, done) => {
  done(null, user);
});
passport.deserializeUser((user: Express.User, done) => {
  done(null, user);
});
app.use(session({ secret: "of the test", resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
app.use(passport.session());
const authenticate = (where: passport.AuthenticateOptions = {}) =>
  passport.authenticate("openidconnect", where) as RequestHandler;
app.get("/login", authenticate());
app.get("/oauth2/redirect", authenticate({ successRedirect: "/", failureRedirect: "/failed" }));
app.get("/", (req, res) => {
  res.json(req.user ?? null);
});
app.get("/failed", (_req, res) => {
  res.status(401).json({ failed: true });
});

test("alice signs in; the application knows her by her sub", async () => {
  const browser = new Browser(idp.issuer, url);
  expect(JSON.parse((await browser.open(url)).body)).toBeNull();
  const home = await approve(browser, await browser.open(`${url}/login`));
  expect(home.url).toBe(`${url}/`);
  expect(JSON.parse(home.body)).toMatchObject({
    id: "7123456789012345678",
    displayName: "Alice Adams",
    username: "alice",
    emails: [{ value: "alice@example.com" }],
  });
});

test("a user who denies is not signed in", async () => {
  const browser = new Browser(idp.issuer, url);
  const consent = await browser.press(await browser.open(`${url}/login`), "login-as-bob");
  const failed = await browser.press(consent, "consent-deny");
  expect(failed).toMatchObject({ url: `${url}/failed`, status: 401 });
  expect(JSON.parse((await browser.open(url)).body)).toBeNull();
});
