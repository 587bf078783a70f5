import { createHash } from "node:crypto";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, paths } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** What tokens say, and how they are signed. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const alice = "7123456789012345678";
// Keys are made at first need: no waiting between two looks.
const jwks = createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`), { cooldownDuration: 0 });
const text = expect.stringMatching(/^.{16,}$/) as string;

describe("access token", () => {
  test("HS256, at+jwt, with these claims", async () => {
    const app = await register(idp);
    const { access_token: token } = await app.tokens({ user: "bob", scope: "openid email" });
    const { id } = await idp.call("users.show", { username: "bob" });
    const now = clock.now() / 1000;
    expect(jwtPart(token, 0)).toEqual({ alg: "HS256", typ: "at+jwt", kid: expect.any(String) as string });
    expect(jwtPart(token, 1)).toEqual({
      acr: "urn:idp:single-factor",
      auth_time: now,
      iss: idp.issuer,
      sub: id,
      email: "bob@example.com",
      client_id: app.credentials.client_id,
      scope: "openid email",
      aud: idp.issuer,
      iat: now,
      exp: now + 1800,
      jti: text,
      grant: expect.stringMatching(/^g_/) as string,
      epoch: expect.any(String) as string,
      family: expect.stringMatching(/^f_/) as string,
      era: 1,
    });
  });

  test("each has a jti of its own", async () => {
    const app = await register(idp);
    const tokens = [await app.tokens(), await app.tokens()];
    expect(new Set(tokens.map(({ access_token }) => jwtPart(access_token, 1)["jti"])).size).toBe(2);
  });

  test("lives as long as the setting access_token_ttl says, and expires_in with it", async () => {
    const quick = await serve({ now: clock.now, settings: { access_token_ttl: 60, refresh_token_ttl: 120 } });
    const tokens = await (await register(quick)).tokens();
    expect(tokens["expires_in"]).toBe(60);
    expect(jwtPart(tokens.access_token, 1)["exp"]).toBe(clock.now() / 1000 + 60);
    expect(jwtPart(tokens.refresh_token, 1)["exp"]).toBe(clock.now() / 1000 + 120);
  });
});

test("refresh token: HS256, rt+jwt, with what its use needs, and no audience", async () => {
  const app = await register(idp);
  const { refresh_token: token } = await app.tokens({ scope: "openid email" });
  const now = clock.now() / 1000;
  expect(jwtPart(token, 0)).toMatchObject({ alg: "HS256", typ: "rt+jwt" });
  expect(jwtPart(token, 1)).toMatchObject({
    iss: idp.issuer,
    sub: alice,
    client_id: app.credentials.client_id,
    scope: "openid email",
    iat: now,
    exp: now + 604_800,
    jti: text,
  });
  expect(jwtPart(token, 1)).not.toHaveProperty("aud");
});

describe("ID token", () => {
  test("says who signed in, when, how and for whom", async () => {
    const app = await register(idp);
    const { browser, code } = await app.signIn({ nonce: "n 1" });
    const signedIn = clock.now() / 1000;
    clock.pass(20);
    const { id_token: token, access_token: accessToken } = (await app.exchange(code)).json;
    expect(jwtPart(token, 1)).toMatchObject({
      iss: idp.issuer,
      sub: alice,
      aud: app.credentials.client_id,
      azp: app.credentials.client_id,
      iat: signedIn + 20,
      exp: signedIn + 20 + 1800,
      auth_time: signedIn,
      nonce: "n 1",
      acr: "urn:idp:single-factor",
      amr: ["user"],
      sid: text,
      at_hash: createHash("sha256").update(accessToken).digest().subarray(0, 16).toString("base64url"),
    });
    const again = (await app.tokens({ browser })).id_token;
    expect(jwtPart(again, 1)["sid"]).toBe(jwtPart(token, 1)["sid"]);
    expect(jwtPart((await app.tokens()).id_token, 1)["sid"]).not.toBe(jwtPart(token, 1)["sid"]);
  });

  test("amr is pwd after a password", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url());
    const consent = await browser.press(login, "login-submit", { username: "alice", password: "alice" });
    const { left } = await browser.press(consent, "consent-allow");
    const { json } = await app.exchange(left?.searchParams.get("code") ?? "");
    expect(jwtPart(json.id_token, 1)["amr"]).toEqual(["pwd"]);
  });

  test.each(["RS256", "PS256", "ES256", "EdDSA"] as const)(
    "%s: verifies with the published key of its kid",
    async (alg) => {
      const app = await register(idp, { id_token_signed_response_alg: alg });
      const { id_token: token } = await app.tokens();
      const { payload, protectedHeader } = await jwtVerify(token, jwks, {
        issuer: idp.issuer,
        audience: app.credentials.client_id,
        algorithms: [alg],
        currentDate: new Date(clock.now()),
      });
      expect(payload.sub).toBe(alice);
      expect(protectedHeader).toEqual({ alg, typ: "JWT", kid: expect.any(String) as string });
    },
  );

  test("HS256: verifies with the client's secret", async () => {
    const app = await register(idp, { id_token_signed_response_alg: "HS256" });
    const { id_token: token } = await app.tokens();
    const key = new TextEncoder().encode(app.credentials.client_secret ?? "");
    const options = { algorithms: ["HS256"], currentDate: new Date(clock.now()) };
    expect((await jwtVerify(token, key, options)).payload.sub).toBe(alice);
  });

  test("at_hash of EdDSA goes by SHA-512", async () => {
    const app = await register(idp, { id_token_signed_response_alg: "EdDSA" });
    const { id_token: token, access_token: accessToken } = await app.tokens();
    const half = createHash("sha512").update(accessToken).digest().subarray(0, 32);
    expect(jwtPart(token, 1)["at_hash"]).toBe(half.toString("base64url"));
  });

  test("HS256 without a secret cannot be registered", async () => {
    const metadata = { token_endpoint_auth_method: "none", id_token_signed_response_alg: "HS256" } as const;
    await expect(register(idp, metadata)).rejects.toMatchObject({ code: "invalid" });
  });
});

describe("JWKS", () => {
  test("public keys only, each with kid, alg and use; any origin may read them", async () => {
    const response = await fetch(`${idp.issuer}/api/v2/oauth/jwks`, { headers: { origin: "https://any.test" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const { keys } = (await response.json()) as { keys: Record<string, unknown>[] };
    expect(keys.map(({ alg }) => alg)).toContain("RS256");
    for (const key of keys) {
      expect(key).toMatchObject({ kid: text, use: "sig" });
      for (const secret of ["d", "p", "q", "dp", "dq", "qi", "k"]) expect(key).not.toHaveProperty(secret);
    }
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
  });

  test("two servers name different keys differently", async () => {
    const other = await serve();
    const kidsOf = async (issuer: string) => {
      const { keys } = (await (await fetch(`${issuer}/api/v2/oauth/jwks`)).json()) as { keys: { kid: string }[] };
      return keys.map(({ kid }) => kid);
    };
    const [here, there] = [await kidsOf(idp.issuer), await kidsOf(other.issuer)];
    expect(here.filter((kid) => there.includes(kid))).toEqual([]);
  });
});

test("no response to a refused token has a secret", async () => {
  const app = await register(idp);
  const { access_token: token } = await app.tokens();
  clock.pass(2000);
  const response = await fetch(idp.issuer + paths.userinfo, { headers: { authorization: `Bearer ${token}` } });
  const answer = `${await response.text()} ${[...response.headers].join(" ")}`;
  for (const part of token.split(".")) expect(answer).not.toContain(part);
});
