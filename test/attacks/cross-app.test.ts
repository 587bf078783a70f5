import { createHmac } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import {
  ci,
  fixtures,
  idJagOf,
  jwtBearer,
  noGrant,
  partner,
  partnerIdJag,
  post,
  redeem,
  refused,
  tokenExchange,
  typeOf,
  type Answer,
} from "../helpers/cross-app.ts";

/** ID-JAGs that are wrong in one respect, and other tokens in their place. None of them gives a token. */

const company = await underAttack({ fixtures });
const tool = { issuer: `${company.issuer}/i/tool` };
const toolIdp = company.issuers.get("tool");
const now = (): number => Math.floor(Date.now() / 1000);

const claims: readonly [what: string, change: () => JWTPayload | Record<string, unknown>][] = [
  ["no iss", () => ({ iss: undefined })],
  ["another issuer, with a key of the trusted one", () => ({ iss: "https://evil.test" })],
  ["the issuer with a trailing slash", () => ({ iss: `${partner}/` })],
  ["this issuer", () => ({ iss: tool.issuer })],
  ["an issuer that is trusted for workloads only", () => ({ iss: ci })],
  ["no aud", () => ({ aud: undefined })],
  ["another aud", () => ({ aud: company.issuer })],
  ["the token endpoint as aud", () => ({ aud: `${tool.issuer}/api/v2/oauth/token` })],
  ["two audiences", () => ({ aud: [tool.issuer, company.issuer] })],
  ["the same audience twice", () => ({ aud: [tool.issuer, tool.issuer] })],
  ["no client", () => ({ client_id: undefined })],
  ["another client", () => ({ client_id: "other" })],
  ["a list of clients", () => ({ client_id: ["agent-at-tool"] })],
  ["no exp", () => ({ exp: undefined })],
  ["a past exp", () => ({ iat: now() - 600, exp: now() - 1 })],
  ["exp as text", () => ({ exp: String(now() + 300) })],
  ["a life of more than an hour", () => ({ exp: now() + 3700 })],
  ["no iat", () => ({ iat: undefined })],
  ["iat in the future", () => ({ iat: now() + 300, exp: now() + 600 })],
  ["nbf in the future", () => ({ nbf: now() + 300 })],
  ["no jti", () => ({ jti: undefined })],
  ["an empty jti", () => ({ jti: "" })],
  ["jti as a number", () => ({ jti: 5 })],
  ["no sub", () => ({ sub: undefined })],
  ["an empty sub", () => ({ sub: "" })],
  ["an unknown sub", () => ({ sub: "p-nobody" })],
  ["the sub of another issuer", () => ({ sub: "a-1" })],
  ["sub as a list", () => ({ sub: ["p-al"] })],
  ["cnf", () => ({ cnf: { jkt: "x" } })],
  ["cnf that is null", () => ({ cnf: null })],
  ["authorization_details", () => ({ authorization_details: [] })],
  ["scope as a list", () => ({ scope: ["files:read"] })],
  ["a resource that is no URI", () => ({ resource: "files" })],
  ["a resource that is no text", () => ({ resource: [5] })],
  [
    "a verified address where the entry does not match by it",
    () => ({ sub: "x", email: "bob@company.example.com", email_verified: true }),
  ],
];

