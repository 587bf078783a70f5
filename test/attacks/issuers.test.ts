import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, exchange, paths, post, refresh, signIn, userinfo } from "../helpers/client.ts";
import { newProofKey } from "../helpers/dpop.ts";

/** What belongs to one issuer of a process is refused at another: the first one and one below it, and two beside each other. */

const first = await underAttack({ dynamicRegistration: true });
const a = await first.issuers.add("a");
const b = await first.issuers.add("b");

const pairs = [
  ["the first issuer", "an issuer below it", first, a],
  ["an issuer below it", "the first issuer", a, first],
  ["an issuer", "one beside it", a, b],
] as const;

const credentials = { client_id: "demo-app", client_secret: "demo-secret" };

/** How a refusal names the issuer of what was sent. */
const isOf = (one: typeof a, other: typeof a): string => `one of the issuer ${one.issuer}; this is ${other.issuer}`;

async function tokensOf(idp: typeof a) {
  const { code } = await signIn(idp, { scope: "openid profile offline_access" });
  const { status, json } = await exchange(idp, code);
  expect(status).toBe(200);
  return json;
}

const admin = (idp: typeof a, token: string) =>
  fetch(`${idp.issuer}/_idp/api/users`, { headers: { authorization: `Bearer ${token}` } });

test.each(pairs)("tokens of %s at %s", async (_one, _other, one, other) => {
  const tokens = await tokensOf(one);
  const refused = await userinfo(other, tokens.access_token);
  expect(refused).toMatchObject({ status: 401, json: { error: "invalid_token" } });
  // Each refusal names the issuer that the token belongs to.
  expect(refused.json.error_description).toContain(isOf(one, other));
  const notRefreshed = (await refresh(other, tokens.refresh_token)).json;
  expect(notRefreshed.error).toBe("invalid_grant");
  expect(notRefreshed.error_description).toContain(isOf(one, other));
  const hinted = await fetch(authorizeUrl(other, { id_token_hint: tokens.id_token }), { redirect: "manual" });
  expect(new URL(hinted.headers.get("location") ?? "").searchParams.get("error_description")).toContain(
    isOf(one, other),
  );
  const logout = await fetch(`${other.issuer}/api/v2/oauth/logout?id_token_hint=${tokens.id_token}`);
  expect(await logout.text()).toContain(isOf(one, other));
  for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token]) {
    const { json } = await post(other, "/api/v2/oauth/introspect", { token, ...credentials });
    expect(json).toEqual({ active: false });
    await post(other, paths.revoke, { token, ...credentials });
  }
  // Revoking it at the other one ended nothing here.
  expect((await userinfo(one, tokens.access_token)).status).toBe(200);
  expect((await refresh(one, tokens.refresh_token)).status).toBe(200);
});

test.each(pairs)("a code of %s at %s, and it can still be redeemed", async (_one, _other, one, other) => {
  const { code } = await signIn(one);
  const refused = { error: "invalid_grant", error_description: `code is ${isOf(one, other)}` };
  expect((await exchange(other, code)).json).toMatchObject(refused);
  expect((await exchange(one, code)).status).toBe(200);
});

test.each(pairs)("a pushed request of %s at %s", async (_one, _other, one, other) => {
  const body = new URL(authorizeUrl(one)).searchParams;
  body.set("client_secret", "demo-secret");
  const pushed = await fetch(`${one.issuer}/api/v2/oauth/par`, { method: "POST", body });
  expect(pushed.status).toBe(201);
  const query = new URLSearchParams({
    client_id: "demo-app",
    request_uri: String(((await pushed.json()) as Record<string, unknown>)["request_uri"]),
  });
  const opened = await fetch(`${other.issuer}${paths.authorize}?${query.toString()}`, { redirect: "manual" });
  expect(opened.status).toBe(400);
  expect(await opened.text()).toContain(`request_uri is ${isOf(one, other)}`);
  expect((await fetch(`${one.issuer}${paths.authorize}?${query.toString()}`, { redirect: "manual" })).status).toBe(303);
});

test.each(pairs)("a device code of %s at %s", async (_one, _other, one, other) => {
  const tv = { client_id: "tv", client_secret: null };
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  for (const idp of [one, other]) await idp.call("seed", { clients: [{ client_id: "tv", grant_types: [grant_type] }] });
  const body = new URLSearchParams({ client_id: "tv", scope: "openid" });
  const { json } = await post(one, "/api/v2/oauth/device_authorization", {}, { headers: {}, body });
  const poll = { ...tv, grant_type, device_code: String(json["device_code"]) };
  const refused = { error: "invalid_grant", error_description: `device_code is ${isOf(one, other)}` };
  expect((await post(other, paths.token, poll)).json).toMatchObject(refused);
  expect((await post(one, paths.token, poll)).json.error).toBe("authorization_pending");
});

