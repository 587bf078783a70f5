import { createHmac, generateKeyPairSync } from "node:crypto";
import { exportJWK, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { jwtPart, post, userinfo } from "../helpers/client.ts";

/** Tokens that this server did not make, and tokens of one kind in the place of another. */

const idp = await underAttack();
const app = await register(idp);
const tokens = await app.tokens();
const { access_token: access, refresh_token: refreshToken, id_token: idToken } = tokens;
const exported = await idp.call("export", {});
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const header = jwtPart(access, 0);
const claims = jwtPart(access, 1);
const [head = "", payload = "", signature = ""] = access.split(".");
const jwks = (await (await fetch(`${idp.issuer}/api/v2/oauth/jwks`)).json()) as { keys: Record<string, string>[] };
const rsa = jwks.keys.find(({ kty }) => kty === "RSA") ?? {};
const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ownJwk = await exportJWK(own.publicKey);

const hmac = (key: string | Buffer, changedHeader: object, changedClaims: object = {}): string => {
  const text = `${encode({ ...header, ...changedHeader })}.${encode({ ...claims, ...changedClaims })}`;
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
};
const byOwnKey = (changed: object): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: "RS256", typ: "at+jwt", ...changed }).sign(own.privateKey);

/** Another letter at the end of the signature that decodes to the same bytes. */
const respelt = (): string => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(signature.at(-1) ?? "");
  return signature.slice(0, -1) + (alphabet[last ^ 1] ?? "");
};

const forgeries: readonly (readonly [name: string, token: string])[] = [
  ["none", `${encode({ ...header, alg: "none" })}.${payload}.`],
  ["None, with the old signature", `${encode({ ...header, alg: "None" })}.${payload}.${signature}`],
  ["no signature", `${head}.${payload}.`],
  ["two parts", `${head}.${payload}`],
  ["HS256 with the public key's modulus", hmac(rsa["n"] ?? "", { kid: rsa["kid"] })],
  ["HS256 with the public key as JSON", hmac(JSON.stringify(rsa), { kid: rsa["kid"] })],
  ["HS256 with an empty secret", hmac("", {})],
  ["HS256 with the client's secret", hmac(app.credentials.client_secret ?? "", {})],
  ["a kid that is a path", hmac("", { kid: "../../../../dev/null" })],
  ["a kid that is __proto__", hmac("", { kid: "__proto__" })],
  ["a kid that is a number", hmac("", { kid: 0 })],
  ["a kid of another algorithm", hmac("", { kid: rsa["kid"], alg: "RS256" })],
  ["a jwk of its own", await byOwnKey({ jwk: ownJwk })],
  ["a jku of its own", await byOwnKey({ jku: `${idp.issuer}/api/v2/oauth/jwks?x`, kid: rsa["kid"] })],
  ["an x5u of its own", await byOwnKey({ x5u: "http://127.0.0.1:1/", kid: rsa["kid"] })],
  ["another RS256 key under our kid", await byOwnKey({ kid: rsa["kid"] })],
  ["other claims under the old signature", `${head}.${encode({ ...claims, scope: "admin" })}.${signature}`],
  ["crit", `${encode({ ...header, crit: ["exp"] })}.${payload}.${signature}`],
  ["b64 false", `${encode({ ...header, b64: false, crit: ["b64"] })}.${payload}.${signature}`],
  ["a fourth part", `${access}.${signature}`],
  ["JWS as JSON", JSON.stringify({ protected: head, payload, signature })],
  ["a header that is a list", `${encode([])}.${payload}.${signature}`],
  ["claims that are text", `${head}.${encode("x")}.${signature}`],
  ["deep claims", `${head}.${Buffer.from("[".repeat(5000)).toString("base64url")}.${signature}`],
  ["a refresh token", refreshToken],
  ["an ID token", idToken],
  ["nothing but dots", ".."],
];

const introspect = async (token: string) =>
  (await post(idp, "/api/v2/oauth/introspect", { ...app.credentials, token })).json["active"];

