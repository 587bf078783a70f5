import * as oauth from "oauth4webapi";
import * as client from "openid-client";
import { afterAll, expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";

/** Clients with DPoP that are asked for a nonce (RFC 9449 8, 9): unmodified, at the token endpoint and at UserInfo. */

const idp = await startIdp(["--memory", "--dpop-nonce", "required"], { cwd: newFolder(afterAll) }, afterAll);
const callback = "http://localhost:3000/callback";
const aliceId = "7123456789012345678";

/** Each POST to the token endpoint and each call of UserInfo, with its error. */
function recorder() {
  const seen: string[] = [];
  const send = async (url: string, init: object): Promise<Response> => {
    const response = await fetch(url, init);
    const { error } = (await response.clone().json()) as { readonly error?: string };
    seen.push(`${new URL(url).pathname.split("/").at(-1) ?? ""} ${error ?? response.status}`);
    return response;
  };
  return { seen, send };
}

test("openid-client signs in, reads UserInfo and refreshes", async () => {
  const { seen, send } = recorder();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
  const plainHttp = { execute: [client.allowInsecureRequests] };
  const config = await client.discovery(new URL(idp.issuer), "demo-app", "demo-secret", undefined, plainHttp);
  const keys = await client.randomDPoPKeyPair("ES256");
  const DPoP = client.getDPoPHandle(config, keys);
  config[client.customFetch] = send;
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: "openid email",
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    dpop_jkt: await DPoP.calculateThumbprint(),
  });
  const browser = new Browser(idp.issuer);
  const { left } = await approve(browser, await browser.open(url.href));
  const tokens = await client.authorizationCodeGrant(config, left ?? url, { pkceCodeVerifier }, undefined, { DPoP });
  // A handle that knows no nonce: the client is asked for one again.
  const fresh = client.getDPoPHandle(config, keys);
  const userinfo = await client.fetchUserInfo(config, tokens.access_token, aliceId, { DPoP: fresh });
  expect(userinfo).toMatchObject({ email: "alice@example.com" });
  await client.refreshTokenGrant(config, tokens.refresh_token ?? "", undefined, { DPoP });
  expect(seen).toEqual([
    ...["token use_dpop_nonce", "token 200"],
    ...["userinfo use_dpop_nonce", "userinfo 200"],
    "token 200",
  ]);
});

test("oauth4webapi is asked at each endpoint, and repeats the request with the nonce", async () => {
  const { seen, send } = recorder();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
  const plainHttp = { [oauth.allowInsecureRequests]: true };
  const http = { ...plainHttp, [oauth.customFetch]: send };
  const issuer = new URL(idp.issuer);
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, plainHttp));
  const app: oauth.Client = { client_id: "demo-app" };
  const authentication = oauth.ClientSecretPost("demo-secret");
  const keys = await oauth.generateKeyPair("ES256");
  const verifier = oauth.generateRandomCodeVerifier();
  /** Sends a request with a handle that knows no nonce: it is refused, and then sent again. */
  async function twice<T>(request: (DPoP: oauth.DPoPHandle) => Promise<T>): Promise<T> {
    const DPoP = oauth.DPoP(app, keys);
    return request(DPoP).catch((error: unknown) => {
      expect(oauth.isDPoPNonceError(error)).toBe(true);
      return request(DPoP);
    });
  }
  const pushed = await twice(async (DPoP) => {
    const parameters = {
      response_type: "code",
      redirect_uri: callback,
      scope: "openid email",
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    const answer = await oauth.pushedAuthorizationRequest(server, app, authentication, parameters, { ...http, DPoP });
    return oauth.processPushedAuthorizationResponse(server, app, answer);
  });
  const browser = new Browser(idp.issuer);
  const query = new URLSearchParams({ client_id: app.client_id, request_uri: pushed.request_uri });
  const { left } = await approve(
    browser,
    await browser.open(`${server.authorization_endpoint ?? ""}?${query.toString()}`),
  );
  const answer = oauth.validateAuthResponse(server, app, left ?? new URL(callback), oauth.expectNoState);
  const tokens = await twice(async (DPoP) => {
    const sent = await oauth.authorizationCodeGrantRequest(server, app, authentication, answer, callback, verifier, {
      ...http,
      DPoP,
    });
    return oauth.processAuthorizationCodeResponse(server, app, sent);
  });
  const userinfo = await twice(async (DPoP) => {
    const sent = await oauth.userInfoRequest(server, app, tokens.access_token, { ...http, DPoP });
    return oauth.processUserInfoResponse(server, app, aliceId, sent);
  });
  expect(userinfo).toMatchObject({ email: "alice@example.com" });
  expect(seen).toEqual([
    ...["par use_dpop_nonce", "par 201", "token use_dpop_nonce", "token 200"],
    ...["userinfo use_dpop_nonce", "userinfo 200"],
  ]);
});
