import { join } from "node:path";
import { expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { enroll, register, serve } from "../helpers/app.ts";
import { newFolder } from "../helpers/cli.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, paths, pick, post, refresh, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { cpuTimeOf } from "../helpers/cpu-time.ts";
import { newProofKey } from "../helpers/dpop.ts";

/** Snapshots: the state as it was, with what was issued since invalid and what was revoked since valid again. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);
const { client_id: client } = app.credentials;
const issue = (user = "alice") => idp.issueTokens({ user, client, scope: "openid email" });
const statusOf = async (token: string): Promise<number> => (await userinfo(idp, token)).status;

test("later changes, additions and removals are undone; later revocations too, and it says so", async () => {
  const [grace, heidi] = [await enroll(idp, { displayName: "Grace" }), await enroll(idp)];
  const [byGrant, alone, family] = [await issue(grace), await issue(heidi), await issue(heidi)];
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), grace);
  const saved = await idp.snapshot("first");
  expect(saved).toMatchObject({ name: "first", savedAt: new Date(clock.now()).toISOString(), users: 6, sessions: 1 });

  const since = await issue(heidi);
  await idp.revoke({ user: grace, client });
  await idp.call("token.revoke", { token: alone.access_token });
  await idp.call("token.revoke", { token: family.refresh_token ?? "" });
  await idp.call("users.edit", { username: grace, displayName: "Other" });
  await idp.call("users.remove", { username: heidi });
  const ivan = await enroll(idp);
  await idp.call("seed", { settings: { access_token_ttl: 60 } });
  await idp.call("sessions.end", { user: grace });
  await idp.call("keys.rotate", {});
  const { validAgain, faults: _, ...restored } = await idp.restore("first");
  expect(restored).toEqual(saved);
  // The two grants: one was revoked, the other went with its user.
  expect(validAgain).toEqual({ grants: 2, tokens: 2 });

  for (const { access_token: token } of [byGrant, alone, family]) expect(await statusOf(token)).toBe(200);
  expect((await app.refresh(family.refresh_token ?? "")).status).toBe(200);
  expect((await browser.open("/account")).page).toBe("account");
  expect(await idp.call("users.show", { username: grace })).toMatchObject({ displayName: "Grace" });
  await expect(idp.call("users.show", { username: ivan })).rejects.toMatchObject({ code: "not_found" });
  expect(await statusOf(since.access_token)).toBe(401);
  const tokens = await issue(grace);
  expect(await statusOf(tokens.access_token)).toBe(200);
  expect(tokens.expires_in).toBe(1800);
  const requests = await idp.call("requests.list", {});
  expect(requests.at(-1)).toMatchObject({ outcome: expect.any(String) as string });
  expect(requests.filter(({ outcome }) => outcome === "restored the snapshot first")).toHaveLength(1);
});

test("tokens that were issued since are invalid, even in the same second, also after it was restored again", async () => {
  await idp.snapshot("again");
  const since = [];
  for (let i = 0; i < 3; i++) {
    since.push(await issue());
    await idp.restore("again");
  }
  for (const { access_token: token, refresh_token: refreshToken = "" } of since) {
    expect(await statusOf(token)).toBe(401);
    expect((await app.refresh(refreshToken)).json.error).toBe("invalid_grant");
    expect(await idp.call("token.introspect", { token })).toMatchObject({
      reason: "it was issued after the snapshot that was restored since",
    });
  }
  expect(await statusOf((await issue()).access_token)).toBe(200);
});

test("an older snapshot, and then a newer one: what was valid at each", async () => {
  const zero = await issue();
  await idp.snapshot("older");
  const one = await issue();
  await idp.snapshot("newer");
  const two = await issue();
  await idp.restore("older");
  const three = await issue();
  const alive = async () => Promise.all([zero, one, two, three].map(({ access_token: token }) => statusOf(token)));
  expect(await alive()).toEqual([200, 401, 401, 200]);
  await idp.restore("newer");
  expect(await alive()).toEqual([200, 200, 401, 401]);
  await idp.restore("older");
  expect(await alive()).toEqual([200, 401, 401, 401]);
  // What was dead when it was saved stays so.
  await idp.snapshot("third");
  await idp.restore("third");
  expect(await alive()).toEqual([200, 401, 401, 401]);
});

test("a refresh token is restored, and a later one revokes nothing, whoever uses it", async () => {
  const { refresh_token: first = "" } = await issue();
  await idp.snapshot("rotation");
  const { refresh_token: second } = (await app.refresh(first)).json;
  await idp.restore("rotation");
  expect((await app.refresh(second)).json.error).toBe("invalid_grant");
  expect((await post(idp, paths.revoke, { token: second, ...app.credentials })).status).toBe(200);
  expect((await app.refresh(first)).status).toBe(200);
});

test("codes and sign-ins under way are dropped; a DPoP proof that was used stays used", async () => {
  const before = await idp.issueCode({ user: "alice", client });
  const key = await newProofKey("ES256", clock.now);
  const proof = await key.prove(idp.issuer + paths.token);
  await idp.snapshot("codes");
  const since = await idp.issueCode({ user: "alice", client });
  const browser = new Browser(idp.issuer);
  const page = await browser.open(authorizeUrl(idp, { client_id: client }));
  const ask = () =>
    post(
      idp,
      paths.token,
      { grant_type: "client_credentials", client_id: "demo-service", client_secret: "demo-service-secret" },
      { headers: { "content-type": "application/json", dpop: proof } },
    );
  expect((await ask()).status).toBe(200);
  await idp.restore("codes");
  expect((await ask()).json.error).toBe("invalid_dpop_proof");
  for (const { code } of [before, since]) expect((await app.exchange(code)).json.error).toBe("invalid_grant");
  expect((await pick(browser, page, "alice")).status).toBe(400);
});

test("a token that was revoked and had expired before the snapshot stays revoked when the clock is set back", async () => {
  const { access_token: revoked } = await issue();
  await idp.call("token.revoke", { token: revoked });
  await idp.clock.advance("2d");
  await idp.snapshot("ahead");
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), "bob");
  await idp.clock.advance("30d");
  await idp.restore("ahead");
  await idp.clock.reset();
  expect(await statusOf(revoked)).toBe(401);
  // A later session is gone, although it had only been hidden.
  expect((await browser.open("/account")).page).toBe("login");
});

test("it was saved at the real time, whatever the clock shows", async () => {
  await idp.clock.advance("2d");
  await idp.snapshot("of-today");
  await idp.clock.reset();
  const { now } = await idp.clock.show();
  const saved = (await idp.call("snapshots.list", {})).find(({ name }) => name === "of-today");
  expect(Date.parse(now) - Date.parse(saved?.savedAt ?? "")).toBeLessThan(60_000);
  expect(saved && saved.savedAt <= now).toBe(true);
});

test("a token that expired since is valid again; a reset and an import keep snapshots", async () => {
  const { access_token: token } = await issue();
  await idp.snapshot("kept");
  await idp.expire({ all: true });
  expect(await statusOf(token)).toBe(401);
  const exported = (await idp.call("export", {})) as Record<string, unknown>;
  expect(exported).not.toHaveProperty("snapshots");
  await idp.call("import", { ...exported });
  await idp.reset();
  expect((await idp.call("snapshots.list", {})).map(({ name }) => name)).toContain("kept");
  await idp.restore("kept");
  expect(await statusOf(token)).toBe(200);
});

test("it is saved under its name once, listed and removed", async () => {
  const other = await serve();
  await other.snapshot("a");
  await enroll(other);
  await other.snapshot("b");
  await other.snapshot("a");
  expect((await other.call("snapshots.list", {})).map(({ name, users }) => [name, users])).toEqual([
    ["a", 5],
    ["b", 5],
  ]);
  await other.call("snapshots.remove", { name: "b" });
  for (const work of [() => other.restore("b"), () => other.call("snapshots.remove", { name: "b" })])
    await expect(work()).rejects.toMatchObject({ code: "not_found" });
  for (const name of ["", "a b", "ä", "x".repeat(65), "../x"])
    await expect(other.snapshot(name)).rejects.toMatchObject({ code: "usage" });
  await other.snapshot("x".repeat(64));
});

test("it is on disk, passwords of fixtures included", async () => {
  const data = join(newFolder(), "data");
  const first = await createIdp({ data });
  const { access_token: token, refresh_token: refreshToken = "" } = await first.issueTokens({
    user: "alice",
    client: "demo-app",
  });
  await first.snapshot("disk");
  await first.revoke({ user: "alice", client: "demo-app" });
  await first.call("users.edit", { username: "alice", password: "another" });
  await first.close();
  const second = await createIdp({ data, port: first.port });
  try {
    expect((await userinfo(second, token)).status).toBe(403);
    await second.restore("disk");
    expect((await userinfo(second, token)).status).toBe(200);
    const demo = { client_id: "demo-app", client_secret: "demo-secret" };
    expect((await refresh(second, refreshToken, demo)).status).toBe(200);
    const browser = new Browser(second.issuer);
    const page = await browser.open("/account");
    const next = await browser.press(page, "login-submit", { username: "alice", password: "alice" });
    expect(next.page).toBe("account");
  } finally {
    await second.close();
  }
});

test("1,000 users: a restore takes little longer than reading their records as JSON", async () => {
  const users = Array.from({ length: 1000 }, (_, index) => ({ username: `user-${index}` }));
  const many = await serve({
    fixtures: { users, clients: [{ client_id: "app", redirect_uris: ["http://localhost/cb"] }] },
  });
  for (const { username } of users.slice(0, 300)) await many.issueTokens({ user: username, client: "app" });
  await many.snapshot("many");
  const state = JSON.stringify(await many.call("export", {}));
  const least = async (work: () => unknown): Promise<number> => {
    let ms = Infinity;
    for (let i = 0; i < 9; i++) ms = Math.min(ms, await cpuTimeOf(async () => work()));
    return ms;
  };
  expect(await least(() => many.restore("many"))).toBeLessThan(20 * (await least(() => JSON.parse(state) as unknown)));
});

test("the clock and the faults come back too, a frozen clock frozen; keep leaves them, and says what is still active", async () => {
  const own = await serve({ now: clock.now });
  await own.call("clock.advance", { by: "1h" });
  await own.call("clock.freeze", {});
  await own.call("faults.add", { endpoint: "token", status: 503, times: 2 });
  const frozenAt = (await own.call("clock.show", {})).now;
  await own.snapshot("with-faults");

  await own.call("clock.reset", {});
  await own.call("faults.clear", {});
  const { stillActive } = await own.restore("with-faults", { keep: ["clock", "faults"] });
  expect(stillActive).toEqual({ faults: 0 });
  expect(await own.call("clock.show", {})).toMatchObject({ offset: 0, frozen: false });

  const fault = await own.call("faults.add", { endpoint: "userinfo", status: 500 });
  expect(await own.restore("with-faults")).not.toHaveProperty("stillActive");
  expect(await own.call("clock.show", {})).toMatchObject({ now: frozenAt, frozen: true });
  expect(await own.call("faults.list", {})).toMatchObject([{ endpoint: "token", remaining: 2 }]);
  // No two faults have one id, whichever a restore brought back.
  expect((await own.call("faults.add", { endpoint: "userinfo", status: 500 })).id).not.toBe(fault.id);
  const kept = await own.restore("with-faults", { keep: ["faults"] });
  expect(kept.stillActive).toEqual({ faults: 2 });
});