describe("no access token is", () => {
  test.each(forgeries)("%s", async (_name, token) => {
    const response = await fetch(`${idp.issuer}/api/v2/oauth/userinfo`, {
      method: "POST",
      body: new URLSearchParams({ access_token: token }),
    });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(token.slice(-43));
    expect(await introspect(token)).toBe(token === refreshToken);
    const revoked = await post(idp, "/api/v2/oauth/revoke", {
      ...app.credentials,
      token: token === refreshToken ? idToken : token,
    });
    expect([revoked.status, revoked.json]).toEqual([200, {}]);
    expect((await userinfo(idp, access)).status).toBe(200);
  });
});

describe("no refresh token is", () => {
  test.each([...forgeries.filter(([, token]) => token !== refreshToken), ["an access token", access] as const])(
    "%s",
    async (_name, token) => {
      const { status, json } = await app.refresh(token);
      expect([status, json.error]).toEqual([400, "invalid_grant"]);
    },
  );
});

describe("a token that is signed with the server's own secret is refused in any other form", () => {
  const keys = (JSON.parse(JSON.stringify(exported)) as { keys: { kid: string; alg: string; jwk: JsonWebKey }[] }).keys;
  const secret = Buffer.from(keys.find(({ alg }) => alg === "HS256")?.jwk.k ?? "", "base64url");
  const without = (claims: object, name: string): object =>
    Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
  const signed = (joseHeader: object, body: object, hash = "sha256"): string => {
    const text = `${encode(joseHeader)}.${encode(body)}`;
    return `${text}.${createHmac(hash, secret).update(text).digest("base64url")}`;
  };
  const far = Math.floor(Date.now() / 1000) + 3600;

  test("the unchanged token passes: the secret is the right one", async () => {
    expect((await userinfo(idp, signed(header, { ...claims }))).status).toBe(200);
  });
  test.each<[name: string, header: object, claims: object, hash?: string]>([
    ["no exp", header, without(claims, "exp")],
    ["exp as text", header, { ...claims, exp: String(far) }],
    ["exp in the past", header, { ...claims, exp: 1 }],
    ["not valid yet", header, { ...claims, nbf: far }],
    ["another issuer", header, { ...claims, iss: "http://localhost:1" }],
    ["no issuer", header, without(claims, "iss")],
    ["no jti", header, without(claims, "jti")],
    ["no typ", without(header, "typ"), claims],
    ["typ JWT without an epoch", { ...header, typ: "JWT" }, without(claims, "epoch")],
    ["typ JWT, and the claims of a refresh token", { ...header, typ: "JWT" }, jwtPart(refreshToken, 1)],
    ["typ JWT, and the claims of an ID token", { ...header, typ: "JWT" }, jwtPart(idToken, 1)],
    ["typ of a refresh token", { ...header, typ: "rt+jwt" }, claims],
    ["typ of a logout token", { ...header, typ: "logout+jwt" }, claims],
    ["HS512", { ...header, alg: "HS512" }, claims, "sha512"],
    ["a crit that nobody knows", { ...header, crit: ["x"], x: 1 }, claims],
    ["a grant that is not there", header, { ...claims, grant: "g_nothing" }],
    ["a grant of another epoch", header, { ...claims, epoch: "x" }],
    ["a grant that is an object", header, { ...claims, grant: {} }],
    ["a client that is not there", header, { ...claims, client_id: "nobody" }],
    ["a user that is not there", header, { ...claims, sub: "1" }],
    ["the claims of a refresh token", header, jwtPart(refreshToken, 1)],
    ["claims that are a list", header, []],
  ])("%s", async (_name, joseHeader, body, hash) => {
    const { status } = await userinfo(idp, signed(joseHeader, body, hash));
    expect([401, 403]).toContain(status);
    expect(await introspect(signed(joseHeader, body, hash))).toBe(false);
  });

  const ofRefresh: [object, Record<string, unknown>] = [jwtPart(refreshToken, 0), jwtPart(refreshToken, 1)];
  test.each<[name: string, bend: (joseHeader: object, body: object) => [object, object]]>([
    ["no exp", (joseHeader, body) => [joseHeader, without(body, "exp")]],
    ["exp in the past", (joseHeader, body) => [joseHeader, { ...body, exp: 1 }]],
    ["another issuer", (joseHeader, body) => [joseHeader, { ...body, iss: "http://localhost:1" }]],
    ["no jti", (joseHeader, body) => [joseHeader, without(body, "jti")]],
    ["no family", (joseHeader, body) => [joseHeader, without(body, "family")]],
    ["no generation", (joseHeader, body) => [joseHeader, without(body, "generation")]],
    ["the typ of an access token", (joseHeader, body) => [{ ...joseHeader, typ: "at+jwt" }, body]],
    ["no typ", (joseHeader, body) => [without(joseHeader, "typ"), body]],
    ["another client's", (joseHeader, body) => [joseHeader, { ...body, client_id: "demo-app" }]],
    ["the claims of an access token", (joseHeader) => [joseHeader, claims]],
  ])("as a refresh token: %s", async (_name, bend) => {
    expect((await app.refresh(signed(...bend(...ofRefresh)))).json.error).toBe("invalid_grant");
  });
});

