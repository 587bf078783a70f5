import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { flawList } from "../../src/core/testing/controls/faults/flaw-list.ts";
import { createIdp, type Idp } from "../../src/index.ts";
import {
  fixtures,
  idJagOf,
  jwtBearer,
  partner,
  partnerIdJag,
  partnerKeys,
  post,
  redeem,
  tokenExchange,
  typeOf,
} from "../helpers/cross-app.ts";
import { newProofKey } from "../helpers/dpop.ts";

/** Cross-app access: an ID-JAG of one issuer gives an access token of another. */

async function start(more: object = {}): Promise<Idp> {
  const idp = await createIdp({ fixtures: { ...fixtures, ...more } });
  onTestFinished(() => idp.close());
  return idp;
}

const tool = (company: Idp) => company.issuers.get("tool");

test("an ID-JAG names the user, the client at the other issuer, and what was asked for", async () => {
  const company = await start();
  const resource = "https://files.tool.test";
  const { status, json } = await idJagOf(company, { resource, scope: "files:read files:write" });
  expect([status, { ...json, access_token: "" }]).toEqual([
    200,
    {
      access_token: "",
      issued_token_type: typeOf("id-jag"),
      token_type: "N_A",
      expires_in: 300,
      scope: "files:read files:write",
    },
  ]);
  const token = String(json["access_token"]);
  expect(decodeProtectedHeader(token)).toMatchObject({ typ: "oauth-id-jag+jwt", alg: "RS256" });
  expect(await company.call("token.verify", { token })).toMatchObject({ valid: true });
  const { iat = 0, exp = 0, ...claims } = decodeJwt(token);
  expect(exp - iat).toBe(300);
  expect(claims).toEqual({
    ...{ iss: company.issuer, sub: "a-1", aud: `${company.issuer}/i/tool`, client_id: "agent-at-tool" },
    ...{ jti: expect.any(String), auth_time: expect.any(Number), acr: expect.any(String), amr: ["user"] },
    ...{ resource, scope: "files:read files:write", email: "alice@company.example.com", email_verified: true },
  });
});

test("at the other issuer it gives an access token of its user, without refresh token and ID token", async () => {
  const company = await start();
  const resource = "https://files.tool.test";
  const idJag = await idJagOf(company, { resource, scope: "files:read" });
  const { status, json } = await redeem(company, idJag.json["access_token"]);
  expect([status, Object.keys(json).sort()]).toEqual([200, ["access_token", "expires_in", "scope", "token_type"]]);
  expect(json).toMatchObject({ token_type: "Bearer", scope: "files:read" });
  const token = String(json["access_token"]);
  const shown = await tool(company).call("token.introspect", { token });
  expect(shown).toMatchObject({ active: true, sub: "t-1", client_id: "agent-at-tool", aud: resource });
  expect(await tool(company).call("grants.list", { user: "al" })).toMatchObject([
    { client: "agent-at-tool", scope: "files:read", by: company.issuer },
  ]);
});

test("the other way around, from a refresh token, and for another user by the verified e-mail address", async () => {
  const company = await start();
  const { refresh_token = "" } = await tool(company).call("issue.tokens", { user: "al", client: "agent-at-tool" });
  const idJag = await post(tool(company), "agent-at-tool", {
    ...{ grant_type: tokenExchange, requested_token_type: typeOf("id-jag"), audience: company.issuer },
    ...{ subject_token: refresh_token, subject_token_type: typeOf("refresh_token"), scope: "openid" },
  });
  const assertion = String(idJag.json["access_token"]);
  const back = await post(company, "agent", { grant_type: jwtBearer, assertion });
  expect(back).toMatchObject({ status: 200, json: { scope: "openid" } });
  const userinfo = await fetch(`${company.issuer}/api/v2/oauth/userinfo`, {
    headers: { authorization: `Bearer ${String(back.json["access_token"])}` },
  });
  expect(await userinfo.json()).toMatchObject({ sub: "a-1" });
  const bob = await redeem(
    company,
    (await idJagOf(company, { user: "bob", scope: "files:read" })).json["access_token"],
  );
  expect(decodeJwt(String(bob.json["access_token"])).sub).toBe("t-2");
});

