import { createHmac, createPublicKey, type JsonWebKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { register, serve } from "../helpers/app.ts";
import { jwtPart, paths, post, userinfo, type Body } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** UserInfo: how a token may be sent, and the response to an invalid one (RFC 6750). */

const idp = await serve();
const app = await register(idp);
const service = { client_id: "demo-service", client_secret: "demo-service-secret" };

async function ask(init: RequestInit, query = "") {
  const response = await fetch(idp.issuer + paths.userinfo + query, init);
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
/** A JWT that only this test signed. */
function forge(header: object, payload: object, key: string | Buffer): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${key === "" ? "" : createHmac("sha256", key).update(text).digest("base64url")}`;
}

const good = await app.tokens();
const header = jwtPart(good.access_token, 0);
const claims = jwtPart(good.access_token, 1);
const { keys } = (await (await fetch(`${idp.issuer}/api/v2/oauth/jwks`)).json()) as {
  keys: (JsonWebKey & { kid: string })[];
};
const publicKeys = keys.map((jwk) => ({
  kid: jwk.kid,
  pem: createPublicKey({ key: jwk, format: "jwk" }).export({ type: "spki", format: "pem" }),
}));
const [head = "", body = "", signature = ""] = good.access_token.split(".");

describe("a token may be sent", () => {
  test.each<[name: string, init: (token: string) => RequestInit]>([
    ["GET, in the header", (token) => ({ headers: { authorization: `Bearer ${token}` } })],
    ["GET, the scheme in small letters", (token) => ({ headers: { authorization: `bearer ${token}` } })],
    ["POST, in the header", (token) => ({ method: "POST", headers: { authorization: `Bearer ${token}` } })],
    ["POST, in a form body", (token) => ({ method: "POST", body: new URLSearchParams({ access_token: token }) })],
  ])("%s", async (_name, init) => {
    const { status, json, headers } = await ask(init((await app.tokens()).access_token));
    expect([status, json["sub"]]).toEqual([200, "7123456789012345678"]);
    expect(json["id"]).toBe(json["sub"]);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test.each<[name: string, init: (token: string) => RequestInit, query: (token: string) => string]>([
    ["in the query", () => ({}), (token) => `?access_token=${token}`],
    [
      "in the query beside the header",
      (token) => ({ headers: { authorization: `Bearer ${token}` } }),
      (token) => `?access_token=${token}`,
    ],
    [
      "in header and body at once",
      (token) => ({
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ access_token: token }),
      }),
      () => "",
    ],
    [
      "in the body twice",
      (token) => ({
        method: "POST",
        body: new URLSearchParams([
          ["access_token", token],
          ["access_token", token],
        ]),
      }),
      () => "",
    ],
    [
      "in the body beside a header without one",
      (token) => ({
        method: "POST",
        headers: { authorization: "Bearer" },
        body: new URLSearchParams({ access_token: token }),
      }),
      () => "",
    ],
  ])("not %s: 400", async (_name, init, query) => {
    const { access_token: token } = await app.tokens();
    const { status, json, headers } = await ask(init(token), query(token));
    expect([status, json.error]).toEqual([400, "invalid_request"]);
    // RFC 6750 3: an answer to a request without a token that will do says so.
    expect(headers.get("www-authenticate")).toContain('error="invalid_request"');
    expect(json.error_description).not.toContain(token);
  });

  // The document of the service has one status for every invalid token.
  test.each<[name: string, authorization: (token: string) => string]>([
    ["with something behind it", (token) => `Bearer ${token} x`],
    ["with its scheme twice", (token) => `Bearer Bearer ${token}`],
    ["where words stand in its place", () => "Bearer not a token"],
  ])("not %s: 401", async (_name, authorization) => {
    const { access_token: token } = await app.tokens();
    const { status, json, headers } = await ask({ headers: { authorization: authorization(token) } });
    expect([status, json.error]).toEqual([401, "invalid_token"]);
    expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(json.error_description).toContain("one space and the access token alone");
    expect(json.error_description).not.toContain(token);
  });
});

describe("no token at all: 401 and a challenge without an error", () => {
  test.each<[name: string, init: RequestInit]>([
    ["GET", {}],
    ["POST", { method: "POST" }],
    ["POST of an empty form", { method: "POST", body: new URLSearchParams({ access_token: "" }) }],
    ["another scheme", { headers: { authorization: "Basic eDp5" } }],
    ["the scheme alone", { headers: { authorization: "Bearer" } }],
    [
      "in a JSON body",
      { method: "POST", body: '{"access_token":"x"}', headers: { "content-type": "application/json" } },
    ],
  ])("%s", async (_name, init) => {
    const { status, json, headers } = await ask(init);
    expect([status, json.error]).toEqual([401, "missing_token"]);
    expect(headers.get("www-authenticate")).toMatch(/^Bearer realm="[^"]+"(, DPoP (?!.*error).*)?$/);
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("401 invalid_token", () => {
  test("a token of another kind is named, with the kind to send", async () => {
    const tokens = await app.tokens();
    const said = async (token: string) => (await userinfo(idp, token)).json.error_description;
    expect(await said(tokens.id_token)).toBe("the token is an ID token; send an access token");
    expect(await said(tokens.refresh_token)).toBe("the token is a refresh token; send an access token");
  });

  test.each<[name: string, token: () => Promise<string>]>([
    ["no JWT", async () => "not-a-token"],
    ["one part of a JWT", async () => head],
    ["no signature", async () => `${head}.${body}.`],
    ["another's signature", async () => forge(header, claims, "x".repeat(32))],
    ["alg none", async () => forge({ ...header, alg: "none" }, claims, "")],
    ["alg none, signature kept", async () => `${encode({ ...header, alg: "none" })}.${body}.${signature}`],
    [
      "another payload under the signature",
      async () => `${head}.${encode({ ...claims, scope: "openid phone" })}.${signature}`,
    ],
    [
      "HS256 with the public key, under its kid",
      async () => forge({ ...header, kid: publicKeys[0]?.kid }, claims, publicKeys[0]?.pem ?? "x"),
    ],
    ["HS256 with the public key, under the secret's kid", async () => forge(header, claims, publicKeys[0]?.pem ?? "x")],
    ["a refresh token", async () => (await app.tokens()).refresh_token],
    ["an ID token", async () => (await app.tokens()).id_token],
    ["a token of another server", async () => (await (await register(await serve())).tokens()).access_token],
    ["a token and more", async () => `${good.access_token}x`],
  ])("%s", async (_name, token) => {
    const text = await token();
    const { status, json, headers } = await userinfo(idp, text);
    expect([status, json.error]).toEqual([401, "invalid_token"]);
    expect(json.error_description).toMatch(/^[Tt]he /);
    expect(json.error_description).not.toContain(text);
    expect(headers.get("www-authenticate")).toMatch(
      /^Bearer realm="[^"]+", error="invalid_token", error_description="[^"]+"(, DPoP .*)?$/,
    );
    expect((await userinfo(idp, good.access_token)).status).toBe(200);
  });

  test("expired, and it says since when", async () => {
    const clock = testClock();
    const timed = await serve({ now: clock.now });
    const { access_token: token } = await (await register(timed)).tokens();
    clock.pass(1805);
    const { status, json } = await userinfo(timed, token);
    expect([status, json.error, json.error_description]).toEqual([401, "invalid_token", "the token expired 5 s ago"]);
  });

  test("revoked by the client", async () => {
    const { access_token: token } = await app.tokens();
    await post(idp, paths.revoke, { token, ...app.credentials });
    const { status, json } = await userinfo(idp, token);
    expect([status, json.error]).toEqual([401, "invalid_token"]);
    expect(json.error_description).toMatch(/was revoked/);
  });

  test("dead by code replay, and by refresh reuse", async () => {
    const { code } = await app.signIn();
    const replayed = (await app.exchange(code)).json;
    await app.exchange(code);
    const reused = await app.tokens();
    await app.refresh(reused.refresh_token);
    await app.refresh(reused.refresh_token);
    for (const { access_token } of [replayed, reused]) {
      expect(await userinfo(idp, access_token)).toMatchObject({ status: 401, json: { error: "invalid_token" } });
    }
  });
});

describe("403", () => {
  test("grant revoked: access_revoked, and the challenge says invalid_token", async () => {
    const own = await register(idp);
    const { access_token: token } = await own.tokens();
    await idp.revoke({ client: own.credentials.client_id });
    const { status, json, headers } = await userinfo(idp, token);
    expect(status).toBe(403);
    expect(json).toEqual({
      error: "access_revoked",
      error_description: "Access revoked by user",
      message: "Access revoked by user",
    });
    expect(headers.get("www-authenticate")).toMatch(
      /^Bearer realm="idp", error="invalid_token", error_description="Access revoked by user"/,
    );
  });

  test("a token without a user: insufficient_scope", async () => {
    const { json } = await post(idp, paths.token, { grant_type: "client_credentials", ...service });
    const answer = await userinfo(idp, json.access_token);
    expect([answer.status, answer.json.error]).toEqual([403, "insufficient_scope"]);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer .*error="invalid_token"/);
  });
});

describe("a token in another spelling is the same token", () => {
  /** The last character of a base64url text has bits that mean nothing: other letters decode to the same bytes. */
  function respell(token: string): string {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = alphabet.indexOf(token.at(-1) ?? "");
    const other = [1, 2, 3].map((bits) => token.slice(0, -1) + (alphabet[last ^ bits] ?? ""));
    const bytes = (text: string) => Buffer.from(text.split(".")[2] ?? "", "base64url").toString("hex");
    return other.find((text) => bytes(text) === bytes(token)) ?? "";
  }

  test("revoked, it is dead in every spelling", async () => {
    const { access_token: token } = await app.tokens();
    const other = respell(token);
    expect(other).not.toBe(token);
    await post(idp, paths.revoke, { token, ...app.credentials });
    expect((await userinfo(idp, other)).status).toBe(401);
  });

  test("another spelling is no token: nothing is revoked by it", async () => {
    const { access_token: token } = await app.tokens();
    expect((await userinfo(idp, respell(token))).status).toBe(401);
    expect((await post(idp, paths.revoke, { token: respell(token), ...app.credentials })).status).toBe(200);
    expect((await userinfo(idp, token)).status).toBe(200);
  });
});

test("a scope may have the name of a member of every object", async () => {
  const named = await serve({
    fixtures: [builtInDemo(), { scopes: { constructor: {}, toString: { claims: ["email"] } } }],
  });
  const own = await register(named);
  const { access_token } = await own.tokens({ scope: "openid constructor toString" });
  expect((await userinfo(named, access_token)).status).toBe(200);
});

test("a user without an e-mail address has none in any form of UserInfo, nor in tokens", async () => {
  const users = [{ username: "erin", email: null, password: "erin" }];
  const clients = (["native", "standard", "combined"] as const).map((userinfo_format) => ({
    client_id: userinfo_format,
    client_secret: "secret",
    redirect_uris: ["http://localhost:3000/cb"],
    userinfo_format,
  }));
  const own = await serve({ fixtures: { users, clients } });
  for (const { client_id } of clients) {
    const tokens = await own.issueTokens({ user: "erin", client: client_id, scope: "openid profile email" });
    const response = await userinfo(own, tokens.access_token);
    expect(response.status).toBe(200);
    expect(JSON.stringify(response.json)).not.toContain("mail");
    for (const token of [tokens.id_token, tokens.access_token]) {
      expect(Object.keys(jwtPart(token, 1))).not.toContain("email");
      expect(Object.keys(jwtPart(token, 1))).not.toContain("email_verified");
    }
  }
});
