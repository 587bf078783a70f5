import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { jwtPart, paths, post, userinfo } from "../helpers/client.ts";

/** The spec's tables of the token endpoint, a test a row. */

const idp = await serve();
const app = await register(idp);
const tokens = await app.tokens({ scope: "openid profile email", nonce: "n-1" });
/** Of a response that has them all. */
const everyField = ["access_token", "expires_in", "id_token", "refresh_token", "scope", "token_type"];
const jwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const lifetime = (token: string): number => {
  const { exp, iat } = jwtPart(token, 1);
  return Number(exp) - Number(iat);
};

describe("Token response", () => {
  test("`access_token`: a JWT for API access that lives 30 minutes", async () => {
    expect(tokens.access_token).toMatch(jwt);
    expect(lifetime(tokens.access_token)).toBe(30 * 60);
    expect((await userinfo(idp, tokens.access_token)).status).toBe(200);
  });

  test("`token_type`: always `Bearer`", () => {
    expect(tokens["token_type"]).toBe("Bearer");
  });

  test("`expires_in`: 1800, a number", () => {
    expect(tokens["expires_in"]).toBe(1800);
  });

  test("`refresh_token`: a JWT that yields new access tokens and lives 7 days", async () => {
    const own = await app.tokens();
    expect(own.refresh_token).toMatch(jwt);
    expect(lifetime(own.refresh_token)).toBe(7 * 24 * 60 * 60);
    const refreshed = (await app.refresh(own.refresh_token)).json;
    expect((await userinfo(idp, refreshed.access_token)).status).toBe(200);
  });

  test("`id_token`: a JWT with the user's identity and the nonce of the request", () => {
    expect(tokens.id_token).toMatch(jwt);
    expect(jwtPart(tokens.id_token, 1)).toMatchObject({
      nonce: "n-1",
      sub: "7123456789012345678",
      name: "Alice Adams",
      email: "alice@example.com",
    });
  });

  test("the access token carries the user's id and e-mail, the client id and the granted scopes", () => {
    expect(jwtPart(tokens.access_token, 1)).toMatchObject({
      sub: "7123456789012345678",
      email: "alice@example.com",
      client_id: app.credentials.client_id,
      scope: "openid profile email",
    });
  });

  test("the access token can be decoded by anyone, and verified with the signing secret only", async () => {
    expect(jwtPart(tokens.access_token, 0)).toMatchObject({ alg: "HS256", typ: "at+jwt" });
    const { keys } = (await (await fetch(`${idp.issuer}/api/v2/oauth/jwks`)).json()) as {
      keys: { kty: string; kid: string }[];
    };
    expect(keys.map(({ kty }) => kty)).not.toContain("oct");
    expect(keys.map(({ kid }) => kid)).not.toContain(jwtPart(tokens.access_token, 0)["kid"]);
  });
});

/** A complete body, and what is answered where a field is wrong or left out. */
type Row = [field: string, wrong: string, status: number, error: string, errorWhenLeftOut: string];

describe("Authorization code exchange", () => {
  test("a body with every field, as JSON: 200 with the token response", async () => {
    const { code } = await app.signIn();
    const { status, json, headers } = await app.exchange(code);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(Object.keys(json).sort()).toEqual(everyField);
  });

  test.each<Row>([
    ["grant_type", "password", 400, "unsupported_grant_type", "invalid_request"],
    ["code", "no-such-code", 400, "invalid_grant", "invalid_request"],
    ["client_id", "no-such-client", 401, "invalid_client", "invalid_client"],
    ["client_secret", "wrong", 401, "invalid_client", "invalid_client"],
    ["redirect_uri", "http://localhost:3000/callback/", 400, "invalid_grant", "invalid_request"],
  ])("`%s` is required, and checked", async (field, wrong, status, error, leftOut) => {
    const { code } = await app.signIn();
    expect(await app.exchange(code, { [field]: wrong })).toMatchObject({ status, json: { error } });
    expect((await app.exchange(code, { [field]: null })).json.error).toBe(leftOut);
    expect((await app.exchange(code)).status).toBe(200);
  });

  test.each([
    ["protocol", "https://localhost:3000/callback?a=1"],
    ["domain", "http://127.0.0.1:3000/callback?a=1"],
    ["path", "http://localhost:3000/Callback?a=1"],
    ["query parameters", "http://localhost:3000/callback?a=2"],
    ["query parameters left out", "http://localhost:3000/callback"],
  ])("`redirect_uri` must match exactly: %s", async (_part, redirectUri) => {
    const own = await register(idp, { redirect_uris: ["http://localhost:3000/callback?a=1"] });
    const { code } = await own.signIn({ redirect_uri: "http://localhost:3000/callback?a=1" });
    const { status, json } = await own.exchange(code, { redirect_uri: redirectUri });
    expect([status, json.error]).toEqual([400, "invalid_grant"]);
    expect(json.error_description).toBe(
      `redirect_uri '${redirectUri}' differs from the one in the authorization request, 'http://localhost:3000/callback?a=1'`,
    );
  });
});

describe("Refresh", () => {
  test("a body with every field, as JSON: 200 with the token response", async () => {
    const { refresh_token: token } = await app.tokens();
    const { status, json } = await app.refresh(token);
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(everyField);
  });

  test.each<Row>([
    ["grant_type", "refresh", 400, "unsupported_grant_type", "invalid_request"],
    ["refresh_token", "no-such-token", 400, "invalid_grant", "invalid_request"],
    ["client_id", "no-such-client", 401, "invalid_client", "invalid_client"],
    ["client_secret", "wrong", 401, "invalid_client", "invalid_client"],
  ])("`%s` is required, and checked", async (field, wrong, status, error, leftOut) => {
    const { refresh_token: token } = await app.tokens();
    expect(await app.refresh(token, { [field]: wrong })).toMatchObject({ status, json: { error } });
    expect((await app.refresh(token, { [field]: null })).json.error).toBe(leftOut);
    expect((await app.refresh(token)).status).toBe(200);
  });

  test("client id and secret of another client do not do", async () => {
    const { refresh_token: token } = await app.tokens();
    const stranger = await register(idp);
    const { json } = await post(idp, paths.token, {
      grant_type: "refresh_token",
      refresh_token: token,
      ...stranger.credentials,
    });
    expect(json.error).toBe("invalid_grant");
  });
});
