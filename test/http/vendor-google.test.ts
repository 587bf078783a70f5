import { X509Certificate } from "node:crypto";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import type { Idp } from "../../src/index.ts";
import { callback, jwtPart } from "../helpers/client.ts";
import { addressOf, bearer, postForm, send, serveVendor, visit, type Parameters } from "../helpers/vendor-app.ts";

/** What Google does its own way. */

const credentials = { client_id: "shop", client_secret: "the-secret-of-the-shop" };

const authorizeAt = ({ issuer }: Idp, change: Parameters = {}): string =>
  addressOf(`${issuer}/o/oauth2/v2/auth`, {
    response_type: "code",
    client_id: "shop",
    redirect_uri: callback,
    scope: "openid email profile",
    state: "s1",
    ...change,
  });

const exchange = ({ issuer }: Idp, code = "") =>
  postForm(`${issuer}/token`, { ...credentials, grant_type: "authorization_code", code, redirect_uri: callback });

const refresh = ({ issuer }: Idp, token: string) =>
  postForm(`${issuer}/token`, { ...credentials, grant_type: "refresh_token", refresh_token: token });

async function signIn(
  idp: Idp,
  change: Parameters = {},
  user = "alice",
  browser?: Awaited<ReturnType<typeof visit>>["browser"],
) {
  const response = await visit(authorizeAt(idp, change), { user, ...(browser !== undefined && { browser }) });
  const { json } = await exchange(idp, response.parameters["code"]);
  return { ...response, json };
}

