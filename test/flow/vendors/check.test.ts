import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idp, newFolder } from "../../helpers/cli.ts";
import { freePort } from "../../helpers/port.ts";
import { repository } from "../../helpers/readme.ts";

/** `idp check client` with apps that have a vendor built in: what the vendor does not have is not reached, and the reason is said. */

/** An app with one button, by passport. */
const appOf = (strategy: string, scope: string) => `
import express from "express";
import session from "express-session";
import passport from "passport";
import { Strategy } from "${strategy}";
const { OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI, AUTHORIZATION_URL, TOKEN_URL, USERINFO_URL } = process.env;
const strategy = new Strategy({
  clientID: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET, callbackURL: OIDC_REDIRECT_URI,
  authorizationURL: AUTHORIZATION_URL, tokenURL: TOKEN_URL, userProfileURL: USERINFO_URL,
  scope: ${scope}, state: true,
}, (accessToken, refreshToken, profile, done) => done(null, { id: profile.id, name: profile.displayName }));
strategy._oauth2.useAuthorizationHeaderforGET(true);
passport.use("vendor", strategy);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));
const app = express();
app.use(session({ secret: "of the test", resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
app.use(passport.session());
app.get("/login", passport.authenticate("vendor"));
app.get("/callback", passport.authenticate("vendor", { successRedirect: "/me", failureRedirect: "/failed" }));
app.get("/me", (req, res) => (req.user ? res.send("Hello " + req.user.name + ", number " + req.user.id) : res.status(401).send("Nobody")));
app.get("/failed", (req, res) => res.status(401).send("Failed"));
app.listen(new URL(OIDC_REDIRECT_URI).port);
`;

interface Case {
  readonly name: string;
  readonly verdict: string;
  readonly did: string;
}

async function check(endpoints: string, app: string, names: readonly string[]): Promise<ReadonlyMap<string, Case>> {
  const cwd = newFolder();
  const url = `http://localhost:${await freePort()}`;
  const clients = [{ client_id: "shop", client_secret: "the-secret-of-the-shop", redirect_uris: [`${url}/callback`] }];
  const fixtures = { users: [{ username: "alice", displayName: "Alice Adams" }], clients, settings: { endpoints } };
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  writeFileSync(join(cwd, "app.mjs"), app);
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"));
  const at = ["--start", `${url}/login`, "--signed-in", `${url}/me`];
  const { stdout, stderr } = await idp(
    [
      "check",
      "client",
      "--json",
      ...at,
      ...names.flatMap((name) => ["--case", name]),
      "--",
      process.execPath,
      "app.mjs",
    ],
    { cwd },
  );
  expect(stdout, stderr).toMatch(/^\{/);
  const { cases } = JSON.parse(stdout) as { readonly cases: readonly Case[] };
  return new Map(cases.map((one) => [one.name, one]));
}

test("an app with GitHub: what GitHub does not have is not reached, and the rest is checked", async () => {
  const found = await check("github", appOf("passport-github2", '["read:user"]'), [
    ...["login-csrf", "callback-replayed", "id-token.not-read", "id-token.nonce-wrong", "userinfo.sub-wrong"],
    ...["token.token-type-wrong", "keys.keys-empty", "discovery.issuer-mismatch", "keys-rotated"],
  ]);
  const verdicts = Object.fromEntries([...found].map(([name, { verdict }]) => [name, verdict]));
  expect(verdicts).toMatchObject({
    control: "works",
    "login-csrf": "noticed",
    "callback-replayed": "noticed",
    "id-token.not-read": "not-reached",
    "id-token.nonce-wrong": "not-reached",
    "userinfo.sub-wrong": "not-reached",
    // The flaw was in the response, which is a form.
    "token.token-type-wrong": "unnoticed",
    "keys.keys-empty": "not-reached",
    "discovery.issuer-mismatch": "not-reached",
    "keys-rotated": "not-reached",
  });
  for (const name of ["id-token.not-read", "keys.keys-empty", "discovery.issuer-mismatch", "keys-rotated"])
    expect(found.get(name)?.did).toContain("GitHub is OAuth 2.0 without OpenID Connect");
  expect(found.get("userinfo.sub-wrong")?.did).toContain("has no sub");
});

test("an app with GitHub that sends no state is unnoticed", async () => {
  const app = appOf("passport-github2", '["read:user"]').replace("state: true", "state: false");
  const found = await check("github", app, ["state-fresh", "login-csrf"]);
  expect(found.get("login-csrf")?.verdict).toBe("unnoticed");
  expect(found.get("state-fresh")?.verdict).toBe("unnoticed");
});

test("an app with Google: flaws of UserInfo and a revocation are as with any issuer", async () => {
  const app = appOf("passport-google-oauth20", '["openid", "profile"]');
  const found = await check("google", app, ["login-csrf", "userinfo.sub-missing", "userinfo.sub-wrong"]);
  expect(found.get("control")?.verdict).toBe("works");
  expect(found.get("login-csrf")?.verdict).toBe("noticed");
  expect(found.get("id-token.not-read")?.verdict).toBe("not-required");
  expect(found.get("userinfo.sub-missing")?.did).toContain("--signed-in does not show");
  expect(found.get("userinfo.sub-wrong")).toMatchObject({
    verdict: "not-required",
    did: "took the user from UserInfo: the app does not read the ID token (see id-token.not-read)",
  });
});
