import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { register, serve } from "../helpers/app.ts";
import { newFolder } from "../helpers/cli.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, paths, pick, post, refresh, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { newProofKey } from "../helpers/dpop.ts";

/** The clock that a tester moves. */

const base = testClock();
const notes: string[] = [];
const idp = await serve({ now: base.now, log: (note) => notes.push(note) });
const app = await register(idp);
const { client_id: client } = app.credentials;
beforeEach(() => idp.clock.reset());

const issue = (of: Idp = idp) => of.issueTokens({ user: "alice", client: of === idp ? client : "demo-app" });
const days = 86_400;
const iso = (seconds: number): string => new Date(base.now() + seconds * 1000).toISOString();

test("it is shown, advanced, set, frozen and reset", async () => {
  expect(await idp.clock.show()).toEqual({ now: iso(0), offset: 0, frozen: false });
  expect(await idp.clock.advance("31m")).toEqual({ now: iso(1860), offset: 1860, frozen: false });
  expect(await idp.clock.advance(60)).toEqual({ now: iso(1920), offset: 1920, frozen: false });
  base.pass(10);
  expect((await idp.clock.show()).now).toBe(iso(1920));
  expect(await idp.clock.set("2020-01-01T00:00:00+03:00")).toMatchObject({ now: "2019-12-31T21:00:00.000Z" });
  const frozen = await idp.clock.freeze();
  base.pass(10);
  expect(await idp.clock.show()).toEqual({ ...frozen, offset: frozen.offset - 10 });
  expect(await idp.clock.advance("2h")).toMatchObject({ now: "2019-12-31T23:00:00.000Z", frozen: true });
  expect(await idp.clock.set(new Date(0))).toMatchObject({ now: "1970-01-01T00:00:00.000Z", frozen: true });
  expect(await idp.clock.reset()).toEqual({ now: iso(0), offset: 0, frozen: false });
});

test.each([
  ["clock.advance", { by: 252_000_000_000 }, "by must keep the clock in the years from 1970 to 9979, not 252000000000"],
  [
    "clock.advance",
    { by: "-99y" },
    'by must be a whole number of seconds, or a duration such as 30s, 31m, 2h30m, 7d or -5m, not "-99y"',
  ],
  [
    "clock.set",
    { to: "1969-12-31T23:59:59Z" },
    'to must be in the years from 1970 to 9979, not "1969-12-31T23:59:59Z"',
  ],
  ["clock.set", { to: "9999-01-01" }, 'to must be in the years from 1970 to 9979, not "9999-01-01"'],
  ["clock.freeze", { at: 1 }, "at is an unknown key; there are none"],
] as const)("%s %j: refused with what was given, and nothing is moved", async (name, input, message) => {
  await expect(idp.call(name, input as never)).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining(message) as string,
  });
  expect((await idp.clock.show()).offset).toBe(0);
});

test("while it is moved, each response says so, and status; the log says it at that moment", async () => {
  const header = async (path: string) => (await fetch(idp.issuer + path)).headers.get("idp-clock");
  const everywhere = ["/_idp/health", "/account", "/api/v2/oauth/userinfo", "/.well-known/openid-configuration", "/no"];
  for (const path of everywhere) expect(await header(path), path).toBe(null);
  expect(await idp.call("status", {})).not.toHaveProperty("clock");
  const headers = { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" };
  const api = async (path: string, body: object) =>
    (await fetch(`${idp.issuer}/_idp/api/clock/${path}`, { method: "POST", headers, body: JSON.stringify(body) }))
      .headers;
  const shown = `${iso(1860)}; offset=1860`;
  expect((await api("advance", { by: "31m" })).get("idp-clock")).toBe(shown);
  for (const path of everywhere) expect(await header(path), path).toBe(shown);
  expect(await idp.call("status", {})).toMatchObject({ clock: { now: iso(1860), offset: 1860, frozen: false } });
  expect(notes.at(-1)).toBe(`the clock is ${iso(1860)} (31 min ahead)`);
  const requests = await idp.call("requests.list", { endpoint: "discovery" });
  expect(requests.map(({ clock }) => clock)).toEqual([null, 1860]);
  expect((await api("reset", {})).has("idp-clock")).toBe(false);
  expect(notes.at(-1)).toBe("the clock shows the real time again");
});

test("tokens, codes, sessions and interactions end by it, and are good again once it is back", async () => {
  const { access_token: token } = await issue();
  const { code } = await idp.issueCode({ user: "alice", client });
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), "alice");
  const begun = await new Browser(idp.issuer).open(authorizeUrl(idp, { client_id: client }));
  expect(begun.page).toBe("login");
  await idp.clock.advance("2d");
  expect((await userinfo(idp, token)).status).toBe(401);
  expect((await app.exchange(code)).json.error_description).toContain("unknown");
  expect((await browser.open("/account")).page).toBe("login");
  await idp.clock.reset();
  expect((await userinfo(idp, token)).status).toBe(200);
  expect((await browser.open("/account")).page).toBe("account");
  expect((await app.exchange(code)).status).toBe(200);
});

