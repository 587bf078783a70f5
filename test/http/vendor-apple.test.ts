import { generateKeyPairSync } from "node:crypto";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import type { Idp } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { callback, jwtPart } from "../helpers/client.ts";
import {
  addressOf,
  appleSecret,
  client,
  postForm,
  send,
  serveVendor,
  users,
  visit,
  type Parameters,
} from "../helpers/vendor-app.ts";

/** What Apple does its own way. */

const authorizeAt = ({ issuer }: Idp, change: Parameters = {}): string =>
  addressOf(`${issuer}/auth/authorize`, {
    response_type: "code",
    response_mode: "form_post",
    client_id: "shop",
    redirect_uri: callback,
    scope: "name email",
    state: "s1",
    ...change,
  });

const post = async ({ issuer }: Idp, path: string, body: Parameters) =>
  postForm(`${issuer}/auth/${path}`, { client_id: "shop", client_secret: await appleSecret(), ...body });

const exchange = (idp: Idp, code = "", change: Parameters = {}) =>
  post(idp, "token", { grant_type: "authorization_code", code, redirect_uri: callback, ...change });

async function signIn(idp: Idp, change: Parameters = {}, user = "alice") {
  const { parameters } = await visit(authorizeAt(idp, change), { user });
  return { parameters, ...(await exchange(idp, parameters["code"])) };
}