test("an issuer of another server is trusted by its keys", async () => {
  const company = await start();
  expect(await redeem(company, await partnerIdJag(company))).toMatchObject({
    status: 200,
    json: { scope: "files:read" },
  });
  expect(await tool(company).call("grants.list", { user: "al" })).toMatchObject([{ by: partner }]);
});

test("keys at a jwks_uri are fetched once, again for a key that is not known, and never through a redirect", async () => {
  const asked: string[] = [];
  let keys = { keys: [{ ...partnerKeys.keys[0], kid: "k1" }] };
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("location", "/keys");
    response.writeHead(request.url === "/keys" ? 200 : 302).end(JSON.stringify(keys));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const company = await start();
  const trust = (jwks_uri: string) =>
    tool(company).call("seed", { settings: { trusted_issuers: [{ issuer: partner, jwks_uri }] } });
  const redeemed = async (kid: string) => redeem(company, await partnerIdJag(company, {}, { kid }));
  await trust(`${at}/keys`);
  for (const _ of [1, 2]) expect(await redeemed("k1")).toMatchObject({ status: 200 });
  expect(asked).toEqual(["/keys"]);
  keys = { keys: [{ ...partnerKeys.keys[0], kid: "k2" }] };
  expect(await redeemed("k2")).toMatchObject({ status: 200 });
  expect(await redeemed("k1")).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
  await trust(`${at}/moved`);
  asked.length = 0;
  expect((await redeemed("k2")).json["error_description"]).toContain("redirects are not followed");
  expect(asked).toEqual(["/moved"]);
});

test("a scope is given only if the assertion, the client and the request name it", async () => {
  const company = await start();
  const given = async (named: string | undefined, asked?: string) => {
    const assertion = await partnerIdJag(company, { scope: named });
    const { json } = await redeem(company, assertion, asked === undefined ? {} : { scope: asked });
    return json["scope"] ?? json["error"];
  };
  expect(await given("files:read files:write")).toBe("files:read files:write");
  expect(await given("files:read", "files:read files:write")).toBe("files:read");
  expect(await given("files:read", "files:write")).toBe("invalid_scope");
  expect(await given("files:read files:all")).toBe("files:read");
  expect(await given("files:all")).toBe("invalid_scope");
  expect(await given(undefined)).toBeUndefined();
  expect(await given(undefined, "files:read")).toBe("invalid_scope");
});

test("after a revocation it gives nothing until the user consents again, and old tokens stay dead", async () => {
  const company = await start();
  const assert = async () => redeem(company, await partnerIdJag(company));
  const { json } = await assert();
  await tool(company).call("revoke", { user: "al", client: "agent-at-tool" });
  expect(await assert()).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
  await tool(company).call("issue.grant", { user: "al", client: "agent-at-tool", scope: "openid" });
  expect(await assert()).toMatchObject({ status: 200 });
  const old = await tool(company).call("token.introspect", { token: String(json["access_token"]) });
  expect(old.active).toBe(false);
});

test("an ID-JAG passes once, unless a setting says otherwise", async () => {
  const company = await start();
  const assertion = await partnerIdJag(company);
  expect(await redeem(company, assertion)).toMatchObject({ status: 200 });
  expect(await redeem(company, assertion)).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
  await tool(company).call("seed", {
    settings: { ...fixtures.issuers.tool.settings, id_jag_reuse: "on" },
  });
  const again = await partnerIdJag(company);
  for (const _ of [1, 2]) expect(await redeem(company, again)).toMatchObject({ status: 200 });
});

test("a token for fewer resources may be asked for, and one that is bound to a key", async () => {
  const company = await start();
  const resource = ["https://a.test", "https://b.test"];
  const one = await redeem(company, await partnerIdJag(company, { resource }), { resource: "https://a.test" });
  expect(decodeJwt(String(one.json["access_token"])).aud).toBe("https://a.test");
  const foreign = await redeem(company, await partnerIdJag(company), { resource: "https://a.test" });
  expect(foreign.json["error"]).toBe("invalid_target");
  const key = await newProofKey();
  const at = `${tool(company).issuer}/api/v2/oauth/token`;
  const body = {
    ...{ client_id: "agent-at-tool", client_secret: "s", grant_type: jwtBearer },
    assertion: await partnerIdJag(company),
  };
  const headers = { dpop: await key.prove(at) };
  const bound = await fetch(at, { method: "POST", headers, body: new URLSearchParams(body) });
  const { token_type, access_token } = (await bound.json()) as Record<string, string>;
  expect([token_type, decodeJwt(access_token ?? "")["cnf"]]).toEqual(["DPoP", { jkt: key.jkt }]);
});

