import { describe, expect, test } from "vitest";
import type { FixtureFile } from "../../src/core/admin/fixtures/schema.ts";
import type { Idp } from "../../src/index.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import {
  authorizeUrl,
  callback,
  exchange,
  paths,
  pick,
  post,
  refresh,
  signIn,
  userinfo,
  type Answer,
} from "../helpers/client.ts";
import { newFolder } from "../helpers/cli.ts";
import { serve } from "../helpers/app.ts";
import { testClock } from "../helpers/clock.ts";

/** Back to the fixtures while the server runs: `POST /_idp/api/reset`, `idp.reset()`. */

const device = "urn:ietf:params:oauth:grant-type:device_code";
const fixtures = (): FixtureFile => ({
  users: [{ username: "alice", id: "7123456789012345678", password: "alice" }, { username: "bob" }],
  clients: [
    {
      client_id: "demo-app",
      client_secret: "demo-secret",
      redirect_uris: [callback],
      grant_types: ["authorization_code", "refresh_token", "client_credentials", device],
    },
  ],
  scopes: { orders: { description: "Orders" } },
  grants: [{ user: "alice", client: "demo-app", scope: "openid profile email" }],
  settings: { access_token_ttl: 600 },
});
const serveThose = () => serve({ fixtures: fixtures() });

/** The data without random values and times. */
async function stateOf(idp: Idp): Promise<unknown> {
  const grants = await idp.call("grants.list", {});
  return {
    users: await idp.call("users.list", {}),
    clients: await idp.call("clients.list", { secrets: true }),
    grants: grants.map(({ user, client, scope, status }) => ({ user, client, scope, status })),
    sessions: await idp.call("sessions.list", {}),
  };
}

const login = async (idp: Idp, password: string): Promise<Visit> => {
  const browser = new Browser(idp.issuer);
  const page = await browser.open(authorizeUrl(idp));
  return browser.press(page, "login-submit", { username: "alice", password });
};

test("later changes to the caller's fixtures do not affect a reset", async () => {
  const idp = await serveThose();
  const names = async () => (await idp.call("users.list", {})).map(({ username }) => username);
  const later: { users: { username: string }[] } = { users: [{ username: "bob" }] };
  await idp.changeFixtures([{ value: later }]);
  later.users.push({ username: "mallory" });
  await idp.reset();
  expect(await names()).toEqual(["bob"]);
});

test("passwords of other fixtures are on disk before the response", async () => {
  const data = newFolder();
  const first = await serve({ data, fixtures: fixtures() });
  await first.call("reset", { fixtures: { ...fixtures(), users: [{ username: "alice", password: "another" }] } });
  await first.close();
  const again = await serve({ data, fixtures: { clients: fixtures().clients ?? [] } });
  expect((await login(again, "another")).left?.searchParams.get("code")).toBeTypeOf("string");
});