test("a reset of the data resets it", async () => {
  const other = await serve();
  await other.clock.set("2020-01-01");
  await other.clock.freeze();
  await other.reset();
  expect(await other.clock.show()).toMatchObject({ offset: 0, frozen: false });
});

/** A server on a folder that is opened again; then the real time is the one of the test's clock. */
async function reopened() {
  const clock = testClock();
  const data = join(newFolder(), "data");
  let server = await createIdp({ data, now: clock.now });
  return {
    get idp() {
      return server;
    },
    async later(seconds: number): Promise<void> {
      clock.pass(seconds);
      await server.close();
      server = await createIdp({ data, now: clock.now, port: server.port });
      // Enough happens for every expired record to be removed.
      for (let i = 0; i < 20; i++) await server.call("users.edit", { username: "bob", displayName: `B${i}` });
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
const demo = { client_id: "demo-app", client_secret: "demo-secret" };

test("what was revoked and forgotten long ago does not come back when it is set to the past", async () => {
  await using place = await reopened();
  const revoked = await issue(place.idp);
  const rotated = await issue(place.idp);
  await post(place.idp, paths.revoke, { token: revoked.access_token, ...demo });
  const { refresh_token: newest } = (await refresh(place.idp, rotated.refresh_token ?? "", demo)).json;
  await place.later(30 * days);
  const { families, deadTokens } = (await place.idp.call("export", {})) as Record<string, unknown[]>;
  expect([families, deadTokens]).toEqual([[], []]);
  await place.idp.clock.set("2026-01-15T12:01:00Z");
  expect((await userinfo(place.idp, revoked.access_token)).status).toBe(401);
  expect(await place.idp.call("token.introspect", { token: revoked.access_token })).toMatchObject({
    active: false,
    reason: "expired",
  });
  for (const token of [rotated.refresh_token ?? "", newest, revoked.refresh_token ?? ""]) {
    expect((await refresh(place.idp, token, demo)).json.error).toBe("invalid_grant");
  }
  // What is issued in that time is good, and what is revoked of it stays revoked, also in the real time and back again.
  const [good, bad] = [await issue(place.idp), await issue(place.idp)];
  await place.idp.call("token.revoke", { token: bad.refresh_token ?? "" });
  expect((await userinfo(place.idp, good.access_token)).status).toBe(200);
  await place.later(0);
  await place.idp.clock.set("2026-01-15T12:02:00Z");
  expect((await userinfo(place.idp, bad.access_token)).status).toBe(401);
  expect((await refresh(place.idp, bad.refresh_token ?? "", demo)).status).toBe(400);
});

test("a DPoP proof that was used passes no second time when it is set back to that moment", async () => {
  await using place = await reopened();
  const key = await newProofKey("ES256", () => Date.parse("2026-01-15T12:00:00Z"));
  const url = place.idp.issuer + paths.token;
  const proof = await key.prove(url);
  const ask = (issuer: Idp) =>
    post(
      issuer,
      paths.token,
      { grant_type: "client_credentials", client_id: "demo-service", client_secret: "demo-service-secret" },
      { headers: { "content-type": "application/json", dpop: proof } },
    );
  expect((await ask(place.idp)).status).toBe(200);
  await place.later(days);
  await place.idp.clock.set("2026-01-15T12:00:30Z");
  expect((await ask(place.idp)).json).toMatchObject({
    error: "invalid_dpop_proof",
    error_description: "the DPoP proof is not accepted: it was made before the clock was set back",
  });
});
