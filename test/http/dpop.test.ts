import { expect, test } from "vitest";
import { register, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, jwtPart, paths, pick, post, refresh, type Answer, type Body } from "../helpers/client.ts";
import { dpopApp, withProof } from "../helpers/dpop-app.ts";

/** Tokens, codes and pushed requests that are bound to the key of a proof (RFC 9449 5 and 10). */

const { another, app, bound, idp, key, redeem, renew, tokenUrl, userinfoUrl } = await dpopApp();
const parPath = "/api/v2/oauth/par";
const introspectPath = "/api/v2/oauth/introspect";

const publicApp = (): Promise<App> => register(idp, { token_endpoint_auth_method: "none" });

test("the refresh token of a public client needs its key", async () => {
  const spa = await publicApp();
  const { refresh_token } = await bound(spa);
  const withoutKey = await renew(spa, refresh_token, null);
  expect(withoutKey.json.error).toBe("invalid_grant");
  expect(withoutKey.json.error_description).toMatch(/bound to a key.*no DPoP header/);
  const otherKey = await renew(spa, refresh_token, await another.prove(tokenUrl));
  expect(otherKey.json.error).toBe("invalid_grant");
  expect(otherKey.json.error_description).toContain("another key");

  const renewed = await renew(spa, refresh_token, await key.prove(tokenUrl));
  expect(renewed.json["token_type"]).toBe("DPoP");
  expect(jwtPart(renewed.json.access_token, 1)["cnf"]).toEqual({ jkt: key.jkt });
  // The next one is bound as well.
  expect((await renew(spa, renewed.json.refresh_token, null)).json.error).toBe("invalid_grant");
  expect((await renew(spa, renewed.json.refresh_token, await key.prove(tokenUrl))).status).toBe(200);
});

test("a rotated refresh token without its key does not end the family: a thief could", async () => {
  const spa = await publicApp();
  const first = await bound(spa);
  const second = (await renew(spa, first.refresh_token, await key.prove(tokenUrl))).json;
  expect((await renew(spa, first.refresh_token, null)).json.error).toBe("invalid_grant");
  const third = await renew(spa, second.refresh_token, await key.prove(tokenUrl));
  expect(third.status).toBe(200);
  expect((await renew(spa, first.refresh_token, await key.prove(tokenUrl))).json.error_description).toMatch(/rotated/);
  expect((await renew(spa, third.json.refresh_token, await key.prove(tokenUrl))).json.error).toBe("invalid_grant");
});

test("a public client's refresh token without a key is bound by the first proof that comes with it", async () => {
  const spa = await publicApp();
  const plain = (await redeem(spa, null)).json;
  const renewed = (await renew(spa, plain.refresh_token, await key.prove(tokenUrl))).json;
  expect(renewed["token_type"]).toBe("DPoP");
  expect((await renew(spa, renewed.refresh_token, null)).json.error).toBe("invalid_grant");
});

test("the refresh token of a client that authenticates is not bound: it may change its key, or use none", async () => {
  const first = await bound();
  const second = await renew(app, first.refresh_token, await another.prove(tokenUrl));
  expect(jwtPart(second.json.access_token, 1)["cnf"]).toEqual({ jkt: another.jkt });
  const third = await refresh(idp, second.json.refresh_token, app.credentials);
  expect(third.json["token_type"]).toBe("Bearer");
});

/** An authorization code for these parameters of the request. */
const codeFor = async (change: Readonly<Record<string, string | null>>): Promise<string> =>
  (await app.signIn(change)).code;

/** Pushes a request. @returns the answer */
const push = (parameters: Readonly<Record<string, string>>, proof: string | null): Promise<Answer> => {
  const { client_id, client_secret } = app.credentials;
  const request = { response_type: "code", redirect_uri: callback, scope: "openid", client_id, ...parameters };
  return post(
    idp,
    parPath,
    {},
    {
      headers: proof === null ? {} : { dpop: proof },
      body: new URLSearchParams({ ...request, client_secret: client_secret ?? "" }),
    },
  );
};

const codeOfPushed = async (answer: Answer): Promise<string> =>
  codeFor({ request_uri: String(answer.json["request_uri"]), redirect_uri: null });

