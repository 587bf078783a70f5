import { describe, expect, test } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { paths, post, userinfo, type Parameters } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** The revocation endpoint (RFC 7009). */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);

const revoke = (token: string | null, change: Parameters = {}, by: App = app) =>
  post(idp, paths.revoke, { token, ...by.credentials, ...change });

test("of an access token: 200 with {}, and that one dies; its refresh token and others live on", async () => {
  const { access_token: token, refresh_token: refreshToken } = await app.tokens();
  const other = (await app.refresh(refreshToken)).json;
  const { status, json, headers } = await revoke(token);
  expect([status, json, headers.get("cache-control")]).toEqual([200, {}, "no-store"]);
  expect((await userinfo(idp, token)).status).toBe(401);
  expect((await userinfo(idp, other.access_token)).status).toBe(200);
  expect((await app.refresh(other.refresh_token)).status).toBe(200);
});

test("of a refresh token: its family dies, and all access tokens that came of it", async () => {
  const first = await app.tokens();
  const second = (await app.refresh(first.refresh_token)).json;
  expect((await revoke(second.refresh_token)).status).toBe(200);
  for (const { access_token } of [first, second]) expect((await userinfo(idp, access_token)).status).toBe(401);
  const { status, json } = await app.refresh(second.refresh_token);
  expect([status, json.error]).toEqual([400, "invalid_grant"]);
});

test("of a refresh token that was already rotated: the same", async () => {
  const first = await app.tokens();
  const second = (await app.refresh(first.refresh_token)).json;
  await revoke(first.refresh_token);
  expect((await app.refresh(second.refresh_token)).json.error).toBe("invalid_grant");
});

test("the grant stays: the next sign-in asks nothing", async () => {
  const own = await register(idp);
  const { browser, code } = await own.signIn();
  await revoke((await own.exchange(code)).json.refresh_token, {}, own);
  expect((await browser.open(own.url())).left?.searchParams.has("code")).toBe(true);
});

describe("200 and no effect", () => {
  test.each([
    ["a made-up token", async () => "x.y.z"],
    ["an ID token", async () => (await app.tokens()).id_token],
    [
      "a token twice",
      async () => {
        const { access_token: token } = await app.tokens();
        await revoke(token);
        return token;
      },
    ],
    [
      "an expired token",
      async () => {
        const { access_token: token } = await app.tokens();
        clock.pass(1801);
        return token;
      },
    ],
  ])("%s", async (_name, token) => {
    const { status, json } = await revoke(await token());
    expect([status, json]).toEqual([200, {}]);
  });

  test("another client's token, which lives on", async () => {
    const theirs = await (await register(idp)).tokens();
    for (const token of [theirs.access_token, theirs.refresh_token]) expect((await revoke(token)).status).toBe(200);
    expect((await userinfo(idp, theirs.access_token)).status).toBe(200);
  });
});

test.each(["access_token", "refresh_token", "something"])("a wrong token_type_hint still works: %s", async (hint) => {
  const tokens = await app.tokens();
  for (const token of [tokens.access_token, tokens.refresh_token]) await revoke(token, { token_type_hint: hint });
  expect((await userinfo(idp, tokens.access_token)).status).toBe(401);
  expect((await app.refresh(tokens.refresh_token)).status).toBe(400);
});

test("a public client revokes with its client_id alone", async () => {
  const spa = await register(idp, { token_endpoint_auth_method: "none" });
  const tokens = await idp.issueTokens({ user: "alice", client: spa.credentials.client_id });
  expect((await revoke(tokens.access_token, {}, spa)).status).toBe(200);
  expect((await userinfo(idp, tokens.access_token)).status).toBe(401);
});

test("while its user is suspended: it stays dead after the restore", async () => {
  const user = await enroll(idp);
  const { access_token: token } = await app.tokens({ user });
  await idp.call("users.suspend", { username: user });
  expect((await revoke(token)).status).toBe(200);
  await idp.call("users.restore", { username: user });
  expect((await userinfo(idp, token)).status).toBe(401);
});

describe("refusals", () => {
  test.each([
    ["no token", null, {}, 400, "invalid_request"],
    ["a wrong secret", "x.y.z", { client_secret: "wrong" }, 401, "invalid_client"],
    ["no client", "x.y.z", { client_id: null, client_secret: null }, 401, "invalid_client"],
  ])("%s", async (_name, token, change, status, error) => {
    const answer = await revoke(token, change);
    expect([answer.status, answer.json.error]).toEqual([status, error]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});
