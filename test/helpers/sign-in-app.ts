/**
 * An app with a link "Sign in", as a reader of the guides has one: openid-client does the work. It listens on PORT, and signs in at
 * OIDC_ISSUER.
 */
export const signInApp = `
import { createServer } from "node:http";
import * as oidc from "openid-client";
const { PORT: port = "3000", OIDC_ISSUER: issuer = "http://localhost:4370" } = process.env;
const redirect_uri = "http://localhost:" + port + "/callback";
const config = await oidc.discovery(new URL(issuer), "demo-app", "demo-secret", undefined, { execute: [oidc.allowInsecureRequests] });
const verifier = oidc.randomPKCECodeVerifier();
const code_challenge = await oidc.calculatePKCECodeChallenge(verifier);
const state = oidc.randomState();
createServer(async (req, res) => {
  const url = new URL(req.url, redirect_uri);
  res.setHeader("Content-Type", "text/html");
  if (url.pathname !== "/callback") {
    const parameters = { redirect_uri, scope: "openid profile", state, code_challenge, code_challenge_method: "S256" };
    res.end('<a href="' + oidc.buildAuthorizationUrl(config, parameters).href.replaceAll("&", "&amp;") + '">Sign in</a>');
    return;
  }
  try {
    const tokens = await oidc.authorizationCodeGrant(config, url, { pkceCodeVerifier: verifier, expectedState: state });
    const { user } = await oidc.fetchUserInfo(config, tokens.access_token, oidc.skipSubjectCheck);
    res.end("<p>Hello, " + user.displayName + "</p>");
  } catch (error) {
    res.end("<p>Not signed in: " + error.error + "</p>");
  }
}).listen(Number(port), "localhost");
`;