describe("tokens from before stay dead, although user, client and grant come back", () => {
  test("tokens of a user: 403, invalid_grant, inactive; the code that nobody redeemed too", async () => {
    const idp = await serveThose();
    const { browser, code } = await signIn(idp);
    const { json: tokens } = await exchange(idp, code);
    const { code: unused } = await signIn(idp, { browser });
    for (const times of [1, 2]) {
      await idp.reset();
      expect((await userinfo(idp, tokens.access_token)).json.error, String(times)).toBe("access_revoked");
      for (const { json } of [await refresh(idp, tokens.refresh_token), await exchange(idp, unused)]) {
        expect(json.error).toBe("invalid_grant");
      }
      expect(await idp.call("token.introspect", { token: tokens.access_token })).toMatchObject({ active: false });
    }
    const { json: after } = await exchange(idp, (await signIn(idp)).code);
    expect((await userinfo(idp, after.access_token)).status).toBe(200);
    expect((await userinfo(idp, tokens.access_token)).status).toBe(403);
  });

  test("tokens of the client itself, and what was exchanged for", async () => {
    const idp = await serveThose();
    const issue = () => post(idp, paths.token, { grant_type: "client_credentials" });
    const { json: tokens } = await issue();
    await idp.reset();
    expect(await idp.call("token.introspect", { token: tokens.access_token })).toMatchObject({ active: false });
    const { json: fresh } = await issue();
    expect(await idp.call("token.introspect", { token: fresh.access_token })).toMatchObject({ active: true });
  });

  test("the session, and whatever waits for the person in front of the browser", async () => {
    const idp = await serveThose();
    const { browser } = await signIn(idp);
    const waiting = new Browser(idp.issuer);
    const page = await waiting.open(authorizeUrl(idp));
    await idp.reset();
    expect((await browser.open(authorizeUrl(idp))).page).toBe("login");
    expect(await pick(waiting, page, "alice")).toMatchObject({ page: "login", state: "expired", left: null });
  });

  test("pushed requests and devices that wait", async () => {
    const idp = await serveThose();
    const send = (path: string, fields: Record<string, string>) => {
      const form = { client_id: "demo-app", client_secret: "demo-secret", ...fields };
      return post(idp, path, {}, { headers: {}, body: new URLSearchParams(form) });
    };
    const request = { response_type: "code", redirect_uri: callback, scope: "openid" };
    // Each can be used once.
    const pushed = [await send("/api/v2/oauth/par", request), await send("/api/v2/oauth/par", request)] as const;
    const { json: asked } = await send("/api/v2/oauth/device_authorization", {});
    const poll = () => send(paths.token, { grant_type: device, device_code: String(asked["device_code"]) });
    const open = ({ json }: Answer) => {
      const query = new URLSearchParams({ client_id: "demo-app", request_uri: String(json["request_uri"]) });
      return new Browser(idp.issuer).open(`${idp.issuer}${paths.authorize}?${query.toString()}`);
    };
    expect((await poll()).json.error).toBe("authorization_pending");
    const before = (await open(pushed[0])).page;
    await idp.reset();
    expect((await poll()).json.error).toBe("invalid_grant");
    expect([before, (await open(pushed[1])).page]).toEqual(["login", "error"]);
  });
});

describe("the data", () => {
  test("is that of a server that has just started on the fixtures", async () => {
    const clock = testClock();
    const idp = await serve({ fixtures: fixtures(), now: clock.now });
    const fresh = await stateOf(idp);
    await signIn(idp, { user: "bob" });
    await idp.call("users.add", { username: "eve" });
    await idp.call("users.edit", { username: "alice", email: "a@b.test", password: "other" });
    await idp.call("users.ban", { username: "bob" });
    await idp.call("clients.edit", { client_id: "demo-app", client_name: "Other" });
    await idp.call("clients.add", { client_id: "more", redirect_uris: [callback] });
    await idp.call("revoke", { user: "alice" });
    await idp.call("seed", { scopes: { more: null }, settings: { access_token_ttl: 60 } });
    expect(await idp.reset()).toEqual({
      fixtures: [],
      users: {
        total: 2,
        removed: ["eve"],
        added: [],
        changed: [
          { name: "alice", fields: ["email", "password"] },
          { name: "bob", fields: ["status"] },
        ],
      },
      clients: { total: 1, removed: ["more"], added: [], changed: [{ name: "demo-app", fields: ["client_name"] }] },
      scopes: { total: 1, removed: ["more"], added: [], changed: [] },
      grants: {
        total: 1,
        removed: ["bob demo-app"],
        added: [],
        changed: [{ name: "alice demo-app", fields: ["status"] }],
      },
      settings: ["access_token_ttl"],
      sessionsEnded: 0,
      keysRenewed: false,
    });
    expect(await stateOf(idp)).toEqual(fresh);
    expect((await login(idp, "other")).state).toBe("error-credentials");
    expect((await login(idp, "alice")).left).not.toBeNull();
    const issued = await idp.issueTokens({ user: "alice", client: "demo-app" });
    expect(issued.expires_in).toBe(600);
  });

  test("what was removed is back, and sessions are counted", async () => {
    const idp = await serveThose();
    await signIn(idp, { user: "bob" });
    await idp.call("users.remove", { username: "alice" });
    await idp.call("clients.remove", { client_id: "demo-app" });
    const { users, clients, grants, sessionsEnded } = await idp.reset();
    expect({ users: users.added, clients: clients.added, grants: grants.added, sessionsEnded }).toEqual({
      users: ["alice"],
      clients: ["demo-app"],
      grants: ["alice demo-app"],
      sessionsEnded: 1,
    });
    expect((await login(idp, "alice")).left).not.toBeNull();
  });

  test("is not affected by what the program did with its own value", async () => {
    const users = [...(fixtures().users ?? [])];
    const idp = await serve({ fixtures: { ...fixtures(), users } });
    users.push({ username: "late" });
    await idp.reset();
    expect((await idp.call("users.list", {})).map(({ username }) => username)).toEqual(["alice", "bob"]);
  });

  test("changes at one moment: a concurrent reader sees all of it or nothing", async () => {
    const idp = await serveThose();
    const fresh = await stateOf(idp);
    const tokens = await idp.issueTokens({ user: "alice", client: "demo-app" });
    const reads = Array.from({ length: 40 }, () => userinfo(idp, tokens.access_token));
    const [, ...answers] = await Promise.all([idp.reset(), ...reads]);
    for (const { status } of answers) expect([200, 403]).toContain(status);
    await Promise.all([idp.reset(), idp.reset(), idp.call("users.add", { username: "eve" }), idp.reset()]);
    await idp.reset();
    expect(await stateOf(idp)).toEqual(fresh);
  });
});