describe("google", () => {
  let idp: Idp;
  beforeAll(async () => {
    idp = await serveVendor("google");
  });

  test("discovery has Google's addresses", async () => {
    const { json } = await send(`${idp.issuer}/.well-known/openid-configuration`);
    expect(json).toMatchObject({
      issuer: idp.issuer,
      authorization_endpoint: `${idp.issuer}/o/oauth2/v2/auth`,
      token_endpoint: `${idp.issuer}/token`,
      userinfo_endpoint: `${idp.issuer}/v1/userinfo`,
      revocation_endpoint: `${idp.issuer}/revoke`,
      jwks_uri: `${idp.issuer}/oauth2/v3/certs`,
    });
  });

  test("the access token is opaque, and UserInfo and the operator know it", async () => {
    const { json } = await signIn(idp);
    expect(json.access_token).toMatch(/^ya29\.[\w-]{43}$/);
    const info = await send(`${idp.issuer}/v1/userinfo`, bearer(json.access_token));
    expect(info.json).toEqual({
      sub: jwtPart(json.id_token, 1)["sub"],
      hd: "example.com",
      name: "Alice Adams",
      given_name: "Alice",
      family_name: "Adams",
      picture: expect.stringContaining("/avatars/") as string,
      email: "alice@example.com",
      email_verified: true,
      // Claims of the fixture that Google does not know are given as they are.
      github_id: 583231,
      github_orgs: ["octo-org"],
      groups: ["admins"],
    });
    expect(await idp.call("token.introspect", { token: json.access_token })).toMatchObject({
      active: true,
      username: "alice",
      client_id: "shop",
    });
  });

  test("no token is in the ledger", async () => {
    const { json } = await signIn(idp);
    await send(`${idp.issuer}/v1/userinfo`, bearer(json.access_token));
    await send(`${idp.issuer}/revoke?token=${json.access_token}`, { method: "POST" });
    const ledger = JSON.stringify(await idp.call("requests.list", {}));
    expect(ledger).not.toContain(json.access_token.slice(5));
  });

  test("the ID token has Google's claims, and how the user signed in only if asked", async () => {
    const { json } = await signIn(idp, { nonce: "n1" });
    const claims = jwtPart(json.id_token, 1);
    expect(claims).toMatchObject({
      azp: "shop",
      aud: "shop",
      nonce: "n1",
      hd: "example.com",
      email: "alice@example.com",
    });
    for (const name of ["acr", "amr", "auth_time", "preferred_username", "locale"])
      expect(claims).not.toHaveProperty(name);
    const asked = await signIn(idp, {
      max_age: "3600",
      acr_values: "urn:x",
      claims: JSON.stringify({ id_token: { amr: null } }),
    });
    expect(jwtPart(asked.json.id_token, 1)).toMatchObject({
      auth_time: expect.any(Number) as number,
      acr: expect.any(String) as string,
      amr: expect.any(Array) as unknown[],
    });
  });

  test("the keys are a JWK Set, and certificates by kid that verify the same", async () => {
    const { json } = await signIn(idp);
    await jwtVerify(json.id_token, createRemoteJWKSet(new URL(`${idp.issuer}/oauth2/v3/certs`)), {
      issuer: idp.issuer,
    });
    const certificates = await send(`${idp.issuer}/oauth2/v1/certs`);
    const { publicKey } = new X509Certificate(certificates.json[String(jwtPart(json.id_token, 0)["kid"])] as string);
    await jwtVerify(json.id_token, publicKey, { issuer: idp.issuer });
  });

  test("a refresh token comes with access_type=offline at the first consent, or with prompt=consent", async () => {
    const fresh = await serveVendor("google");
    const first = await signIn(fresh, { access_type: "offline" });
    expect(first.json).toHaveProperty("refresh_token");
    const again = await signIn(fresh, { access_type: "offline" });
    expect(again.json).not.toHaveProperty("refresh_token");
    expect(again.json).toHaveProperty("id_token");
    expect((await signIn(fresh, { access_type: "offline", prompt: "consent" })).json).toHaveProperty("refresh_token");
    expect((await signIn(fresh, { prompt: "consent" })).json).not.toHaveProperty("refresh_token");
    expect((await signIn(fresh, {}, "bob")).json).not.toHaveProperty("refresh_token");
    const last = ((await fresh.call("requests.list", { endpoint: "token" })) as readonly { outcome: string }[]).at(-1);
    expect(last?.outcome).toContain("access_type=offline");
  });

  test("a refresh answers without a refresh token, and the old one stays good", async () => {
    const fresh = await serveVendor("google");
    const { json } = await signIn(fresh, { access_type: "offline" });
    for (let round = 0; round < 2; round += 1) {
      const refreshed = await refresh(fresh, json.refresh_token);
      expect(refreshed).toMatchObject({ status: 200 });
      expect(refreshed.json).toHaveProperty("access_token");
      expect(refreshed.json).not.toHaveProperty("refresh_token");
    }
  });

  test("refresh_rotation: on wins: the answer has the new refresh token, and the old one is used up", async () => {
    const fresh = await serveVendor("google", { refresh_rotation: "on" });
    const { json } = await signIn(fresh, { access_type: "offline" });
    const rotated = await refresh(fresh, json.refresh_token);
    expect(rotated.json.refresh_token).not.toBe(json.refresh_token);
    expect((await refresh(fresh, json.refresh_token)).json.error).toBe("invalid_grant");
  });

  test("revocation needs no credentials, takes the token from the query, and ends the refresh token too", async () => {
    const fresh = await serveVendor("google");
    const { json } = await signIn(fresh, { access_type: "offline" });
    const revoked = await send(`${fresh.issuer}/revoke?token=${json.access_token}`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from("shop:wrong").toString("base64")}` },
    });
    expect(revoked.status).toBe(200);
    expect((await send(`${fresh.issuer}/v1/userinfo`, bearer(json.access_token))).status).toBe(401);
    expect((await refresh(fresh, json.refresh_token)).json.error).toBe("invalid_grant");
  });

  test("revocation of an unknown token is 400 invalid_token", async () => {
    const unknown = await postForm(`${idp.issuer}/revoke`, { token: `ya29.${"x".repeat(43)}` });
    expect(unknown).toMatchObject({ status: 400, json: { error: "invalid_token" } });
  });

  test("after a revocation in the account, the refresh token is invalid_grant and UserInfo refuses", async () => {
    const fresh = await serveVendor("google");
    const { json } = await signIn(fresh, { access_type: "offline" });
    await fresh.revoke({ user: "alice", client: "shop" });
    expect(await refresh(fresh, json.refresh_token)).toMatchObject({
      status: 400,
      json: { error: "invalid_grant" },
    });
    expect((await send(`${fresh.issuer}/v1/userinfo`, bearer(json.access_token))).status).toBe(403);
    // A new first consent, so a new refresh token.
    expect((await signIn(fresh, { access_type: "offline" })).json).toHaveProperty("refresh_token");
  });

  test("hd narrows the picker, and keeps nobody out", async () => {
    const { login } = await visit(authorizeAt(idp, { hd: "example.com" }));
    expect(login).toContain("login-as-alice");
    expect(login).not.toContain("login-as-bob");
    // A session that is there stays: the app checks the claim.
    const { browser } = await signIn(idp, {}, "bob");
    const other = await signIn(idp, { hd: "example.com" }, "bob", browser);
    expect(jwtPart(other.json.id_token, 1)).not.toHaveProperty("hd");
    expect(jwtPart(other.json.id_token, 1)["email"]).toBe("bob@example.org");
  });

  test("a refused code is invalid_grant, and a wrong secret invalid_client", async () => {
    expect(await exchange(idp, "nonsense")).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
    const wrong = await postForm(`${idp.issuer}/token`, {
      ...credentials,
      client_secret: "no",
      grant_type: "refresh_token",
    });
    expect(wrong).toMatchObject({ status: 401, json: { error: "invalid_client" } });
  });
});

test("an access token of google outlives a snapshot, is in no export, and ends with expire", async () => {
  const idp = await serveVendor("google");
  const { json } = await signIn(idp);
  const info = () => send(`${idp.issuer}/v1/userinfo`, bearer(json.access_token));
  await idp.call("snapshots.save", { name: "s" });
  const state = await idp.call("export", {});
  expect(JSON.stringify(state)).not.toContain(json.access_token.slice(5));
  await idp.call("snapshots.restore", { name: "s" });
  expect((await info()).status).toBe(200);
  await idp.call("expire", { all: true, access: true });
  expect(await info()).toMatchObject({
    status: 401,
    json: { error_description: expect.stringContaining("expired") as string },
  });
});