test.each(["RS256", "PS256", "ES256", "EdDSA"])("an ID-JAG may be signed with %s", async (alg) => {
  const company = await start();
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const keys = [{ kty: "", ...(await exportJWK(publicKey)), kid: "p1", alg }];
  await tool(company).call("seed", { settings: { trusted_issuers: [{ issuer: partner, jwks: { keys } }] } });
  const assertion = await partnerIdJag(company, {}, { alg }, privateKey);
  expect(await redeem(company, assertion)).toMatchObject({ status: 200 });
});

test("an export has what was used and who granted, and an import keeps both", async () => {
  const company = await start();
  const assertion = await partnerIdJag(company);
  expect(await redeem(company, assertion)).toMatchObject({ status: 200 });
  await tool(company).call("import", { ...(await tool(company).call("export", {})) });
  expect(await redeem(company, assertion)).toMatchObject({ status: 400 });
  expect(await redeem(company, await partnerIdJag(company))).toMatchObject({ status: 200 });
  expect(await tool(company).call("grants.list", { user: "al" })).toMatchObject([{ by: partner }]);
});

test("discovery names what both sides do", async () => {
  const company = await start();
  const metadata = await fetch(`${company.issuer}/.well-known/openid-configuration`).then((one) => one.json());
  expect(metadata).toMatchObject({
    grant_types_supported: expect.arrayContaining([jwtBearer, tokenExchange]),
    authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
    identity_chaining_requested_token_types_supported: [typeOf("id-jag")],
  });
});

const idJagFlaws = flawList.flatMap(({ name, place }) => (place === "id-jag" ? [name] : []));

test.each(idJagFlaws)(
  "the flaw %s makes an ID-JAG that the other issuer refuses, and leaves other responses as they are",
  async (flaw) => {
    const company = await start();
    await company.call("faults.add", { endpoint: "token", flaw });
    const refresh = await company.call("issue.tokens", { user: "alice", client: "agent" });
    await post(company, "agent", { grant_type: "refresh_token", refresh_token: refresh.refresh_token ?? "" });
    const bad = (await idJagOf(company, { scope: "files:read" })).json["access_token"];
    expect(await redeem(company, bad)).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
    expect(await company.call("token.verify", { token: String(bad) })).toMatchObject({ valid: false });
    // Used up: the next one is right.
    const good = (await idJagOf(company, { scope: "files:read" })).json["access_token"];
    expect(await redeem(company, good)).toMatchObject({ status: 200 });
    // This server takes none of them for an ID token.
    const query = new URLSearchParams({
      id_token_hint: String(bad),
      post_logout_redirect_uri: "http://localhost:3000/",
    });
    expect((await fetch(`${company.issuer}/api/v2/oauth/logout?${query.toString()}`)).status).toBe(400);
  },
);

test("an ID token or a refresh token that was made to expire is named as what it is, in the response and in the ledger", async () => {
  const company = await start();
  const tokens = await company.call("issue.tokens", { user: "alice", client: "agent" });
  await company.expire({ user: "alice", refresh: true, access: true });
  for (const [type, subject_token, name] of [
    ["id_token", tokens.id_token, "ID token"],
    ["refresh_token", tokens.refresh_token ?? "", "refresh token"],
  ] as const) {
    const { status, json } = await idJagOf(company, { subject_token, subject_token_type: typeOf(type) });
    expect([status, json["error_description"]]).toEqual([400, `subject_token is not accepted: the ${name} expired`]);
    expect((await company.requests.list()).at(-1)?.error).toBe(
      `invalid_request: subject_token is not accepted: the ${name} was made to expire`,
    );
  }
});