const bindings: readonly (readonly [how: string, code: () => Promise<string>])[] = [
  ["dpop_jkt of the authorization request", () => codeFor({ dpop_jkt: key.jkt })],
  ["dpop_jkt of a pushed request", async () => codeOfPushed(await push({ dpop_jkt: key.jkt }, null))],
  [
    "a DPoP header of a pushed request",
    async () => codeOfPushed(await push({}, await key.prove(idp.issuer + parPath))),
  ],
  [
    "both, which agree",
    async () => codeOfPushed(await push({ dpop_jkt: key.jkt }, await key.prove(idp.issuer + parPath))),
  ],
];

test.each(bindings)("a code is bound by %s: it needs that key", async (_how, codeOf) => {
  const code = await codeOf();
  const withoutKey = await redeem(app, null, code);
  expect(withoutKey.json.error).toBe("invalid_grant");
  expect(withoutKey.json.error_description).toMatch(/bound to a key.*no DPoP header/);
  const otherKey = await redeem(app, await another.prove(tokenUrl), code);
  expect(otherKey.json.error).toBe("invalid_grant");
  expect(otherKey.json.error_description).toContain("another key");
  const redeemed = await redeem(app, await key.prove(tokenUrl), code);
  expect(jwtPart(redeemed.json.access_token, 1)["cnf"]).toEqual({ jkt: key.jkt });
});

test("a pushed request whose dpop_jkt and DPoP header disagree is refused, and one with a bad proof", async () => {
  const disagreeing = await push({ dpop_jkt: another.jkt }, await key.prove(idp.issuer + parPath));
  expect({ status: disagreeing.status, error: disagreeing.json.error }).toEqual({
    status: 400,
    error: "invalid_dpop_proof",
  });
  expect(disagreeing.json.error_description).toContain("dpop_jkt");
  expect((await push({}, await key.prove(tokenUrl))).json.error_description).toContain("'htu'");
});

test("a dpop_jkt that is not a thumbprint is invalid_request, by redirect", async () => {
  const { back } = await app.signIn({ dpop_jkt: "short" });
  expect(back.searchParams.get("error")).toBe("invalid_request");
  expect(back.searchParams.get("error_description")).toContain("dpop_jkt");
});

test("client_credentials gives bound tokens too, and introspection tells bound tokens by cnf and token_type", async () => {
  const service = { client_id: "demo-service", client_secret: "demo-service-secret" };
  const { json } = await post(
    idp,
    paths.token,
    { grant_type: "client_credentials", ...service },
    withProof(await key.prove(tokenUrl)),
  );
  expect(json["token_type"]).toBe("DPoP");
  const introspect = async (token: string): Promise<Body> =>
    (await post(idp, introspectPath, { token, ...service })).json;
  expect(await introspect(json.access_token)).toMatchObject({
    active: true,
    token_type: "DPoP",
    cnf: { jkt: key.jkt },
  });
  const spa = await publicApp();
  expect(await introspect((await bound(spa)).refresh_token)).toMatchObject({ active: true, cnf: { jkt: key.jkt } });
  const plain = await introspect((await redeem(app, null)).json.access_token);
  expect(plain).toMatchObject({ active: true, token_type: "Bearer" });
  expect(plain).not.toHaveProperty("cnf");
});

test("a device gets bound tokens too", async () => {
  const grantType = "urn:ietf:params:oauth:grant-type:device_code";
  const tv = await register(idp, { token_endpoint_auth_method: "none", grant_types: [grantType, "refresh_token"] });
  const { client_id } = tv.credentials;
  const form = { body: new URLSearchParams({ client_id, scope: "openid" }), headers: {} };
  const begun = (await post(idp, "/api/v2/oauth/device_authorization", {}, form)).json;
  const browser = new Browser(idp.issuer);
  const page = await browser.open(String(begun["verification_uri_complete"]));
  await browser.press(await pick(browser, page, "alice"), "device-allow");
  const body = { grant_type: grantType, device_code: String(begun["device_code"]), ...tv.credentials };
  const { json } = await post(idp, paths.token, body, withProof(await key.prove(tokenUrl)));
  expect(json["token_type"]).toBe("DPoP");
  expect((await renew(tv, json.refresh_token, null)).json.error).toBe("invalid_grant");
});

test("a browser may send the DPoP header from a registered origin", async () => {
  const headers = { origin: "http://localhost:5173", "access-control-request-method": "POST" };
  for (const url of [tokenUrl, userinfoUrl]) {
    const preflight = await fetch(url, { method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-headers")).toMatch(/\bDPoP\b/);
  }
});