describe("apple", () => {
  let idp: Idp;
  beforeAll(async () => {
    idp = await serveVendor("apple");
  });

  test("discovery has Apple's addresses, and no UserInfo", async () => {
    const { json } = await send(`${idp.issuer}/.well-known/openid-configuration`);
    expect(json).toMatchObject({
      issuer: idp.issuer,
      authorization_endpoint: `${idp.issuer}/auth/authorize`,
      token_endpoint: `${idp.issuer}/auth/token`,
      revocation_endpoint: `${idp.issuer}/auth/revoke`,
      jwks_uri: `${idp.issuer}/auth/keys`,
      scopes_supported: ["openid", "name", "email"],
      // Libraries that know others take Basic, which Apple refuses.
      token_endpoint_auth_methods_supported: ["client_secret_post", "none"],
    });
    expect(json).not.toHaveProperty("userinfo_endpoint");
    expect((await send(`${idp.issuer}/api/v2/oauth/userinfo`)).status).toBe(404);
  });

  test("the ID token has Apple's claims", async () => {
    const { json } = await signIn(idp, { nonce: "n1" });
    const { payload } = await jwtVerify(json.id_token, createRemoteJWKSet(new URL(`${idp.issuer}/auth/keys`)), {
      issuer: idp.issuer,
      audience: "shop",
    });
    expect(payload).toMatchObject({
      nonce: "n1",
      nonce_supported: true,
      email: "alice@example.com",
      email_verified: true,
      is_private_email: false,
      auth_time: expect.any(Number) as number,
    });
    for (const name of ["acr", "amr", "name", "picture", "private_email"]) expect(payload).not.toHaveProperty(name);
    expect(json.access_token).toMatch(/^[\w-]{43}$/);
  });

  test("user comes once, and again after a revocation", async () => {
    const fresh = await serveVendor("apple");
    const first = await signIn(fresh);
    expect(JSON.parse(first.parameters["user"] ?? "")).toEqual({
      name: { firstName: "Alice", lastName: "Adams" },
      email: "alice@example.com",
    });
    expect((await signIn(fresh)).parameters).not.toHaveProperty("user");
    await fresh.revoke({ user: "alice", client: "shop" });
    expect((await signIn(fresh)).parameters).toHaveProperty("user");
    expect((await signIn(fresh)).parameters).not.toHaveProperty("user");
  });

  test("user has what the scopes allow, and without them nothing", async () => {
    const fresh = await serveVendor("apple");
    const { parameters } = await signIn(fresh, { scope: "name" });
    expect(JSON.parse(parameters["user"] ?? "")).toEqual({ name: { firstName: "Alice", lastName: "Adams" } });
    expect((await signIn(fresh, { scope: "openid" }, "bob")).parameters).not.toHaveProperty("user");
  });

  test("a private address is one at all clients, and a text is used as it is", async () => {
    const fresh = await serveVendor("apple");
    const first = await signIn(fresh, {}, "bob");
    const claims = jwtPart(first.json.id_token, 1);
    expect(claims["email"]).toMatch(/^[0-9a-f]{10}@privaterelay\.example\.com$/);
    expect(claims).toMatchObject({ is_private_email: true, email_verified: true });
    expect(JSON.parse(first.parameters["user"] ?? "")).toMatchObject({ email: claims["email"] });
    await fresh.call("clients.add", { ...client("apple"), client_id: "other" });
    const other = await visit(authorizeAt(fresh, { client_id: "other" }), { user: "bob" });
    expect(JSON.parse(other.parameters["user"] ?? "")).toMatchObject({ email: claims["email"] });
    await fresh.call("users.edit", { username: "bob", claims: { private_email: "x@privaterelay.example.com" } });
    expect(jwtPart((await signIn(fresh, {}, "bob")).json.id_token, 1)["email"]).toBe("x@privaterelay.example.com");
  });

  test("with scopes, the response has to be a form", async () => {
    for (const mode of ["query", "fragment"]) {
      const answer = await send(authorizeAt(idp, { response_mode: mode }), { redirect: "manual" });
      const location = new URL((answer.headers.get("location") ?? "").replace("#", "?"));
      expect(location.searchParams.get("error")).toBe("invalid_request");
      expect(location.searchParams.get("error_description")).toContain("form_post");
    }
    const { parameters } = await visit(authorizeAt(idp, { response_mode: "query", scope: "openid" }));
    expect(parameters).toMatchObject({ state: "s1", code: expect.any(String) as string });
  });

  test("response_type=code id_token is refused as anywhere", async () => {
    const { parameters } = await visit(authorizeAt(idp, { response_type: "code id_token" }));
    expect(parameters["error"]).toBe("unsupported_response_type");
  });

  test("a refresh answers without a refresh token, and the old one stays good", async () => {
    const { json } = await signIn(idp);
    for (let round = 0; round < 2; round += 1) {
      const refreshed = await post(idp, "token", { grant_type: "refresh_token", refresh_token: json.refresh_token });
      expect(refreshed.status).toBe(200);
      expect(refreshed.json).not.toHaveProperty("refresh_token");
      expect(refreshed.json).toHaveProperty("id_token");
    }
  });

  test("revocation, by the app or in the account, makes the refresh token invalid_grant", async () => {
    const refused = { status: 400, json: { error: "invalid_grant" } };
    const { json } = await signIn(idp);
    const refresh = (token: string) => post(idp, "token", { grant_type: "refresh_token", refresh_token: token });
    expect((await post(idp, "revoke", { token: json.refresh_token, token_type_hint: "refresh_token" })).status).toBe(
      200,
    );
    expect(await refresh(json.refresh_token)).toMatchObject(refused);
    const again = await signIn(idp);
    await idp.revoke({ user: "alice", client: "shop" });
    expect(await refresh(again.json.refresh_token)).toMatchObject(refused);
  });

  test("the issuer is an audience too, and one secret passes until it expires", async () => {
    const client_secret = await appleSecret({ aud: idp.issuer });
    for (let round = 0; round < 2; round += 1) {
      const { parameters } = await visit(authorizeAt(idp));
      expect((await exchange(idp, parameters["code"], { client_secret })).status).toBe(200);
    }
  });

  const { privateKey: otherKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const now = Math.floor(Date.now() / 1000);
  test.each<[what: string, says: RegExp, secret: () => Promise<string>]>([
    ["another team", /its iss is/, () => appleSecret({ iss: "OTHER" })],
    ["another client", /its sub is/, () => appleSecret({ sub: "other" })],
    ["another audience", /its aud is/, () => appleSecret({ aud: "https://example.com" })],
    ["no audience", /its aud is missing/, () => appleSecret({ aud: undefined })],
    ["an expired one", /it expired/, () => appleSecret({ exp: now - 60 })],
    ["no expiry", /exp/, () => appleSecret({ exp: undefined })],
    ["more than six months", /more than six months/, () => appleSecret({ exp: now + 16_000_000 })],
    ["another key", /signature/, () => appleSecret({}, otherKey)],
    ["a text", /not a JWT/, () => Promise.resolve("a-text-that-is-no-jwt")],
  ])("a secret with %s is invalid_client, which says why", async (_what, says, secret) => {
    const { parameters } = await visit(authorizeAt(idp));
    const answer = await exchange(idp, parameters["code"], { client_secret: await secret() });
    expect(answer).toMatchObject({ status: 401, json: { error: "invalid_client" } });
    expect(answer.json.error_description).toMatch(says);
  });

  test("the secret in a Basic header, and no secret, are invalid_client", async () => {
    const { parameters } = await visit(authorizeAt(idp));
    const body = { grant_type: "authorization_code", code: parameters["code"] ?? "", redirect_uri: callback };
    const basic = `Basic ${Buffer.from(`shop:${await appleSecret()}`).toString("base64")}`;
    for (const headers of [{ authorization: basic }, {}])
      expect(
        (await postForm(`${idp.issuer}/auth/token`, { client_id: "shop", ...body }, headers as Parameters)).json[
          "error"
        ],
      ).toBe("invalid_client");
  });
});

const { apple_team: _, ...withoutTeam } = client("apple") as { apple_team?: string };
test.each<[what: string, says: RegExp, change: object]>([
  ["no apple_team", /apple_team/, withoutTeam],
  ["a secret beside it", /client_secret/, { ...client("apple"), client_secret: "a-secret" }],
  ["no key", /jwks/, { ...client("apple"), jwks: undefined }],
])("a client with %s is a problem in fixtures", async (_what, says, given) => {
  await expect(
    serve({ fixtures: [{ users, clients: [JSON.parse(JSON.stringify(given))], settings: { endpoints: "apple" } }] }),
  ).rejects.toThrow(says);
});
