import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { paths, post } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** What the operator sees of a dead token: why, by whom, and since when. Clients see only that it is dead. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);
const since = (): string => new Date(clock.now()).toISOString();
const moment = (): string => `now (${since().slice(0, 19).replace("T", " ")} UTC)`;
const introspect = (token: string) => idp.call("token.introspect", { token });
const stateOf = async (token: string) =>
  (await idp.call("token.verify", { token })).checks.find(({ name }) => name === "state");

test("one that its client revoked, and one that the operator did", async () => {
  const { access_token: token } = await app.tokens();
  await post(idp, paths.revoke, { token, ...app.credentials });
  const reason = `it was revoked by its client "${app.credentials.client_id}"`;
  expect(await introspect(token)).toEqual({ active: false, reason, since: since() });
  expect(await stateOf(token)).toEqual({ name: "state", ok: false, detail: `${reason}, ${moment()}` });
  const other = await app.tokens();
  await idp.call("token.revoke", { token: other.refresh_token });
  clock.pass(5);
  for (const dead of [other.refresh_token, other.access_token]) {
    const at = new Date(clock.now() - 5000).toISOString();
    expect(await introspect(dead)).toEqual({ active: false, reason: "it was revoked by the operator", since: at });
  }
});

test("those of a code that was used twice, and of a reused refresh token", async () => {
  const { code } = await app.signIn();
  const { access_token: token } = (await app.exchange(code)).json;
  await app.exchange(code);
  expect(await introspect(token)).toMatchObject({
    reason: "it was revoked: its authorization code was used a second time",
    since: since(),
  });
  const first = await app.tokens();
  const second = (await app.refresh(first.refresh_token)).json;
  const rotated = "it was rotated: a newer refresh token took its place";
  expect(await introspect(first.refresh_token)).toEqual({ active: false, reason: rotated, since: since() });
  expect(await stateOf(first.refresh_token)).toMatchObject({ ok: false, detail: `${rotated}, ${moment()}` });
  expect(await stateOf(second.refresh_token)).toMatchObject({ ok: true });
  await app.refresh(first.refresh_token);
  expect(await introspect(second.refresh_token)).toMatchObject({
    reason: "it was revoked: a rotated refresh token was used again",
    since: since(),
  });
});

test("one whose grant was revoked: by the user, by the operator, by a ban; and given anew", async () => {
  const own = await register(idp);
  const id = own.credentials.client_id;
  const user = await enroll(idp);
  const revoked = `the grant of user "${user}" for client "${id}" was revoked`;
  const browser = new Browser(idp.issuer);
  const { access_token: token } = (await own.exchange((await own.signIn({ user, browser })).code)).json;
  const account = await browser.open("/account");
  const href = new RegExp(`id="account-revoke-${id}"[^>]*href="([^"]+)"`).exec(account.body)?.[1] ?? "";
  await browser.press(await browser.open(href), "account-revoke-confirm");
  expect(await introspect(token)).toEqual({ active: false, reason: `${revoked} by the user`, since: since() });
  const second = await own.tokens({ user });
  expect(await introspect(token)).toEqual({
    active: false,
    reason: `${revoked} and granted again, or its tokens ended when the user left: older tokens stay invalid`,
  });
  await idp.revoke({ user, client: id });
  expect(await introspect(second.access_token)).toMatchObject({ reason: `${revoked} by the operator`, since: since() });
  const third = await own.tokens({ user });
  await idp.call("users.ban", { username: user });
  expect(await introspect(third.access_token)).toEqual({ active: false, reason: `user "${user}" is banned` });
  await idp.call("users.restore", { username: user });
  expect(await introspect(third.access_token)).toMatchObject({ reason: `${revoked} when the user was banned` });
});

test("one of a suspended user, of a user and of a client that are gone", async () => {
  const user = await enroll(idp);
  const own = await register(idp);
  const { access_token: token } = await own.tokens({ user });
  await idp.call("users.suspend", { username: user });
  expect(await introspect(token)).toEqual({ active: false, reason: `user "${user}" is suspended` });
  await idp.call("users.remove", { username: user });
  expect((await introspect(token)).reason).toBe("it belongs to a user who no longer exists");
  await idp.call("clients.remove", { client_id: own.credentials.client_id });
  expect((await introspect(token)).reason).toBe("it was issued to a client that is no longer registered");
});

test("one that expired, is of another kind, of another issuer, or not a token", async () => {
  const tokens = await app.tokens();
  const expires = new Date(Math.floor(clock.now() / 1000 + 1800) * 1000).toISOString();
  clock.pass(2000);
  expect(await introspect(tokens.access_token)).toEqual({ active: false, reason: "it expired", since: expires });
  expect((await introspect(tokens.id_token)).reason).toBe("it is an ID token, which carries no rights");
  const foreign = await (await register(await serve())).tokens();
  expect((await introspect(foreign.access_token)).reason).toMatch(/^it is a token of another issuer: only http:/);
  expect((await introspect("opaque")).reason).toBe("it is not a token of this server: this is not a JWT (no dots)");
});

describe("what the server cannot know is reported", () => {
  test("of an ID token, also of one that is signed with its client's secret", async () => {
    const own = await register(idp, { id_token_signed_response_alg: "HS256" });
    for (const { id_token: token } of [await app.tokens(), await own.tokens()]) {
      const { valid, notes } = await idp.call("token.verify", { token });
      expect([valid, notes]).toEqual([true, [expect.stringContaining("carries no rights")]]);
    }
  });

  test("of a token whose signature does not hold, and of another issuer's", async () => {
    const { access_token: token } = await (await register(await serve())).tokens();
    const { valid, notes } = await idp.call("token.verify", { token });
    expect(valid).toBe(false);
    expect(notes).toEqual([
      expect.stringContaining("names another issuer"),
      expect.stringContaining("Revocation was not checked"),
    ]);
  });

  test("a negative leeway is refused, a positive one allows for clocks that are apart", async () => {
    const { access_token: token } = await app.tokens();
    clock.pass(1805);
    expect((await idp.call("token.verify", { token })).valid).toBe(false);
    expect((await idp.call("token.verify", { token, leeway: 10 })).valid).toBe(true);
    await expect(idp.call("token.verify", { token, leeway: -1 })).rejects.toMatchObject({ code: "usage" });
  });
});