test.each(pairs)("a registration of %s at %s", async (_one, _other, one, other) => {
  const metadata = { body: JSON.stringify({ redirect_uris: ["https://app.test/cb"] }) };
  const { json: registered } = await post(one, "/api/v2/oauth/register", {}, metadata);
  const uri = String(registered["registration_client_uri"]);
  expect(uri.startsWith(one.issuer)).toBe(true);
  const headers = { authorization: `Bearer ${String(registered["registration_access_token"])}` };
  expect((await fetch(uri.replace(one.issuer, other.issuer), { headers })).status).toBe(401);
  expect((await fetch(uri, { headers })).status).toBe(200);
});

test.each(pairs)("a client assertion for %s at %s", async (_one, _other, one, other) => {
  const client_secret = "a secret of 32 bytes or more, for HS256";
  const service = { client_id: "service", client_secret, grant_types: ["client_credentials"] };
  const token_endpoint_auth_method = "client_secret_jwt";
  for (const idp of [one, other]) await idp.call("seed", { clients: [{ ...service, token_endpoint_auth_method }] });
  const client_assertion = await new SignJWT({ iss: "service", sub: "service", aud: one.issuer, jti: randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuedAt()
    .setExpirationTime("1m")
    .sign(new TextEncoder().encode(client_secret));
  const refused = await post(other, paths.token, {
    ...{ grant_type: "client_credentials", client_id: null, client_secret: null, client_assertion },
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  });
  expect(refused).toMatchObject({ status: 401, json: { error: "invalid_client" } });
  expect(refused.json.error_description).toContain(`it is for '${one.issuer}'; this is ${other.issuer}`);
});

test.each(pairs)("a DPoP proof for %s at %s", async (_one, _other, one, other) => {
  const dpop = await (await newProofKey()).prove(one.issuer + paths.token);
  const service = { client_id: "demo-service", client_secret: "demo-service-secret" };
  const headers = { "content-type": "application/json", dpop };
  const body = JSON.stringify({ grant_type: "client_credentials", ...service });
  const { json } = await post(other, paths.token, {}, { headers, body });
  expect(json.error).toBe("invalid_dpop_proof");
  for (const { issuer } of [one, other]) expect(json.error_description).toContain(issuer + paths.token);
});

test.each(pairs)("the cookies of %s at %s: signed in at each on its own", async (_one, _other, one, other) => {
  const browser = new Browser(one.issuer, other.issuer);
  const at = async (idp: typeof a): Promise<Visit> => browser.open(authorizeUrl(idp));
  await approve(browser, await at(one), "alice");
  expect(await at(other)).toMatchObject({ page: "login" });
  await approve(browser, await at(other), "bob");
  expect((await browser.open(`${one.issuer}/account`)).body).toContain("Alice Adams");
  expect((await browser.open(`${other.issuer}/account`)).body).toContain("Bob Brown");
  await browser.press(await browser.open(`${one.issuer}/account`), "account-signout");
  expect(await at(one)).toMatchObject({ page: "login" });
  expect((await at(other)).left?.searchParams.get("iss")).toBe(other.issuer);
});

test.each(pairs)("a client, a user and a change of %s are not those of %s", async (_one, _other, one, other) => {
  await one.call("clients.add", { client_id: "only-here", redirect_uris: ["https://app.test/cb"] });
  const opened = await fetch(authorizeUrl(other, { client_id: "only-here", redirect_uri: "https://app.test/cb" }));
  expect(opened.status).toBe(400);
  const tokens = await tokensOf(other);
  await one.call("reset", {});
  await one.call("users.suspend", { username: "alice" });
  await one.call("clock.advance", { by: "2h" });
  await one.call("faults.add", { endpoint: "userinfo", status: 503, always: true });
  expect((await userinfo(other, tokens.access_token)).status).toBe(200);
  await one.call("faults.clear", {});
  await one.call("clock.reset", {});
  await one.call("reset", {});
});

test("the process has one admin token, which works at each issuer; another is refused", async () => {
  for (const idp of [first, a, b]) {
    expect((await admin(idp, first.adminToken)).status).toBe(200);
    expect((await admin(idp, "another-token-of-nobody")).status).toBe(401);
  }
});
