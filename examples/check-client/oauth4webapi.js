import { randomUUID } from "node:crypto";
import express from "express";
import * as oauth from "oauth4webapi";

/** An app with oauth4webapi, as its examples show it: PKCE, state and nonce, each kept in the session. */

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI, PORT } = process.env;
const http = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(OIDC_ISSUER);
const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http));
const client = { client_id: OIDC_CLIENT_ID };
const authentication = oauth.ClientSecretPost(OIDC_CLIENT_SECRET);
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
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
  };
  begin(res, { checks });
  const address = new URL(as.authorization_endpoint);
  address.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: OIDC_REDIRECT_URI,
    response_type: "code",
    scope: "openid profile email",
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: "S256",
  }).toString();
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
  const parameters = oauth.validateAuthResponse(as, client, url, checks.state);
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    authentication,
    parameters,
    OIDC_REDIRECT_URI,
    checks.verifier,
    http,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, {
    expectedNonce: checks.nonce,
    requireIdToken: true,
  });
  const { sub } = oauth.getValidatedIdTokenClaims(tokens);
  const userinfo = await oauth.userInfoRequest(as, client, tokens.access_token, http);
  begin(res, { user: await oauth.processUserInfoResponse(as, client, sub, userinfo) });
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
