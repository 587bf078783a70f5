import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";

/** Tokens of workloads prove a client, in place of a secret, and can be exchanged for a token without a user. */

const elsewhere = "https://ci.example.test";
const { privateKey, publicKey } = await generateKeyPair("RS256");
const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "RS256" }] };
const subject = "repo:acme/shop:ref:refs/heads/main";
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

async function start(): Promise<Idp> {
  // The issuer of a workload is known only with the port.
  const idp = await createIdp({ fixtures: {} });
  onTestFinished(() => idp.close());
  const client = (client_id: string, issuer: string, more: object = {}) => ({
    client_id,
    grant_types: ["client_credentials", jwtBearer],
    scope: "openid",
    claims: { tenant: "acme" },
    federated_credentials: [{ issuer, subject, audience: idp.issuer }],
    ...more,
  });
  await idp.call("seed", {
    clients: [
      client("deploy", `${idp.issuer}/w/shop`),
      client("foreign", elsewhere),
      client("untrusted", "https://other.example.test"),
      client("with-secret", elsewhere, { client_secret: "s" }),
    ],
    workloads: { shop: { as: "github-actions", claims: { repository: "acme/shop" } } },
    settings: {
      trusted_issuers: [
        { issuer: elsewhere, jwks, accepts: "workload" },
        { issuer: "https://other.example.test", jwks },
        { issuer: `${idp.issuer}/w/gitlab`, accepts: "workload" },
      ],
    },
  });
  return idp;
}

const tokenOf = async (idp: Idp, more: object = {}): Promise<string> =>
  (await idp.call("workloads.issue", { name: "shop", audience: idp.issuer, ...more })).token;

/** A token of the other issuer, as it has to be but for what is given. */
const foreignToken = (idp: Idp, claims: object = {}, header: object = {}): Promise<string> =>
  new SignJWT({ iss: elsewhere, sub: subject, aud: idp.issuer, exp: Math.floor(Date.now() / 1000) + 300, ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "k1", ...header })
    .sign(privateKey);