test("a token in another spelling dies with the token", async () => {
  const spellings = [`${head}.${payload}.${respelt()}`, `${access}=`, `${head}.${payload}.\n${signature}`];
  await post(idp, "/api/v2/oauth/revoke", { ...app.credentials, token: access });
  for (const token of [access, ...spellings]) {
    const response = await fetch(`${idp.issuer}/api/v2/oauth/userinfo`, {
      method: "POST",
      body: new URLSearchParams({ access_token: token }),
    });
    expect(response.status).toBe(401);
  }
});

describe.each(["RS256", "HS256"] as const)("with access_token_typ JWT and %s, the typ of ID tokens", async (alg) => {
  const other = await serve({ settings: { access_token_alg: alg, access_token_typ: "JWT" } });
  const one = await register(other);
  const tokens = await one.tokens();
  /** What tells an access token from an ID token. */
  const marks = { epoch: "x", client_id: "demo-app", scope: "openid", jti: "j", grant: "g", era: 0, family: "f" };

  test("an access token is accepted as an access token only", async () => {
    expect(jwtPart(tokens.access_token, 0)).toMatchObject({ alg, typ: "JWT" });
    expect((await userinfo(other, tokens.access_token)).status).toBe(200);
    expect((await one.refresh(tokens.access_token)).json.error).toBe("invalid_grant");
    const { browser } = await one.signIn();
    const query = new URLSearchParams({ id_token_hint: tokens.access_token });
    expect(await browser.open(`/api/v2/oauth/logout?${query.toString()}`)).toMatchObject({
      status: 400,
      page: "error",
    });
    expect((await browser.open("/account")).page).toBe("account");
  });

  test("ID tokens and refresh tokens are refused as access tokens", async () => {
    for (const token of [tokens.id_token, tokens.refresh_token]) {
      expect((await userinfo(other, token)).status).toBe(401);
    }
    const { json } = await post(other, "/api/v2/oauth/introspect", { ...one.credentials, token: tokens.id_token });
    expect(json).toEqual({ active: false });
    expect((await one.refresh(tokens.id_token)).json.error).toBe("invalid_grant");
  });

  test("claims of a request, a user or an operation do not make an ID token pass as an access token", async () => {
    const id_token = Object.fromEntries(Object.keys(marks).map((name) => [name, { value: "x" }]));
    const asked = (await one.tokens({ claims: JSON.stringify({ id_token }) })).id_token;
    expect((await userinfo(other, asked)).status).toBe(401);
    for (const name of Object.keys(marks)) {
      const claims = { [name]: "x" };
      expect(jwtPart(asked, 1)[name]).not.toBe("x");
      const issued = other.call("token.issue", { user: "alice", client: "demo-app", type: "id", claims });
      await expect(issued).rejects.toThrow("cannot be set");
      const seeded = other.call("seed", { users: [{ username: "mallory", claims }] });
      await expect(seeded).rejects.toMatchObject({ code: "invalid" });
    }
  });
});
