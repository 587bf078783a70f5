import * as oauth from "oauth4webapi";
import { afterAll, expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";

/** oauth4webapi 3, unmodified, against the built-in demo: each step checked by the client itself. */

const idp = await startIdp(["--memory"], { cwd: newFolder(afterAll) }, afterAll);
// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const http = { [oauth.allowInsecureRequests]: true };
const aliceId = "7123456789012345678";

const demos = [
  {
    client_id: "demo-app",
    callback: "http://localhost:3000/callback",
    authentication: oauth.ClientSecretBasic("demo-secret"),
  },
  { client_id: "demo-spa", callback: "http://localhost:5173/callback", authentication: oauth.None() },
  // A registered port * stands for whichever is free (RFC 8252 7.3).
  { client_id: "idp-cli", callback: "http://127.0.0.1:53682/callback", authentication: oauth.None() },
];

test.each(["oidc", "oauth2"] as const)("discovery of %s", async (algorithm) => {
  const issuer = new URL(idp.issuer);
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm, ...http }),
  );
  expect(server.authorization_response_iss_parameter_supported).toBe(true);
});

test.each(demos)(
  "$client_id: code with PKCE, ID token, UserInfo, refresh, revocation",
  async ({ client_id, callback, authentication }) => {
    const issuer = new URL(idp.issuer);
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http));
    const client: oauth.Client = { client_id };

    const verifier = oauth.generateRandomCodeVerifier();
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
    const url = new URL(server.authorization_endpoint ?? "");
    url.search = new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri: callback,
      scope: "openid email social",
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      max_age: "600",
    }).toString();
    const browser = new Browser(idp.issuer);
    const { left } = await approve(browser, await browser.open(url.href));

    const answer = oauth.validateAuthResponse(server, client, left ?? new URL(callback), state);
    const exchanged = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      answer,
      callback,
      verifier,
      http,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged, {
      expectedNonce: nonce,
      maxAge: 600,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, exchanged, http);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    expect(claims).toMatchObject({ sub: aliceId, nonce });

    const userInfo = async (accessToken: string) =>
      oauth.processUserInfoResponse(
        server,
        client,
        claims?.sub ?? "",
        await oauth.userInfoRequest(server, client, accessToken, http),
      );
    expect(await userInfo(tokens.access_token)).toMatchObject({
      sub: aliceId,
      user: { username: "alice", email: { username: "alice", domain: "example.com", isVerified: true } },
    });

    const refreshing = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      tokens.refresh_token ?? "",
      http,
    );
    const refreshed = await oauth.processRefreshTokenResponse(server, client, refreshing);
    await oauth.validateApplicationLevelSignature(server, refreshing, http);
    await userInfo(refreshed.access_token);

    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, authentication, refreshed.refresh_token ?? "", http),
    );
    for (const dead of [tokens, refreshed]) {
      await expect(userInfo(dead.access_token)).rejects.toThrow(oauth.WWWAuthenticateChallengeError);
    }
  },
);
