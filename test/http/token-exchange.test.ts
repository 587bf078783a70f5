import { expect, test } from "vitest";
import type { FixtureClient } from "../../src/core/fixtures/schema/client.ts";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { jwtPart, paths, post, refresh, userinfo, type Answer, type Body } from "../helpers/client.ts";
import { newProofKey } from "../helpers/dpop.ts";
import { testClock } from "../helpers/clock.ts";

const clock = testClock();
const idp = await serve({ now: clock.now });
await idp.call("seed", { scopes: { "orders:read": {}, "orders:write": {} } });

const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";
const tokenUrl = idp.issuer + paths.token;
const aliceId = "7123456789012345678";
const scope = "openid email orders:read orders:write";

/** A service that may exchange tokens, and speak for itself. */
const service = (metadata: Partial<FixtureClient> = {}): Promise<App> =>
  register(idp, { grant_types: [grantType, "client_credentials"], ...metadata });

const front = await register(idp, { client_id: "front" });
const orders = await service({ client_id: "orders" });
const stock = await service({ client_id: "stock" });

/** What an application of a user has: tokens for all of the scope. */
const tokensOf = (user = "alice", app: App = front) =>
  idp.issueTokens({ user, client: app.credentials.client_id, scope });

/** The access token of a service that speaks for itself. */
const ownToken = async (by: App, proof: Record<string, string> = {}): Promise<string> => {
  const headers = { "content-type": "application/json", ...proof };
  return (await post(idp, paths.token, { grant_type: "client_credentials", ...by.credentials }, { headers })).json
    .access_token;
};

/** Null leaves a parameter out, a list sends it more than once. */
type Change = Readonly<Record<string, string | readonly string[] | null>>;

/** What a service is answered for a subject token. */
function exchange(
  by: App,
  token: string | null,
  change: Change = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const parameters: Change = {
    grant_type: grantType,
    subject_token: token,
    subject_token_type: accessTokenType,
    ...by.credentials,
    ...change,
  };
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(parameters))
    for (const value of [values ?? []].flat()) body.append(name, value);
  return post(idp, paths.token, {}, { headers, body });
}

const withActor = (token: string): Change => ({ actor_token: token, actor_token_type: accessTokenType });

const claimsOf = ({ json }: Answer): Record<string, unknown> => jwtPart(json.access_token, 1);

/** Status, error, and that its description says why. */
function expectRefusal({ status, json, headers }: Answer, error: string, why: RegExp): void {
  expect({ status, error: json.error }).toEqual({ status: 400, error });
  expect(json.error_description).toMatch(why);
  expect(headers.get("cache-control")).toBe("no-store");
}

test("impersonation: a service gets an access token of its own for the same user, and no refresh or ID token", async () => {
  const { access_token } = await tokensOf();
  const answer = await exchange(orders, access_token);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.json).toEqual({
    access_token: expect.any(String) as string,
    issued_token_type: accessTokenType,
    token_type: "Bearer",
    expires_in: 1800,
    scope,
  });
  const [before, after] = [jwtPart(access_token, 1), claimsOf(answer)];
  expect(after).toMatchObject({ sub: aliceId, client_id: "orders", scope, aud: idp.issuer });
  expect(after).not.toHaveProperty("act");
  expect(after["jti"]).not.toBe(before["jti"]);
  for (const name of ["grant", "epoch", "family"]) expect(after[name], name).toBe(before[name]);
  const told = await userinfo(idp, answer.json.access_token);
  expect(told.json).toMatchObject({ sub: aliceId, user: { email: { username: "alice" } } });
});

test("a JSON body means the same, and requested_token_type may be named", async () => {
  const { access_token } = await tokensOf();
  const body = { subject_token: access_token, subject_token_type: accessTokenType };
  const answer = await post(idp, paths.token, {
    grant_type: grantType,
    requested_token_type: accessTokenType,
    ...body,
    ...orders.credentials,
  });
  expect(claimsOf(answer)).toMatchObject({ sub: aliceId, client_id: "orders" });
});

