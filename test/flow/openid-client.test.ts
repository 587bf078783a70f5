import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair } from "jose";
import * as client from "openid-client";
import { afterAll, describe, expect, test } from "vitest";
import { approve, Browser, formsOf } from "../helpers/browser.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";

/** openid-client 6, unmodified, is given the issuer and finds the rest by discovery. */

const callback = "http://localhost:3000/callback";
const aliceId = "7123456789012345678";
const key = await generateKeyPair("ES256");
const cwd = newFolder(afterAll);
const app = { client_secret: "a-secret-of-32-characters-or-more", redirect_uris: [callback] };
writeFileSync(
  join(cwd, "idp.fixtures.json"),
  JSON.stringify({
    users: [{ username: "alice", id: aliceId, email: "alice@example.com" }],
    clients: [
      { ...app, client_id: "app" },
      { ...app, client_id: "app-es256", id_token_signed_response_alg: "ES256" },
      { ...app, client_id: "app-jwt", token_endpoint_auth_method: "client_secret_jwt" },
      {
        client_id: "app-key",
        redirect_uris: [callback],
        token_endpoint_auth_method: "private_key_jwt",
        jwks: { keys: [await exportJWK(key.publicKey)] },
      },
      { client_id: "spa", redirect_uris: [callback] },
      { client_id: "service", client_secret: app.client_secret, grant_types: ["client_credentials"] },
      { client_id: "tv", grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"] },
    ],
    scopes: { "orders:read": { description: { en: "See your orders" } } },
  }),
);
const idp = await startIdp(["--memory", "--dynamic-registration"], { cwd }, afterAll);

// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const plainHttp = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] };

const discover = (clientId: string, authentication: client.ClientAuth, metadata?: Partial<client.ClientMetadata>) =>
  client.discovery(new URL(idp.issuer), clientId, metadata, authentication, plainHttp);

const discoverApp = () => discover("app", client.ClientSecretPost(app.client_secret));

/** A request with everything that a careful client sends, and what the answer has to fit. */
async function newRequest(scope: string, more: Readonly<Record<string, string>> = {}) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const checks = {
    pkceCodeVerifier,
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
    idTokenExpected: true,
  };
  const parameters = {
    redirect_uri: callback,
    scope,
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    ...more,
  };
  return { parameters, checks };
}

async function signIn(config: client.Configuration, scope: string) {
  const { parameters, checks } = await newRequest(scope);
  const browser = new Browser(idp.issuer);
  const { left } = await approve(browser, await browser.open(client.buildAuthorizationUrl(config, parameters).href));
  if (left === null) throw new Error("the browser was not sent back");
  return client.authorizationCodeGrant(config, left, checks);
}

test("discovery, code with PKCE, ID token, UserInfo, refresh, revocation", async () => {
  const config = await discoverApp();
  const tokens = await signIn(config, "openid profile email");
  expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 1800, scope: "openid profile email" });
  expect(tokens.claims()).toMatchObject({ iss: idp.issuer, aud: "app", sub: aliceId, email: "alice@example.com" });

  expect(await client.fetchUserInfo(config, tokens.access_token, aliceId)).toMatchObject({ sub: aliceId, id: aliceId });

  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
  expect(refreshed.claims()).toMatchObject({ sub: aliceId });
  expect(refreshed.claims()).not.toHaveProperty("nonce");
  await client.fetchUserInfo(config, refreshed.access_token, aliceId);

  await client.tokenRevocation(config, refreshed.refresh_token ?? "");
  await expect(client.refreshTokenGrant(config, refreshed.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
  await expect(client.fetchUserInfo(config, refreshed.access_token, aliceId)).rejects.toMatchObject({ status: 401 });
});