async function post(idp: Idp, parameters: Readonly<Record<string, string>>) {
  const response = await fetch(`${idp.issuer}/api/v2/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "client_credentials", ...parameters }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, string> };
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const withAssertion = (idp: Idp, client_id: string, client_assertion: string) =>
  post(idp, { client_id, client_assertion, client_assertion_type: assertionType });

test("a token of the workload authenticates the client that lists it, again and again until it expires", async () => {
  const idp = await start();
  const token = await tokenOf(idp);
  for (const _ of [1, 2]) expect(await withAssertion(idp, "deploy", token)).toMatchObject({ status: 200 });
  expect(await withAssertion(idp, "foreign", await foreignToken(idp))).toMatchObject({ status: 200 });
  expect(await withAssertion(idp, "with-secret", await foreignToken(idp))).toMatchObject({ status: 200 });
  expect(await post(idp, { client_id: "with-secret", client_secret: "s" })).toMatchObject({ status: 200 });
  expect((await idp.call("clients.show", { client_id: "deploy" })).public).toBe(false);
});

test("a token of another repository, audience or kind, or a bad one, authenticates nobody", async () => {
  const idp = await start();
  for (const change of [
    ...[
      { claims: { repository: "acme/other" } },
      { claims: { ref: "refs/heads/fork" } },
      { audience: "https://api.test" },
    ],
    ...[
      { expired: true },
      { not_yet_valid: true },
      { wrong_issuer: true },
      { wrong_audience: true },
      { missing_expiry: true },
    ],
    ...[{ issuer_prefix: true }, { issuer_slash: true }, { audience_contains: true }, { crit: true }],
    ...[{ bad_signature: true }, { unknown_kid: true }, { alg_none: true }, { wrong_type: true }],
  ]) {
    const { status, json } = await withAssertion(idp, "deploy", await tokenOf(idp, change));
    expect([change, status, json["error"]]).toEqual([change, 401, "invalid_client"]);
  }
  for (const [assertion, reason] of [
    ["x", "it is not a JWT"],
    [await tokenOf(idp, { crit: true }), "its header has 'crit', and no extension is known here"],
  ] as const) {
    const { json } = await withAssertion(idp, "deploy", assertion);
    expect(json["error_description"]).toBe(`client_assertion is not accepted: ${reason}`);
  }
  for (const [claims, header] of [
    [{ aud: [idp.issuer, "https://api.test"] }, {}],
    [{ sub: `${subject}x` }, {}],
    [{ exp: undefined }, {}],
    [{}, { typ: "oauth-id-jag+jwt" }],
    [{}, { kid: "k2" }],
  ] as const) {
    const { status } = await withAssertion(idp, "foreign", await foreignToken(idp, claims, header));
    expect([claims, header, status]).toEqual([claims, header, 401]);
  }
});

test("another issuer with the same claims authenticates nobody, nor does one that is trusted for something else", async () => {
  const idp = await start();
  const issuer = `${idp.issuer}/w/shop`;
  const forged = await foreignToken(idp, { iss: issuer });
  expect(await withAssertion(idp, "deploy", forged)).toMatchObject({ status: 401 });
  expect(await withAssertion(idp, "deploy", await foreignToken(idp))).toMatchObject({ status: 401 });
  const other = await foreignToken(idp, { iss: "https://other.example.test" });
  const refused = await withAssertion(idp, "untrusted", other);
  expect([refused.status, refused.json["error_description"]]).toEqual([
    401,
    expect.stringContaining("trusted_issuers"),
  ]);
});

test("the request names the client, and a client without such credentials is not proven by a token", async () => {
  const idp = await start();
  await idp.call("clients.add", { client_id: "plain", client_secret: "s", grant_types: ["client_credentials"] });
  const token = await tokenOf(idp);
  expect(await post(idp, { client_assertion: token, client_assertion_type: assertionType })).toMatchObject({
    status: 401,
  });
  expect(await withAssertion(idp, "plain", token)).toMatchObject({ status: 401 });
  expect(await post(idp, { client_id: "deploy" })).toMatchObject({ status: 401 });
  expect(await post(idp, { client_id: "deploy", client_secret: "" })).toMatchObject({ status: 401 });
});

test("clients that register themselves cannot have them", async () => {
  const idp = await createIdp({ fixtures: {}, dynamicRegistration: true });
  onTestFinished(() => idp.close());
  const response = await fetch(`${idp.issuer}/api/v2/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      redirect_uris: ["http://localhost/cb"],
      federated_credentials: [{ issuer: elsewhere, subject, audience: idp.issuer }],
      id_jag_audiences: [{ issuer: elsewhere }],
    }),
  });
  expect(response.status).toBe(201);
  expect(await response.text()).not.toContain(elsewhere);
});

test("jwt-bearer: a trusted workload's token gives a token of the client, without a user", async () => {
  const idp = await start();
  const exchange = async (assertion: string, client_id = "with-secret") =>
    post(idp, { grant_type: jwtBearer, client_id, client_secret: "s", assertion, scope: "openid" });
  for (const assertion of [await foreignToken(idp), await tokenOf(idp, { name: "gitlab" })])
    expect(await exchange(assertion)).toMatchObject({ status: 200 });
  const { status, json } = await exchange(await foreignToken(idp));
  expect([status, Object.keys(json).sort()]).toEqual([200, ["access_token", "expires_in", "scope", "token_type"]]);
  const claims = await idp.call("token.introspect", { token: json["access_token"] ?? "" });
  expect(claims).toMatchObject({ active: true, client_id: "with-secret", sub: "with-secret", tenant: "acme" });
  for (const [assertion, error] of [
    [await foreignToken(idp, { aud: "https://api.test" }), "invalid_grant"],
    [await foreignToken(idp, { iss: "https://other.example.test" }), "invalid_grant"],
    [await foreignToken(idp, { exp: 1 }), "invalid_grant"],
    // A workload of this process needs an entry here.
    [await tokenOf(idp), "invalid_grant"],
    ["nonsense", "invalid_grant"],
    ["", "invalid_request"],
  ] as const) {
    const { status: refused, json: body } = await exchange(assertion);
    expect([refused, body["error"]]).toEqual([400, error]);
  }
});