test("delegation: the new token names who acts, and within that who acted before", async () => {
  const { access_token } = await tokensOf();
  const first = await exchange(orders, access_token, withActor(await ownToken(orders)));
  expect(claimsOf(first)).toMatchObject({ sub: aliceId, client_id: "orders", act: { sub: "orders" } });
  expect(claimsOf(first)["act"]).toEqual({ sub: "orders" });

  const second = await exchange(stock, first.json.access_token, withActor(await ownToken(stock)));
  expect(claimsOf(second)["act"]).toEqual({ sub: "stock", act: { sub: "orders" } });
  // Introspection says so too.
  const asked = { token: second.json.access_token, ...stock.credentials };
  const told = await post(idp, "/api/v2/oauth/introspect", asked);
  expect(told.json).toMatchObject({ active: true, username: "alice", act: { sub: "stock", act: { sub: "orders" } } });
});

test("a user can be the actor; an actor who was there stays named when nobody new acts", async () => {
  const [subject, actor] = [await tokensOf("alice"), await tokensOf("bob")];
  const support = await exchange(orders, subject.access_token, withActor(actor.access_token));
  const { sub } = jwtPart(actor.access_token, 1);
  expect(claimsOf(support)).toMatchObject({ sub: aliceId, act: { sub } });
  expect(claimsOf(await exchange(stock, support.json.access_token))["act"]).toEqual({ sub });
});

test("the token of a service that speaks for itself can be exchanged: its subject stays that service", async () => {
  const answer = await exchange(stock, await ownToken(orders));
  expect(claimsOf(answer)).toMatchObject({ sub: "orders", client_id: "stock", scope: "" });
  expect(claimsOf(answer)).not.toHaveProperty("grant");
  expect((await userinfo(idp, answer.json.access_token)).json.error).toBe("insufficient_scope");
});

