import { expect, test } from "vitest";
import { enroll, register } from "../helpers/app.ts";
import { jwtPart, userinfo } from "../helpers/client.ts";
import { claimsOf, exchangeServer, expectRefusal, scope } from "../helpers/exchange.ts";

/** The scope of an exchanged token never goes beyond that of the subject token, the client and the grant. */

const { exchange, idp, orders, ownToken, service, stock, tokensOf } = await exchangeServer();

test("scope may narrow", async () => {
  const { access_token } = await tokensOf();
  const answer = await exchange(orders, access_token, { scope: "orders:read" });
  expect(answer.json.scope).toBe("orders:read");
  expect(claimsOf(answer)["scope"]).toBe("orders:read");
  const again = await exchange(stock, answer.json.access_token, { scope: "orders:read orders:write" });
  expectRefusal(again, "invalid_scope", /'orders:write' is not part of the subject token's 'orders:read'/);
});

test("a scope of blanks counts as no scope", async () => {
  const { access_token } = await idp.issueTokens({ user: "bob", client: "front", scope: "email" });
  expect((await exchange(orders, access_token, { scope: " " })).json.scope).toBe("email");
});

test("a claim requested by name stays in the exchanged token, while the grant covers it", async () => {
  const own = await register(idp, { userinfo_format: "standard" });
  const claims = JSON.stringify({ userinfo: { email: null }, id_token: { name: null } });
  const { access_token } = await own.tokens({ user: "bob", scope: "openid", claims });
  const { json } = await exchange(orders, access_token);
  expect(json.scope).toBe("openid");
  const released = async () => (await userinfo(idp, json.access_token)).json;
  expect(await released()).toMatchObject({ email: "bob@example.com" });
  expect(await released()).not.toHaveProperty("name");
  await idp.call("seed", { grants: [{ user: "bob", client: own.credentials.client_id, scope: "openid" }] });
  expect(await released()).not.toHaveProperty("email");
});

test("a scope that the client lost is gone from the subject token, an earlier exchanged one and one without a user", async () => {
  const own = await service({ grant_types: ["authorization_code", "refresh_token", "client_credentials"] });
  const { client_id } = own.credentials;
  const { access_token } = await tokensOf("alice", own);
  const before = (await exchange(orders, access_token)).json;
  const alone = await ownToken(await service({ scope: "orders:read" }));
  expect(claimsOf(await exchange(orders, alone))["scope"]).toBe("orders:read");
  await idp.call("clients.edit", { client_id, scope: "openid" });
  await idp.call("clients.edit", { client_id: String(jwtPart(alone, 1)["client_id"]), scope: "openid" });
  const introspected = async (token: string) => (await idp.call("token.introspect", { token }))["scope"];
  for (const token of [access_token, before.access_token]) {
    expect(await introspected(token)).toBe("openid");
    expect((await exchange(orders, token)).json.scope).toBe("openid");
  }
  expect(await introspected(alone)).toBeUndefined();
  expect(claimsOf(await exchange(orders, alone))["scope"]).toBeUndefined();
});

test("a scope that any client on the way lost is gone from tokens that were exchanged twice", async () => {
  const [middle, last] = [await service({ scope }), await service({ scope })];
  const ofUser = (await exchange(middle, (await tokensOf()).access_token)).json.access_token;
  const exchanged = [ofUser, await ownToken(middle)].map(async (token) => (await exchange(last, token)).json);
  const [withUser, alone] = await Promise.all(exchanged);
  expect([withUser?.scope, alone?.scope]).toEqual([scope, scope]);
  await idp.call("clients.edit", { client_id: middle.credentials.client_id, scope: "openid orders:read" });
  for (const { access_token } of [withUser, alone].filter((json) => json !== undefined)) {
    expect((await idp.call("token.introspect", { token: access_token }))["scope"]).toBe("openid orders:read");
    expect((await exchange(last, access_token)).json.scope).toBe("openid orders:read");
  }
  expect((await userinfo(idp, withUser?.access_token ?? "")).json).not.toHaveProperty("user.email");
});

test("scope never widens", async () => {
  const { access_token } = await tokensOf();
  const answer = await exchange(orders, access_token, { scope: "openid phone" });
  expectRefusal(answer, "invalid_scope", /'phone' is not part of the subject token's/);
});

test("scope stays within the client's, requested or not", async () => {
  const reader = await service({ scope: "openid orders:read phone" });
  const { access_token } = await tokensOf();
  expect((await exchange(reader, access_token)).json.scope).toBe("openid orders:read");
  const more = await exchange(reader, access_token, { scope: "orders:read orders:write" });
  expectRefusal(more, "invalid_scope", /may not ask for 'orders:write'/);
  const other = await service({ scope: "phone" });
  expectRefusal(
    await exchange(other, access_token),
    "invalid_scope",
    /the subject token's scope .* has no scope in common/,
  );
});

test("a scope that the user has withdrawn since does not come back by an exchange", async () => {
  const user = await enroll(idp);
  const { access_token } = await tokensOf(user);
  await idp.call("seed", { grants: [{ user, client: "front", scope: "openid" }] });
  expect((await exchange(orders, access_token)).json.scope).toBe("openid");
  expectRefusal(await exchange(orders, access_token, { scope: "email" }), "invalid_scope", /'email' is not part/);
});
