import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { register, serve } from "../helpers/app.ts";
import { exchange, jwtPart, refresh, signIn, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

const kids = async (issuer: string): Promise<unknown[]> => {
  const response = await fetch(`${issuer}/api/v2/oauth/jwks`);
  return ((await response.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
};

test("rotated keys sign from now on, and the old ones verify until their tokens have expired", async () => {
  const clock = testClock();
  const idp = await serve({ now: clock.now, settings: { session_ttl: 10_000_000 } });
  const { code, browser } = await signIn(idp);
  const before = (await exchange(idp, code)).json;
  await idp.call("keys.rotate", {});

  const after = (await exchange(idp, (await signIn(idp, { browser })).code)).json;
  const [old, current] = [before, after].map((tokens) => jwtPart(tokens["id_token"], 0)["kid"] as string);
  expect(current).not.toBe(old);
  expect(await kids(idp.issuer)).toEqual(expect.arrayContaining([old, current]));
  expect((await userinfo(idp, before["access_token"])).status).toBe(200);
  const refreshed = await refresh(idp, before["refresh_token"]);
  expect(refreshed.status).toBe(200);

  clock.pass(604_800);
  expect(await kids(idp.issuer)).toEqual([current]);
});

test("a key of each kind that a client registered is published before it has signed", async () => {
  const idp = await serve();
  const algs = async () => {
    const response = await fetch(`${idp.issuer}/api/v2/oauth/jwks`);
    expect(response.headers.get("cache-control")).toBe("no-cache");
    return ((await response.json()) as { keys: { alg: string }[] }).keys.map(({ alg }) => alg).sort();
  };
  expect(await algs()).toEqual(["RS256"]);
  await register(idp, { id_token_signed_response_alg: "ES256" });
  expect(await algs()).toEqual(["ES256", "RS256"]);
  await register(idp, { id_token_signed_response_alg: "HS256" });
  await register(idp, { id_token_signed_response_alg: "EdDSA" });
  expect(await algs()).toEqual(["ES256", "EdDSA", "RS256"]);
});

test("the first keys are made once, however many need them first, and published before they have signed", async () => {
  const idp = await serve();
  const [published, ...tokens] = await Promise.all([
    kids(idp.issuer),
    ...Array.from({ length: 8 }, () => idp.issueTokens({ user: "alice", client: "demo-app" })),
  ]);
  expect(published).toHaveLength(1);
  expect(new Set(tokens.map(({ id_token }) => jwtPart(id_token, 0)["kid"]))).toEqual(new Set(published));
  expect(await kids(idp.issuer)).toEqual(published);
});

test("rotated twice at the same moment: one key of each kind signs", async () => {
  const idp = await serve();
  await Promise.all([idp.call("keys.rotate", {}), idp.call("keys.rotate", { alg: "RS256" })]);
  const signing = (await idp.call("keys.list", {})).filter(({ status }) => status === "signing");
  expect(signing.map(({ alg }) => alg).sort()).toEqual(["HS256", "RS256"]);
});

test("access_token_alg RS256: a resource server verifies access tokens by JWKS, and UserInfo takes them", async () => {
  const idp = await serve({ settings: { access_token_alg: "RS256" } });
  const { code } = await signIn(idp);
  const token = (await exchange(idp, code)).json.access_token;
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`));
  const { payload } = await jwtVerify(token, keys, { issuer: idp.issuer, typ: "at+jwt", algorithms: ["RS256"] });
  expect(payload["client_id"]).toBe("demo-app");
  expect((await userinfo(idp, token)).status).toBe(200);
});

test("access_token_typ JWT: for resource servers that take no at+jwt; tokens with the other typ stay valid", async () => {
  const idp = await serve({ fixtures: [builtInDemo(), { settings: { access_token_alg: "RS256" } }] });
  const issue = async () => (await exchange(idp, (await signIn(idp)).code)).json.access_token;
  const before = await issue();
  await idp.call("seed", { settings: { access_token_typ: "JWT" } });
  const token = await issue();
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`));
  const { payload } = await jwtVerify(token, keys, { issuer: idp.issuer, typ: "JWT", algorithms: ["RS256"] });
  expect(payload["client_id"]).toBe("demo-app");
  await idp.call("seed", { settings: { access_token_typ: "at+jwt" } });
  for (const each of [before, token, await issue()]) {
    expect((await userinfo(idp, each)).status).toBe(200);
    expect(await idp.call("token.introspect", { token: each })).toMatchObject({ active: true, token_type: "Bearer" });
    const { valid, checks } = await idp.call("token.verify", { token: each });
    expect({ valid, typ: checks.find(({ name }) => name === "typ") }).toEqual({
      valid: true,
      typ: { name: "typ", ok: true, detail: "an access token" },
    });
  }
  expect([before, token].map((each) => jwtPart(each, 0)["typ"])).toEqual(["at+jwt", "JWT"]);
});