test("scope may narrow", async () => {
  const { access_token } = await tokensOf();
  const answer = await exchange(orders, access_token, { scope: "orders:read" });
  expect(answer.json.scope).toBe("orders:read");
  expect(claimsOf(answer)["scope"]).toBe("orders:read");
  const again = await exchange(stock, answer.json.access_token, { scope: "orders:read orders:write" });
  expectRefusal(again, "invalid_scope", /"orders:write" is not part of the subject token's "orders:read"/);
});

test("a scope of blanks names none: it gives what no scope gives", async () => {
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
  expect(await released()).toMatchObject({ email: "bob@example.test" });
  expect(await released()).not.toHaveProperty("name");
  await idp.call("seed", { grants: [{ user: "bob", client: own.credentials.client_id, scope: "openid" }] });
  expect(await released()).not.toHaveProperty("email");
});

test("a scope that was taken from the client since: of the subject token, of one got for it before, of one without a user", async () => {
  const own = await service({ grant_types: ["authorization_code", "refresh_token", "client_credentials"] });
  const { client_id } = own.credentials;
  const { access_token } = await tokensOf("alice", own);
  const before = (await exchange(orders, access_token)).json;
  const alone = await ownToken(await service({ scope: "orders:read" }));
  expect(claimsOf(await exchange(orders, alone))["scope"]).toBe("orders:read");
  await idp.call("clients.edit", { client_id, entry: { scope: "openid" } });
  await idp.call("clients.edit", { client_id: String(jwtPart(alone, 1)["client_id"]), entry: { scope: "openid" } });
  const introspected = async (token: string) => (await idp.call("token.introspect", { token }))["scope"];
  for (const token of [access_token, before.access_token]) {
    expect(await introspected(token)).toBe("openid");
    expect((await exchange(orders, token)).json.scope).toBe("openid");
  }
  expect(await introspected(alone)).toBe("");
  expect(claimsOf(await exchange(orders, alone))["scope"]).toBe("");
});

test("a scope that was taken from any client on the way: of tokens exchanged twice, with a user and without", async () => {
  const [middle, last] = [await service({ scope }), await service({ scope })];
  const ofUser = (await exchange(middle, (await tokensOf()).access_token)).json.access_token;
  const exchanged = [ofUser, await ownToken(middle)].map(async (token) => (await exchange(last, token)).json);
  const [withUser, alone] = await Promise.all(exchanged);
  expect([withUser?.scope, alone?.scope]).toEqual([scope, scope]);
  await idp.call("clients.edit", { client_id: middle.credentials.client_id, entry: { scope: "openid orders:read" } });
  for (const { access_token } of [withUser, alone].filter((json) => json !== undefined)) {
    expect((await idp.call("token.introspect", { token: access_token }))["scope"]).toBe("openid orders:read");
    expect((await exchange(last, access_token)).json.scope).toBe("openid orders:read");
  }
  expect((await userinfo(idp, withUser?.access_token ?? "")).json).not.toHaveProperty("user.email");
});

test("scope never widens", async () => {
  const { access_token } = await tokensOf();
  const answer = await exchange(orders, access_token, { scope: "openid phone" });
  expectRefusal(answer, "invalid_scope", /"phone" is not part of the subject token's/);
});

test("scope stays within the client's own: without one asked for, and with", async () => {
  const reader = await service({ scope: "openid orders:read phone" });
  const { access_token } = await tokensOf();
  expect((await exchange(reader, access_token)).json.scope).toBe("openid orders:read");
  const more = await exchange(reader, access_token, { scope: "orders:read orders:write" });
  expectRefusal(more, "invalid_scope", /may not ask for "orders:write"/);
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
  expectRefusal(await exchange(orders, access_token, { scope: "email" }), "invalid_scope", /"email" is not part/);
});

test("resource and audience say for whom the new token is: an API by its URI, a client by its id", async () => {
  const { access_token } = await tokensOf();
  const aud = async (change: Change): Promise<unknown> => claimsOf(await exchange(orders, access_token, change))["aud"];
  expect(await aud({ resource: "https://api.example.test/stock" })).toBe("https://api.example.test/stock");
  expect(await aud({ audience: "stock" })).toBe("stock");
  expect(await aud({ audience: "urn:example:stock" })).toBe("urn:example:stock");
  expect(await aud({ audience: ["stock", "front"], resource: "https://api.example.test/" })).toEqual([
    "https://api.example.test/",
    "stock",
    "front",
  ]);
  expect(await aud({ audience: ["stock", "stock"] })).toBe("stock");
  const named = await service({ audience: "https://default.example.test" });
  expect(claimsOf(await exchange(named, access_token))["aud"]).toBe("https://default.example.test");
});

test("an audience that is neither a client nor a URI, and a resource that is no URI, are refused", async () => {
  const { access_token } = await tokensOf();
  const unknown = await exchange(orders, access_token, { audience: ["stock", "nobody"] });
  expectRefusal(unknown, "invalid_target", /audience "nobody" is neither a client_id/);
  expectRefusal(await exchange(orders, access_token, { resource: "stock" }), "invalid_target", /resource "stock"/);
  const fragment = await exchange(orders, access_token, { resource: "https://api.example.test/#x" });
  expectRefusal(fragment, "invalid_target", /fragment/);
});

test("the new token lives no longer than those it was exchanged for", async () => {
  const { access_token } = await tokensOf();
  clock.pass(600);
  const answer = await exchange(orders, access_token);
  expect(answer.json["expires_in"]).toBe(1200);
  expect(claimsOf(answer)["exp"]).toBe(jwtPart(access_token, 1)["exp"]);
  const actor = await ownToken(orders);
  clock.pass(600);
  const fresh = await tokensOf();
  expect((await exchange(orders, fresh.access_token, withActor(actor))).json["expires_in"]).toBe(1200);
  clock.pass(600);
  expect((await userinfo(idp, answer.json.access_token)).status).toBe(401);
});

test("revoking the user's grant for the first client ends the exchanged tokens too", async () => {
  const user = await enroll(idp);
  const { access_token } = await tokensOf(user);
  const first = (await exchange(orders, access_token)).json.access_token;
  const second = (await exchange(stock, first)).json.access_token;
  expect((await userinfo(idp, second)).status).toBe(200);
  await idp.revoke({ user, client: "front" });
  for (const token of [first, second]) {
    const { status, json } = await userinfo(idp, token);
    expect({ status, error: json.error }).toEqual({ status: 403, error: "access_revoked" });
  }
  expectRefusal(await exchange(orders, access_token), "invalid_request", /subject_token .*Access revoked by user/);
  // For good: a new consent brings none of them back.
  await tokensOf(user);
  expect((await userinfo(idp, second)).status).toBe(403);
});

test("what a service exchanged is dead for one of the same client_id that comes after it", async () => {
  const former = await service({ client_id: "former" });
  const token = (await exchange(former, (await tokensOf()).access_token)).json.access_token;
  expect((await userinfo(idp, token)).status).toBe(200);
  await idp.call("clients.remove", { client_id: "former" });
  await service({ client_id: "former", client_name: "Another" });
  expect((await userinfo(idp, token)).status).toBe(401);
});

test("the end of the family ends the exchanged tokens too", async () => {
  const { access_token, refresh_token } = await tokensOf();
  const exchanged = (await exchange(orders, access_token)).json.access_token;
  expect((await refresh(idp, refresh_token, front.credentials)).status).toBe(200);
  expect((await userinfo(idp, exchanged)).status).toBe(200);
  // The reuse of a rotated refresh token.
  await refresh(idp, refresh_token, front.credentials);
  expect((await userinfo(idp, exchanged)).status).toBe(401);
  expectRefusal(await exchange(orders, access_token), "invalid_request", /subject_token .*was revoked/);
});

test("the revocation of the subject token ends the exchanged ones too, also those exchanged again", async () => {
  const { access_token } = await tokensOf();
  const token = (await exchange(orders, access_token)).json.access_token;
  const again = (await exchange(stock, token)).json.access_token;
  for (const one of [token, again]) expect((await userinfo(idp, one)).status).toBe(200);
  await post(idp, paths.revoke, { token: access_token, ...front.credentials });
  for (const one of [token, again]) {
    expect((await userinfo(idp, one)).status).toBe(401);
    expect((await idp.call("token.introspect", { token: one })).reason).toMatch(
      /from an exchange of a token that was revoked/,
    );
  }
});

test("the removal of the client of a subject token without a user ends the exchanged ones too, also where another takes its id", async () => {
  const speaker = await service({ client_id: "speaker" });
  const token = (await exchange(orders, await ownToken(speaker))).json.access_token;
  const again = (await exchange(stock, token)).json.access_token;
  const areActive = async (): Promise<boolean[]> => {
    const answers = await Promise.all([token, again].map((one) => idp.call("token.introspect", { token: one })));
    return answers.map(({ active }) => active);
  };
  expect(await areActive()).toEqual([true, true]);
  await idp.call("clients.remove", { client_id: "speaker" });
  expect(await areActive()).toEqual([false, false]);
  await service({ client_id: "speaker", client_name: "Another" });
  expect(await areActive()).toEqual([false, false]);
});

test("a subject token that its client revoked is refused; an exchanged one is revoked by the client that has it", async () => {
  const { access_token } = await tokensOf();
  const exchanged = (await exchange(orders, access_token)).json.access_token;
  await post(idp, paths.revoke, { token: exchanged, ...front.credentials });
  expect((await userinfo(idp, exchanged)).status).toBe(200);
  await post(idp, paths.revoke, { token: exchanged, ...orders.credentials });
  expect((await userinfo(idp, exchanged)).status).toBe(401);
  expect((await userinfo(idp, access_token)).status).toBe(200);
  await post(idp, paths.revoke, { token: access_token, ...front.credentials });
  expectRefusal(await exchange(orders, access_token), "invalid_request", /subject_token .*was revoked/);
});

test.each(["suspended", "banned"] as const)("a user who is %s is refused, as subject and as actor", async (status) => {
  const user = await enroll(idp);
  const other = await tokensOf();
  const { access_token } = await tokensOf(user);
  await idp.call("seed", { users: [{ username: user, status }] });
  const why = new RegExp(`The user's account is ${status}`);
  expectRefusal(await exchange(orders, access_token), "invalid_request", why);
  expectRefusal(await exchange(orders, other.access_token, withActor(access_token)), "invalid_request", why);
});

const changed: readonly (readonly [what: string, change: Change, error: string, why: RegExp])[] = [
  ["no subject_token", { subject_token: null }, "invalid_request", /subject_token is missing/],
  ["no subject_token_type", { subject_token_type: null }, "invalid_request", /subject_token_type is missing/],
  [
    "another subject_token_type",
    { subject_token_type: "urn:ietf:params:oauth:token-type:id_token" },
    "invalid_request",
    /subject_token_type "urn:ietf:params:oauth:token-type:id_token" is not supported/,
  ],
  [
    "an actor_token_type without a token",
    { actor_token_type: accessTokenType },
    "invalid_request",
    /without actor_token/,
  ],
  ["an actor_token without a type", { actor_token: "x" }, "invalid_request", /actor_token_type is missing/],
  ["an invalid actor_token", withActor("x"), "invalid_request", /actor_token is not accepted/],
  [
    "another requested_token_type",
    { requested_token_type: "urn:ietf:params:oauth:token-type:refresh_token" },
    "invalid_request",
    /requested_token_type .* is not supported; send/,
  ],
  ["subject_token twice", { subject_token: ["x", "y"] }, "invalid_request", /subject_token was sent 2 times/],
];

test.each(changed)("refused: %s", async (_what, change, error, why) => {
  const { access_token } = await tokensOf();
  expectRefusal(await exchange(orders, access_token, change), error, why);
});

test("only access tokens of this server are taken, alive and unchanged", async () => {
  const { access_token, refresh_token, id_token } = await tokensOf();
  const [head = "", body = "", signature = ""] = access_token.split(".");
  const forged = `${head}.${Buffer.from(JSON.stringify({ ...jwtPart(access_token, 1), sub: "1" })).toString("base64url")}.${signature}`;
  const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString("base64url")}.${body}.`;
  for (const token of [refresh_token, id_token, forged, unsigned, "text"]) {
    expectRefusal(await exchange(orders, token), "invalid_request", /subject_token is not accepted/);
    expectRefusal(
      await exchange(orders, access_token, withActor(token)),
      "invalid_request",
      /actor_token is not accepted/,
    );
  }
  clock.pass(1800);
  expectRefusal(await exchange(orders, access_token), "invalid_request", /subject_token .*expired/);
  expect((await exchange(orders, access_token)).json.error_description).not.toContain(access_token);
});

test("a client that does not list the grant type may not exchange", async () => {
  const { access_token } = await tokensOf();
  expectRefusal(await exchange(front, access_token), "unauthorized_client", /may not use grant_type/);
});

test("a public client may not exchange: it cannot be registered for that", async () => {
  const spa = register(idp, { token_endpoint_auth_method: "none", grant_types: [grantType] });
  await expect(spa).rejects.toMatchObject({ code: "invalid" });
});

test("a client that does not authenticate is refused before its tokens are looked at", async () => {
  const { access_token } = await tokensOf();
  const { status, json } = await exchange(orders, access_token, { client_secret: "wrong" });
  expect({ status, error: json.error }).toEqual({ status: 401, error: "invalid_client" });
});

test("a token that is bound to a key is exchanged for one that is bound to the client's own", async () => {
  const [key, own] = [await newProofKey("ES256", clock.now), await newProofKey("ES256", clock.now)];
  const token = await ownToken(stock, { dpop: await key.prove(tokenUrl) });
  expectRefusal(await exchange(orders, token), "invalid_request", /subject_token .*bound to a key: send a DPoP proof/);
  const { access_token } = await tokensOf();
  const asActor = await exchange(orders, access_token, withActor(token));
  expectRefusal(asActor, "invalid_request", /actor_token .*bound to a key/);
  const answer = await exchange(orders, token, {}, { dpop: await own.prove(tokenUrl) });
  expect(answer.json["token_type"]).toBe("DPoP");
  expect(claimsOf(answer)).toMatchObject({ sub: "stock", client_id: "orders", cnf: { jkt: own.jkt } });
});

test("discovery lists the grant type", async () => {
  const metadata = (await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json()) as Body;
  expect(metadata["grant_types_supported"]).toContain(grantType);
});
