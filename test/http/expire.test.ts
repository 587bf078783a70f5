import { join } from "node:path";
import { expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { newFolder } from "../helpers/cli.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, paths, pick, post, refresh, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** `idp expire`: what was issued so far has expired, and what is issued afterwards has not, even in the same second. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
const app = await register(idp);
const other = await register(idp, { grant_types: ["client_credentials", exchangeGrant] });
const nameOf = ({ credentials }: App): string => credentials.client_id;
const issue = (by: App = app, user = "alice") => idp.issueTokens({ user, client: nameOf(by), scope: "openid email" });
const statusOf = async (token: string): Promise<number> => (await userinfo(idp, token)).status;

test("access tokens of a user and a client: 401, inactive, and the next one is good in the same second", async () => {
  const erin = await enroll(idp);
  const before = await issue(app, erin);
  const [ofOther, ofAlice] = [await issue(await register(idp), erin), await issue()];
  expect(await idp.expire({ user: erin, client: nameOf(app) })).toEqual({
    ...{ user: erin, client: nameOf(app), expired: ["access"], sessions: 0, codes: 0 },
  });
  const after = await issue(app, erin);
  expect(jwtPart(after.access_token, 1)["iat"]).toBe(jwtPart(before.access_token, 1)["iat"]);
  const { status, json, headers } = await userinfo(idp, before.access_token);
  expect([status, json.error, json.error_description]).toEqual([401, "invalid_token", "the access token expired"]);
  expect(headers.get("www-authenticate")).toContain('error="invalid_token"');
  expect(await idp.call("token.introspect", { token: before.access_token })).toEqual({
    ...{ active: false, reason: "expired", since: new Date(clock.now()).toISOString() },
  });
  for (const { access_token: token } of [after, ofOther, ofAlice]) expect(await statusOf(token)).toBe(200);
  // The refresh token is as good as it was.
  const renewed = await refresh(idp, before.refresh_token ?? "", app.credentials);
  expect([renewed.status, await statusOf(renewed.json.access_token)]).toEqual([200, 200]);
});

test("refresh tokens: invalid_grant; one that had been rotated kills no family", async () => {
  const first = await issue();
  const second = (await app.refresh(first.refresh_token ?? "")).json;
  await idp.expire({ user: "alice", refresh: true });
  for (const token of [second.refresh_token, first.refresh_token ?? ""]) {
    const { status, json } = await app.refresh(token);
    expect([status, json.error]).toEqual([400, "invalid_grant"]);
    expect(json.error_description).toContain("the refresh token expired");
    expect(await idp.call("token.introspect", { token })).toMatchObject({ active: false, reason: "expired" });
  }
  expect(await statusOf(second.access_token)).toBe(200);
  expect((await app.refresh((await issue()).refresh_token ?? "")).status).toBe(200);
});

test("of a client: those of all its users, and those that it has for itself; of all: everything", async () => {
  const own = async () =>
    (await post(idp, paths.token, { grant_type: "client_credentials", ...other.credentials })).json.access_token;
  const introspect = async (token: string) => (await idp.call("token.introspect", { token })).active;
  const [mine, alices, apart] = [await own(), (await issue(app)).access_token, (await issue()).access_token];
  await idp.expire({ client: nameOf(other) });
  expect([await introspect(mine), await statusOf(alices)]).toEqual([false, 200]);
  const again = await own();
  // A user with the client's name is not the client.
  await idp.expire({ user: await enroll(idp, { id: nameOf(other) }) });
  expect(await introspect(again)).toBe(true);
  await idp.expire({ all: true });
  for (const token of [again, alices, apart]) expect(await introspect(token)).toBe(false);
  expect(await introspect(await own())).toBe(true);
});

test("a token that was got by exchange expires with the one it was exchanged for", async () => {
  const { access_token: token } = await issue();
  const exchanged = async (subject: string) =>
    post(idp, paths.token, {
      grant_type: exchangeGrant,
      ...{ subject_token: subject, subject_token_type: "urn:ietf:params:oauth:token-type:access_token" },
      ...other.credentials,
    });
  const { access_token: got } = (await exchanged(token)).json;
  expect(await statusOf(got)).toBe(200);
  await idp.expire({ client: nameOf(app) });
  expect(await statusOf(got)).toBe(401);
  expect((await exchanged(token)).json.error_description).toContain("the access token expired");
});

test("sessions: those of a user, or of all users with a grant for a client", async () => {
  const signedIn = async (user: string) => {
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open("/account"), user);
    return browser;
  };
  const erin = await enroll(idp);
  const [erins, bobs] = [await signedIn(erin), await signedIn("bob")];
  expect((await idp.expire({ user: erin, sessions: true })).sessions).toBe(1);
  expect((await erins.open("/account")).page).toBe("login");
  expect((await bobs.open("/account")).page).toBe("account");
  const shop = await register(idp);
  const { browser } = await shop.signIn({ user: erin });
  expect((await idp.expire({ user: "bob", client: nameOf(shop), sessions: true })).sessions).toBe(0);
  expect((await idp.expire({ client: nameOf(shop), sessions: true })).sessions).toBe(1);
  expect((await browser.open("/account")).page).toBe("login");
  expect((await bobs.open("/account")).page).toBe("account");
});

