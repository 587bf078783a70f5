import { expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, exchange, paths, post, refresh, signIn, userinfo } from "../helpers/client.ts";

/** What belongs to one issuer of a process is refused at another (CONTRACT 11): the first one and one below it, and two beside each other. */

const first = await underAttack();
const a = await first.issuers.add("a");
const b = await first.issuers.add("b");

const pairs = [
  ["the first issuer", "an issuer below it", first, a],
  ["an issuer below it", "the first issuer", a, first],
  ["an issuer", "one beside it", a, b],
] as const;

const credentials = { client_id: "demo-app", client_secret: "demo-secret" };

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
  // The refusal names the issuer that the token belongs to.
  expect(JSON.stringify(refused.json)).toContain(one.issuer);
  expect((await refresh(other, tokens.refresh_token)).json.error).toBe("invalid_grant");
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
  expect((await exchange(other, code)).json.error).toBe("invalid_grant");
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
  expect((await fetch(`${one.issuer}${paths.authorize}?${query.toString()}`, { redirect: "manual" })).status).toBe(303);
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
  await one.call("clients.add", { entry: { client_id: "only-here", redirect_uris: ["https://app.test/cb"] } });
  const opened = await fetch(authorizeUrl(other, { client_id: "only-here", redirect_uri: "https://app.test/cb" }));
  expect(opened.status).toBe(400);
  const tokens = await tokensOf(other);
  await one.call("reset", {});
  await one.call("users.suspend", { username: "alice" });
  await one.call("clock.advance", { by: "2h" });
  await one.call("faults.add", { fault: { endpoint: "userinfo", status: 503, always: true } });
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
