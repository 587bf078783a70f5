import * as oauth from "oauth4webapi";
import { afterAll, expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";

/** oauth4webapi, unmodified, with DPoP (RFC 9449): as the client, and as a resource server that verifies by the published keys. */

const idp = await startIdp(["--memory", "--access-token-alg", "RS256"], { cwd: newFolder(afterAll) }, afterAll);
// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const http = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(idp.issuer);
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http));
const aliceId = "7123456789012345678";
const api = new URL("http://api.example.test/orders");

const demos = [
  {
    client_id: "demo-app",
    callback: "http://localhost:3000/callback",
    authentication: oauth.ClientSecretPost("demo-secret"),
  },
  { client_id: "demo-spa", callback: "http://localhost:5173/callback", authentication: oauth.None() },
];

const clients = demos.flatMap((demo) => [
  { ...demo, pushed: false },
  { ...demo, pushed: true },
]);

/** Sends a token to an API that verifies it, and the proof beside it. @returns whom it speaks for */
async function callApi(accessToken: string, DPoP: oauth.DPoPHandle): Promise<string> {
  let subject = "";
  const options = {
    ...http,
    DPoP,
    [oauth.customFetch]: async (url: string, init: oauth.CustomFetchOptions<string, unknown>) => {
      const request = new Request(url, { method: init.method, headers: init.headers });
      const verified = await oauth.validateJwtAccessToken(server, request, idp.issuer, { ...http, requireDPoP: true });
      subject = verified.sub;
      return new Response();
    },
  };
  await oauth.protectedResourceRequest(accessToken, "GET", api, new Headers(), null, options);
  return subject;
}

test.each(clients)(
  "$client_id, pushed: $pushed: a bound code, UserInfo, an API, refresh, and nobody else's key",
  async ({ client_id, callback, authentication, pushed }) => {
    const client: oauth.Client = { client_id };
    const newHandle = async () => oauth.DPoP(client, await oauth.generateKeyPair("ES256"));
    const [DPoP, thief] = [await newHandle(), await newHandle()];

    const verifier = oauth.generateRandomCodeVerifier();
    const parameters = new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri: callback,
      scope: "openid email",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    const url = new URL(server.authorization_endpoint ?? "");
    if (pushed) {
      const answer = await oauth.pushedAuthorizationRequest(server, client, authentication, parameters, {
        ...http,
        DPoP,
      });
      const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, answer);
      url.search = new URLSearchParams({ client_id, request_uri }).toString();
    } else {
      parameters.set("dpop_jkt", await DPoP.calculateThumbprint());
      url.search = parameters.toString();
    }
    const browser = new Browser(idp.issuer);
    const { left } = await approve(browser, await browser.open(url.href));
    const answer = oauth.validateAuthResponse(server, client, left ?? new URL(callback), oauth.expectNoState);

    const redeem = async (handle: oauth.DPoPHandle): Promise<oauth.TokenEndpointResponse> => {
      const options = { ...http, DPoP: handle };
      const sent = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        answer,
        callback,
        verifier,
        options,
      );
      return oauth.processAuthorizationCodeResponse(server, client, sent, { requireIdToken: true });
    };
    await expect(redeem(thief)).rejects.toMatchObject({ error: "invalid_grant" });
    const tokens = await redeem(DPoP);
    expect(tokens.token_type).toBe("dpop");

    const userInfo = async (accessToken: string, handle?: oauth.DPoPHandle): Promise<oauth.UserInfoResponse> => {
      const options = { ...http, ...(handle === undefined ? {} : { DPoP: handle }) };
      const sent = await oauth.userInfoRequest(server, client, accessToken, options);
      return oauth.processUserInfoResponse(server, client, aliceId, sent);
    };
    expect(await userInfo(tokens.access_token, DPoP)).toMatchObject({ sub: aliceId, user: { username: "alice" } });
    expect(await callApi(tokens.access_token, DPoP)).toBe(aliceId);
    await expect(userInfo(tokens.access_token, thief)).rejects.toThrow(oauth.WWWAuthenticateChallengeError);
    await expect(userInfo(tokens.access_token)).rejects.toThrow(oauth.WWWAuthenticateChallengeError);
    await expect(callApi(tokens.access_token, thief)).rejects.toThrow("confirmation mismatch");

    const options = { ...http, DPoP };
    const refreshing = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      tokens.refresh_token ?? "",
      options,
    );
    const refreshed = await oauth.processRefreshTokenResponse(server, client, refreshing);
    expect(refreshed.token_type).toBe("dpop");
    expect(await userInfo(refreshed.access_token, DPoP)).toMatchObject({ sub: aliceId });
  },
);