test("introspection reports the state of a token to its client", async () => {
  const config = await discoverApp();
  const tokens = await signIn(config, "openid");
  expect(await client.tokenIntrospection(config, tokens.access_token)).toMatchObject({ active: true, sub: aliceId });
  await client.tokenRevocation(config, tokens.access_token);
  expect(await client.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
});

test("a denial reaches the client as access_denied", async () => {
  const config = await discoverApp();
  const { parameters, checks } = await newRequest("openid orders:read");
  const browser = new Browser(idp.issuer);
  const login = await browser.open(client.buildAuthorizationUrl(config, parameters).href);
  const { left } = await browser.press(await browser.press(login, "login-as-alice"), "consent-deny");
  await expect(client.authorizationCodeGrant(config, left ?? new URL(callback), checks)).rejects.toMatchObject({
    error: "access_denied",
    error_description: "The user denied the request",
  });
});

describe("client authentication", () => {
  const secret = app.client_secret;
  const methods = [
    { method: "client_secret_post", clientId: "app", authentication: client.ClientSecretPost(secret) },
    { method: "client_secret_basic", clientId: "app", authentication: client.ClientSecretBasic(secret) },
    { method: "client_secret_jwt", clientId: "app-jwt", authentication: client.ClientSecretJwt(secret) },
    { method: "private_key_jwt", clientId: "app-key", authentication: client.PrivateKeyJwt(key.privateKey) },
    { method: "none", clientId: "spa", authentication: client.None() },
  ];
  test.each(methods)("$method", async ({ clientId, authentication }) => {
    const tokens = await signIn(await discover(clientId, authentication), "openid");
    expect(tokens.claims()).toMatchObject({ sub: aliceId, aud: clientId });
  });
});

test("ID tokens signed by the algorithm that the client registered", async () => {
  const authentication = client.ClientSecretPost(app.client_secret);
  const config = await discover("app-es256", authentication, { id_token_signed_response_alg: "ES256" });
  expect((await signIn(config, "openid")).claims()).toMatchObject({ sub: aliceId });
});

test("a pushed authorization request", async () => {
  const config = await discoverApp();
  const { parameters, checks } = await newRequest("openid email");
  const url = await client.buildAuthorizationUrlWithPAR(config, parameters);
  expect([...url.searchParams.keys()].sort()).toEqual(["client_id", "request_uri"]);
  const browser = new Browser(idp.issuer);
  const { left } = await approve(browser, await browser.open(url.href));
  const tokens = await client.authorizationCodeGrant(config, left ?? new URL(callback), checks);
  expect(tokens.claims()).toMatchObject({ sub: aliceId });
});

test("a response by form_post", async () => {
  const config = await discoverApp();
  const { parameters, checks } = await newRequest("openid", { response_mode: "form_post" });
  const browser = new Browser(idp.issuer);
  const page = await approve(browser, await browser.open(client.buildAuthorizationUrl(config, parameters).href));
  // What the page posts by itself, as the client's server receives it.
  const [form] = formsOf(page.body);
  expect(form).toMatchObject({ action: callback, method: "POST" });
  const posted = new Request(callback, {
    method: "POST",
    body: new URLSearchParams(Object.fromEntries(form?.fields ?? [])),
  });
  expect((await client.authorizationCodeGrant(config, posted, checks)).claims()).toMatchObject({ sub: aliceId });
});

test("client credentials: a token without a user", async () => {
  const config = await discover("service", client.ClientSecretBasic(app.client_secret));
  const tokens = await client.clientCredentialsGrant(config, { scope: "orders:read" });
  expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 1800, scope: "orders:read" });
  expect(tokens).not.toHaveProperty("refresh_token");
  expect(tokens).not.toHaveProperty("id_token");
  await expect(client.fetchUserInfo(config, tokens.access_token, "service")).rejects.toMatchObject({
    status: 403,
  });
});

test("the device flow: the code is typed on another screen", async () => {
  const config = await discover("tv", client.None());
  const device = await client.initiateDeviceAuthorization(config, { scope: "openid email" });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(device.verification_uri);
  const typed = await browser.press(await browser.press(login, "login-as-alice"), "device-submit", {
    user_code: device.user_code,
  });
  const done = await browser.press(typed, "device-allow");
  expect(done).toMatchObject({ page: "device", state: "done" });
  // It waits before it asks for the first time. The user has decided already.
  expect(device.interval).toBe(5);
  const tokens = await client.pollDeviceAuthorizationGrant(config, { ...device, interval: 1 });
  expect(tokens.claims()).toMatchObject({ sub: aliceId, aud: "tv" });
  expect(await client.refreshTokenGrant(config, tokens.refresh_token ?? "")).toHaveProperty("access_token");
});

test("a client that registers itself", async () => {
  const config = await client.dynamicClientRegistration(
    new URL(idp.issuer),
    { redirect_uris: [callback], client_name: "Just arrived" },
    undefined,
    plainHttp,
  );
  expect(config.clientMetadata().client_id).toEqual(expect.any(String));
  expect((await signIn(config, "openid")).claims()).toMatchObject({ sub: aliceId });
});