describe("keys", () => {
  const kids = async (idp: Idp) => (await idp.call("keys.list", {})).map(({ kid }) => kid);

  test("stay", async () => {
    const idp = await serveThose();
    const before = await kids(idp);
    await idp.reset();
    expect(await kids(idp)).toEqual(before);
  });

  test("are replaced if requested, and the old ones verify nothing", async () => {
    const idp = await serveThose();
    const before = await kids(idp);
    const tokens = await idp.issueTokens({ user: "alice", client: "demo-app" });
    expect(await idp.call("reset", { keys: true })).toMatchObject({ keysRenewed: true });
    const after = await kids(idp);
    expect(after).toHaveLength(before.length);
    expect(after.filter((kid) => before.includes(kid))).toEqual([]);
    const jwks = await (await fetch(`${idp.issuer}/api/v2/oauth/jwks`)).json();
    expect(JSON.stringify(jwks)).not.toContain(before[1]);
    expect((await userinfo(idp, tokens.access_token)).status).toBe(401);
    const { json } = await exchange(idp, (await signIn(idp)).code);
    expect((await userinfo(idp, json.access_token)).status).toBe(200);
  });
});

describe("other fixtures", () => {
  const reset = async (idp: Idp, body: unknown) => {
    const response = await fetch(`${idp.issuer}/_idp/api/reset`, {
      method: "POST",
      headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };

  test("take the place of those in use, for later resets too", async () => {
    const idp = await serveThose();
    const { status, json } = await reset(idp, { fixtures: { users: [{ username: "carol" }] } });
    expect(status).toBe(200);
    expect(json["users"]).toMatchObject({ total: 1, removed: ["alice", "bob"], added: ["carol"] });
    await idp.call("users.remove", { username: "carol" });
    expect((await idp.reset()).users).toMatchObject({ total: 1, added: ["carol"] });
  });

  test.each([
    ["an unknown field", { users: [{ username: "x", emial: "x@y.test" }] }, "users[0].emial"],
    [
      "a grant of a user who was added at run time",
      { grants: [{ user: "eve", client: "demo-app", scope: "openid" }] },
      "grants[0].user",
    ],
  ])("with a problem, %s: 422, and nothing is changed", async (_what, wrong, path) => {
    const idp = await serveThose();
    await idp.call("users.add", { username: "eve" });
    const tokens = await idp.issueTokens({ user: "alice", client: "demo-app" });
    const { status, json } = await reset(idp, { fixtures: wrong, keys: true });
    expect({ status, error: json["error"] }).toEqual({ status: 422, error: "invalid" });
    expect(json["problems"]).toEqual(expect.arrayContaining([expect.objectContaining({ path })]));
    expect((await userinfo(idp, tokens.access_token)).status).toBe(200);
    await idp.reset();
    expect((await idp.call("users.list", {})).map(({ username }) => username)).toEqual(["alice", "bob"]);
  });
});

test("of two concurrent resets the later one wins, however long the earlier one takes", async () => {
  const idp = await serveThose();
  const many = { users: Array.from({ length: 3000 }, (_, index) => ({ username: `user-${index}` })) };
  const long = idp.call("reset", { fixtures: many });
  const short = idp.call("reset", { fixtures: { users: [{ username: "zoe" }] } });
  await Promise.all([long, short]);
  const usernames = async () => (await idp.call("users.list", {})).map(({ username }) => username);
  expect(await usernames()).toEqual(["zoe"]);
  await idp.reset();
  expect(await usernames()).toEqual(["zoe"]);
});
