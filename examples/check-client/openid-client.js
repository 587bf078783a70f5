import { randomUUID } from "node:crypto";
import express from "express";
import * as client from "openid-client";

/** An app with openid-client, as its documentation shows it: PKCE, state and nonce, each kept in the session. */

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI, PORT } = process.env;
const config = await client.discovery(new URL(OIDC_ISSUER), OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, undefined, {
  execute: [client.allowInsecureRequests],
});
const sessions = new Map();
const sessionOf = (req) => sessions.get(/sid=([\w-]+)/.exec(req.headers.cookie ?? "")?.[1]);
/** Begins a session, whose id nobody knows from before. */
const begin = (res, session) => {
  const sid = randomUUID();
  sessions.set(sid, session);
  res.cookie("sid", sid, { httpOnly: true, sameSite: "lax" });
};

const app = express();
app.get("/login", async (_req, res) => {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
  };
  begin(res, { checks });
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: OIDC_REDIRECT_URI,
    scope: "openid profile email",
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  res.redirect(address.href);
});
app.get("/callback", async (req, res) => {
  const session = sessionOf(req);
  const checks = session?.checks;
  if (checks === undefined) {
    res.status(400).send("No sign-in is under way.");
    return;
  }
  delete session.checks;
  const url = new URL(req.originalUrl, OIDC_REDIRECT_URI);
  const tokens = await client.authorizationCodeGrant(config, url, { ...checks, idTokenExpected: true });
  const { sub } = tokens.claims();
  begin(res, { user: await client.fetchUserInfo(config, tokens.access_token, sub) });
  res.redirect("/me");
});
app.get("/me", (req, res) => {
  const user = sessionOf(req)?.user;
  if (user === undefined) res.status(401).end();
  else res.json(user);
});
app.use((error, _req, res, _next) => {
  res.status(400).send(String(error.message));
});
app.listen(Number(PORT), "localhost");
