import { expect, test } from "vitest";
import { enroll, register } from "../helpers/app.ts";
import { jwtPart, paths, post, userinfo, type Body } from "../helpers/client.ts";
import { newProofKey } from "../helpers/dpop.ts";
import {
  accessTokenType,
  aliceId,
  type Change,
  claimsOf,
  exchangeServer,
  expectRefusal,
  grantType,
  scope,
  withActor,
} from "../helpers/exchange.ts";

/** Token exchange (RFC 8693): what it gives, for whom, and what it refuses. */

const { clock, exchange, front, idp, orders, ownToken, service, stock, tokensOf } = await exchangeServer();
const tokenUrl = idp.issuer + paths.token;

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

test("the type of a token may be named jwt, which means the same", async () => {
  const jwt = "urn:ietf:params:oauth:token-type:jwt";
  const { access_token } = await tokensOf();
  const types = { subject_token_type: jwt, actor_token_type: jwt, requested_token_type: jwt };
  const answer = await exchange(orders, access_token, { ...withActor(await ownToken(orders)), ...types });
  expect(answer.json["issued_token_type"]).toBe(accessTokenType);
  expect(claimsOf(answer)).toMatchObject({ sub: aliceId, client_id: "orders", act: { sub: "orders" } });
  const { id_token, refresh_token = "" } = await tokensOf();
  for (const other of [id_token, refresh_token]) {
    expectRefusal(
      await exchange(orders, other, { subject_token_type: jwt }),
      "invalid_request",
      /send an access token/,
    );
  }
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

test("a user can be the actor; an earlier actor stays named without a new one", async () => {
  const [subject, actor] = [await tokensOf("alice"), await tokensOf("bob")];
  const support = await exchange(orders, subject.access_token, withActor(actor.access_token));
  const { sub } = jwtPart(actor.access_token, 1);
  expect(claimsOf(support)).toMatchObject({ sub: aliceId, act: { sub } });
  expect(claimsOf(await exchange(stock, support.json.access_token))["act"]).toEqual({ sub });
});

test("the token of a service that speaks for itself can be exchanged: its subject stays that service", async () => {
  const answer = await exchange(stock, await ownToken(orders));
  expect(answer.json).not.toHaveProperty("scope");
  expect(claimsOf(answer)).toMatchObject({ sub: "orders", client_id: "stock" });
  for (const name of ["grant", "scope"]) expect(claimsOf(answer)).not.toHaveProperty(name);
  expect((await userinfo(idp, answer.json.access_token)).json.error).toBe("insufficient_scope");
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

test("an audience that is neither a client nor a URI, and a resource that is not a URI, are refused", async () => {
  const { access_token } = await tokensOf();
  const unknown = await exchange(orders, access_token, { audience: ["stock", "nobody"] });
  expectRefusal(unknown, "invalid_target", /audience 'nobody' is neither a client_id/);
  expectRefusal(await exchange(orders, access_token, { resource: "stock" }), "invalid_target", /resource 'stock'/);
  const fragment = await exchange(orders, access_token, { resource: "https://api.example.test/#x" });
  expectRefusal(fragment, "invalid_target", /fragment/);
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
    /subject_token_type 'urn:ietf:params:oauth:token-type:id_token' is not supported/,
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
  const { access_token, refresh_token = "", id_token } = await tokensOf();
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