describe("an ID-JAG with", () => {
  test.each(claims)("%s", async (_what, change) => {
    const answer = await redeem(company, await partnerIdJag(company, change()));
    expect(refused(answer)).toEqual(noGrant);
    expect(answer.json["error_description"]).not.toContain("undefined");
  });

  test.each<[string, object]>([
    ["no typ", { typ: undefined }],
    ["the typ of an ID token", { typ: "JWT" }],
    ["the typ of an access token", { typ: "at+jwt" }],
    ["an unknown kid", { kid: "p2" }],
    ["an extension", { crit: ["exp"] }],
  ])("%s", async (_what, header) => {
    const made = partnerIdJag(company, {}, header).catch(async () => {
      const [, body, signature] = (await partnerIdJag(company)).split(".");
      const head = Buffer.from(JSON.stringify({ alg: "RS256", kid: "p1", typ: "oauth-id-jag+jwt", ...header }));
      return `${head.toString("base64url")}.${body}.${signature}`;
    });
    expect(refused(await redeem(company, await made))).toEqual(noGrant);
  });

  test("a wrong signature, none, another key, the public key as a secret, or a key of its own", async () => {
    const good = await partnerIdJag(company);
    const [head = "", body = "", signature = ""] = good.split(".");
    const header = (change: object): string =>
      Buffer.from(JSON.stringify({ alg: "RS256", kid: "p1", typ: "oauth-id-jag+jwt", ...change })).toString(
        "base64url",
      );
    const { privateKey, publicKey } = await generateKeyPair("RS256");
    const own = await new SignJWT(JSON.parse(Buffer.from(body, "base64url").toString()) as JWTPayload)
      .setProtectedHeader({ alg: "RS256", kid: "p1", typ: "oauth-id-jag+jwt", jwk: await exportJWK(publicKey) })
      .sign(privateKey);
    const jwk = JSON.stringify(fixtures.issuers.tool.settings.trusted_issuers[1]?.jwks);
    const hmac = createHmac("sha256", jwk)
      .update(`${header({ alg: "HS256" })}.${body}`)
      .digest("base64url");
    for (const token of [
      `${head}.${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
      `${head}.${body}.`,
      `${head}.${body}`,
      `${header({ alg: "none" })}.${body}.`,
      `${header({ alg: "None" })}.${body}.${signature}`,
      `${header({ alg: "HS256" })}.${body}.${hmac}`,
      own,
      "",
      "x",
    ]) {
      const { status, json } = await redeem(company, token);
      expect([token.slice(0, 20), status, json["access_token"]]).toEqual([token.slice(0, 20), 400, undefined]);
    }
    // It was right all the time.
    expect(await redeem(company, good)).toMatchObject({ status: 200 });
  });
});

test("an ID-JAG of another client, or without its secret, gives nothing", async () => {
  const assertion = await partnerIdJag(company);
  const parameters = { grant_type: jwtBearer, assertion };
  expect(refused(await post(tool, "other", parameters))).toEqual(noGrant);
  expect((await post(tool, "agent-at-tool", { ...parameters, client_secret: "wrong" })).status).toBe(401);
});

test("fifty requests with one ID-JAG get one token", async () => {
  const assertion = await partnerIdJag(company);
  const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(company, assertion)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("by e-mail, only a verified address finds a user: the only one who is active, verified and not linked to another subject", async () => {
  const assertion = async (user: string) => (await idJagOf(company, { user })).json["access_token"];
  await toolIdp.call("users.edit", { username: "unverified", emailVerified: true });
  // Eve's address is not verified at the company.
  expect(refused(await redeem(company, await assertion("eve")))).toEqual(noGrant);
  await company.call("users.edit", { username: "eve", emailVerified: true });
  expect(await redeem(company, await assertion("eve"))).toMatchObject({ status: 200 });
  for (const [wrong, right] of [
    [{ emailVerified: false }, { emailVerified: true }],
    [{ federated: [{ issuer: "/", sub: "another" }] }, { federated: [] }],
    [{ federated: [{ issuer: company.issuer, sub: "another" }] }, { federated: [] }],
    [{ email: "Eve@company.example.com" }, { email: "eve@company.example.com" }],
  ]) {
    await toolIdp.call("users.edit", { username: "unverified", ...wrong });
    expect(refused(await redeem(company, await assertion("eve")))).toEqual(noGrant);
    await toolIdp.call("users.edit", { username: "unverified", ...right });
  }
  await toolIdp.call("users.add", { username: "twin", email: "EVE@company.example.com", emailVerified: true });
  expect(refused(await redeem(company, await assertion("eve")))).toEqual(noGrant);
  await toolIdp.call("users.suspend", { username: "twin" });
  expect(await redeem(company, await assertion("eve"))).toMatchObject({ status: 200 });
  await toolIdp.call("users.suspend", { username: "unverified" });
  expect(refused(await redeem(company, await assertion("eve")))).toEqual(noGrant);
});

test("a subject that two users are linked to finds nobody", async () => {
  await toolIdp.call("users.add", { username: "second", federated: [{ issuer: partner, sub: "p-al" }] });
  expect(refused(await redeem(company, await partnerIdJag(company)))).toEqual(noGrant);
  await toolIdp.call("users.remove", { username: "second" });
  expect(await redeem(company, await partnerIdJag(company))).toMatchObject({ status: 200 });
});

test("an issuer of the same records is never trusted, however it is named", async () => {
  const idp = await underAttack({
    fixtures: {
      users: fixtures.users,
      clients: fixtures.clients.map((client) => ({ ...client, id_jag_audiences: [{ issuer: "/" }] })),
      settings: { endpoints: "okta", trusted_issuers: [{ issuer: "/", match: "email" }] },
    },
  });
  const own = `${new URL(idp.issuer).origin}/oauth2/v1/token`;
  const send = async (at: string, parameters: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ client_id: "agent", client_secret: "s", ...parameters });
    const response = await fetch(at, { method: "POST", body });
    return { status: response.status, json: (await response.json()) as Answer["json"] };
  };
  const { id_token } = await idp.call("issue.tokens", { user: "alice", client: "agent" });
  const idJag = await send(`${idp.issuer}/v1/token`, {
    ...{ grant_type: tokenExchange, requested_token_type: typeOf("id-jag"), audience: new URL(idp.issuer).origin },
    ...{ subject_token: id_token, subject_token_type: typeOf("id_token") },
  });
  expect(idJag.status).toBe(200);
  const assertion = String(idJag.json["access_token"]);
  expect(refused(await send(own, { grant_type: jwtBearer, assertion }))).toEqual(noGrant);
  await idp.call("seed", {
    settings: {
      endpoints: "okta",
      trusted_issuers: [{ issuer: idp.issuer, jwks_uri: `${idp.issuer}/v1/keys`, match: "email" }],
    },
  });
  expect(refused(await send(own, { grant_type: jwtBearer, assertion }))).toEqual(noGrant);
});

test("a suspended or banned user gets nothing at either issuer", async () => {
  const idJag = (await idJagOf(company)).json["access_token"];
  await toolIdp.call("users.suspend", { username: "al" });
  expect(refused(await redeem(company, idJag))).toEqual(noGrant);
  await toolIdp.call("users.restore", { username: "al" });
  const { id_token } = await company.call("issue.tokens", { user: "alice", client: "agent" });
  const ask = () => idJagOf(company, { subject_token: id_token, user: "bob" });
  await company.call("users.suspend", { username: "alice" });
  expect(refused(await ask())).toEqual(noGrant);
  await company.call("users.restore", { username: "alice" });
  expect(await ask()).toMatchObject({ status: 200 });
});

test("other tokens in place of an ID-JAG give nothing", async () => {
  const { id_token, access_token, refresh_token } = await company.call("issue.tokens", {
    user: "alice",
    client: "agent",
  });
  const workload = await company.call("workloads.issue", { name: "gitlab", audience: tool.issuer });
  const own = await toolIdp.call("issue.tokens", { user: "al", client: "agent-at-tool" });
  for (const token of [id_token, access_token, refresh_token, workload.token, own.id_token, own.access_token])
    expect(refused(await redeem(company, token))).toEqual(noGrant);
});

test("an ID-JAG in place of other tokens gives nothing", async () => {
  const idJag = String((await idJagOf(company)).json["access_token"]);
  const bearer = { headers: { authorization: `Bearer ${idJag}` } };
  for (const { issuer } of [company, tool])
    expect((await fetch(`${issuer}/api/v2/oauth/userinfo`, bearer)).status).toBe(401);
  for (const type of ["id_token", "refresh_token", "access_token", "id-jag"]) {
    const asId = await idJagOf(company, { subject_token: idJag, subject_token_type: typeOf(type) });
    expect(refused(asId)).toEqual([400, "invalid_request", []]);
    const exchange = { grant_type: tokenExchange, subject_token: idJag, subject_token_type: typeOf(type) };
    expect(refused(await post(company, "agent", exchange))).toEqual([400, "invalid_request", []]);
  }
  const refresh = { grant_type: "refresh_token", refresh_token: idJag };
  expect(refused(await post(company, "agent", refresh))).toEqual(noGrant);
  const query = new URLSearchParams({ id_token_hint: idJag });
  const logout = await fetch(`${company.issuer}/api/v2/oauth/logout?${query.toString()}`, { redirect: "manual" });
  expect(logout.status).toBe(400);
  const asAssertion = {
    client_assertion: idJag,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  };
  const { status } = await post(tool, "agent-at-tool", {
    ...asAssertion,
    client_secret: "",
    grant_type: "client_credentials",
  });
  expect(status).toBeGreaterThanOrEqual(400);
});