test("pending codes and device codes: expired, whichever way the clock moves; a used one stays known", async () => {
  const code = async () => (await idp.issueCode({ user: "alice", client: nameOf(app) })).code;
  const used = await code();
  const { access_token: token } = (await app.exchange(used)).json;
  const waiting = await code();
  expect((await idp.expire({ user: "bob", codes: true })).codes).toBe(0);
  expect((await idp.expire({ user: "alice", codes: true })).codes).toBe(1);
  expect(await idp.expire({ user: "alice", codes: true })).toMatchObject({ codes: 0, expired: ["codes"] });
  clock.pass(-10);
  const { json } = await app.exchange(waiting);
  expect([json.error, json.error_description]).toEqual(["invalid_grant", "code expired: idp expire ended it"]);
  clock.pass(10);
  expect((await app.exchange(await code())).status).toBe(200);
  expect(await statusOf(token)).toBe(200);
  expect((await app.exchange(used)).json.error_description).toContain("already used");

  const grant = "urn:ietf:params:oauth:grant-type:device_code";
  const device = await register(idp, { grant_types: [grant, "refresh_token"] });
  const body = new URLSearchParams({ ...device.credentials, client_secret: device.credentials.client_secret ?? "" });
  const begun = (await post(idp, "/api/v2/oauth/device_authorization", {}, { headers: {}, body })).json as unknown as {
    readonly device_code: string;
  };
  expect((await idp.expire({ client: nameOf(device), codes: true })).codes).toBe(1);
  const poll = { grant_type: grant, device_code: begun.device_code, ...device.credentials };
  expect((await post(idp, paths.token, poll)).json.error).toBe("expired_token");
});

test("it is kept when the server starts again, and an import of an earlier export does not lift it", async () => {
  const data = join(newFolder(), "data");
  const first = await createIdp({ data });
  const { access_token: token } = await first.issueTokens({ user: "alice", client: "demo-app" });
  await first.expire({ user: "alice" });
  await first.close();
  await using second = await reopen(data, first.port);
  expect((await userinfo(second.idp, token)).status).toBe(401);
  const { expirations, ...others } = (await second.idp.call("export", {})) as Record<string, unknown>;
  expect(expirations).toHaveLength(1);
  await second.idp.call("import", { ...others, expirations: [] });
  expect(((await second.idp.call("export", {})) as Record<string, unknown>)["expirations"]).toEqual(expirations);
  expect((await userinfo(second.idp, token)).status).toBe(401);
});

async function reopen(data: string, port: number) {
  const idp = await createIdp({ data, port });
  return { idp, [Symbol.asyncDispose]: () => idp.close() };
}

test.each([{}, { all: false }, { all: true, user: "alice" }, { user: "alice", everything: true }])(
  "%j: refused",
  async (input) => {
    await expect(idp.expire(input)).rejects.toMatchObject({ code: "usage" });
  },
);

test("unknown names: not found", async () => {
  await expect(idp.expire({ user: "nobody" })).rejects.toMatchObject({ code: "not_found" });
  await expect(idp.expire({ client: "nothing" })).rejects.toMatchObject({ code: "not_found" });
});
