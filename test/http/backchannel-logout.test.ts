import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { callback, exchange, jwtPart, paths, pick, post, signIn } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** OpenID Connect Back-Channel Logout 1.0: clients of a session are notified when it ends. */

const clock = testClock();
const notes: string[] = [];
const idp = await serve({ now: clock.now, log: (note) => notes.push(note) });

interface Told {
  readonly path: string;
  readonly type: string | undefined;
  readonly body: URLSearchParams;
}
let told: Told[] = [];

const read = async (req: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of req) text += String(chunk);
  return text;
};
/** The clients' back channel. */
const receiver = createServer((req, res) => {
  void read(req).then((text) => {
    told.push({ path: req.url ?? "", type: req.headers["content-type"], body: new URLSearchParams(text) });
    if (req.url === "/moved") res.writeHead(307, { location: "/elsewhere" }).end();
    else if (req.url === "/refused") res.writeHead(400).end(JSON.stringify({ error: "invalid_request", sent: text }));
    else if (req.url === "/long") res.writeHead(500).end("x".repeat(200_000));
    else if (req.url === "/an-hour-later") {
      clock.pass(3600);
      res.end();
    } else res.writeHead(req.url === "/broken" ? 500 : 200).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
afterAll(() => receiver.close());
beforeEach(() => {
  told = [];
  notes.length = 0;
});

const listening = (path = "/told") => register(idp, { backchannel_logout_uri: base + path });

/** Signs in at each of the apps, in one browser. @returns the ID tokens, in their order */
async function signInAt(apps: readonly App[], browser = new Browser(idp.issuer)) {
  const hints: string[] = [];
  for (const app of apps) hints.push((await app.tokens({ browser })).id_token);
  return { browser, hints };
}
const secret = ({ credentials }: App): Record<string, string> => ({
  client_id: credentials.client_id,
  client_secret: credentials.client_secret ?? "",
});
const logOut = (browser: Browser, hint: string) => browser.open(`/api/v2/oauth/logout?id_token_hint=${hint}`);

test("the logout token says whose session of which client ended, and nothing else", async () => {
  const app = await listening();
  const { browser, hints } = await signInAt([app]);
  await logOut(browser, hints[0] ?? "");
  expect(told).toHaveLength(1);
  expect([told[0]?.path, told[0]?.type]).toEqual(["/told", "application/x-www-form-urlencoded;charset=UTF-8"]);
  expect([...(told[0]?.body.keys() ?? [])]).toEqual(["logout_token"]);
  const { payload, protectedHeader } = await jwtVerify(
    told[0]?.body.get("logout_token") ?? "",
    createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`)),
    { issuer: idp.issuer, audience: app.credentials.client_id, typ: "logout+jwt", currentDate: new Date(clock.now()) },
  );
  expect(protectedHeader.alg).toBe("RS256");
  expect(payload).toEqual({
    iss: idp.issuer,
    sub: "7123456789012345678",
    aud: app.credentials.client_id,
    iat: clock.now() / 1000,
    exp: clock.now() / 1000 + 120,
    jti: expect.stringMatching(/^.{16,}$/) as string,
    sid: jwtPart(hints[0] ?? "", 1)["sid"],
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
});

describe("which clients are notified", () => {
  test("every client of the session that wants to know, in parallel, each its own token", async () => {
    const apps = [await listening("/one"), await listening("/two"), await register(idp)];
    const { browser, hints } = await signInAt(apps);
    await logOut(browser, hints[0] ?? "");
    expect(told.map(({ path }) => path).sort()).toEqual(["/one", "/two"]);
    const audiences = told.map(({ body }) => jwtPart(body.get("logout_token") ?? "", 1)["aud"]);
    expect(audiences.sort()).toEqual([apps[0], apps[1]].map((app) => app?.credentials.client_id).sort());
  });

  test("a client of the device flow, whose user decided in this session", async () => {
    const app = await register(idp, {
      grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
      backchannel_logout_uri: `${base}/device`,
    });
    const { browser } = await signInAt([await register(idp)]);
    const { json } = await post(
      idp,
      "/api/v2/oauth/device_authorization",
      {},
      { headers: {}, body: new URLSearchParams(secret(app)) },
    );
    await browser.press(await browser.open(`/device?user_code=${String(json["user_code"])}`), "device-allow");
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const tokens = await post(idp, paths.token, {
      grant_type,
      device_code: String(json["device_code"]),
      ...app.credentials,
    });
    await logOut(browser, tokens.json.id_token);
    expect(told.map(({ path }) => path)).toEqual(["/device"]);
  });

  test("once, however often the client signed the user in", async () => {
    const app = await listening();
    const { browser, hints } = await signInAt([app, app, app]);
    await logOut(browser, hints[0] ?? "");
    expect(told).toHaveLength(1);
  });

  test("no client of another session of the same user", async () => {
    const [here, there] = [await listening("/here"), await listening("/there")];
    const { browser, hints } = await signInAt([here]);
    await signInAt([there]);
    await logOut(browser, hints[0] ?? "");
    expect(told.map(({ path }) => path)).toEqual(["/here"]);
  });

  test("no client that came after one of the same id", async () => {
    const app = await listening();
    const { browser, hints } = await signInAt([app, await register(idp)]);
    const { client_id, client_secret } = app.credentials;
    await idp.call("clients.remove", { client_id });
    await idp.call("clients.add", {
      ...{ client_id, client_secret: client_secret ?? "" },
      redirect_uris: [callback],
      backchannel_logout_uri: `${base}/later`,
    });
    await logOut(browser, hints[1] ?? "");
    expect(told).toEqual([]);
  });

  test("no client while the session goes on: a code that was never redeemed, a denied question", async () => {
    const app = await listening();
    const { browser } = await app.signIn();
    const asks = await browser.open("/api/v2/oauth/logout");
    await browser.press(asks, "logout-stay");
    expect(told).toEqual([]);
    await browser.press(await browser.open("/api/v2/oauth/logout"), "logout-confirm");
    expect(told).toEqual([]);
  });
});

describe("what ends a session", () => {
  test.each<[name: string, end: (browser: Browser, sid: string) => Promise<unknown>]>([
    [
      "the sign-out page",
      async (browser) => browser.press(await browser.open("/api/v2/oauth/logout"), "logout-confirm"),
    ],
    [
      "signing out on the account page",
      async (browser) => browser.press(await browser.open("/account"), "account-signout"),
    ],
    ["the operator", async (_browser, id) => idp.call("sessions.end", { id })],
    [
      "another user who signs in in its place, and ends that one again",
      async (browser) => {
        const app = await register(idp);
        await pick(browser, await browser.open(app.url({ prompt: "login select_account" })), "bob");
        expect(told).toHaveLength(1);
        await browser.press(await browser.open("/account"), "account-signout");
      },
    ],
  ])("%s", async (_name, end) => {
    const { browser, hints } = await signInAt([await listening()]);
    await end(browser, String(jwtPart(hints[0] ?? "", 1)["sid"]));
    expect(told).toHaveLength(1);
    expect((await browser.open("/account")).page).toBe("login");
  });
});

test.each<[name: string, end: (username: string) => Promise<unknown>]>([
  ["banned", (username) => idp.call("users.ban", { username })],
  ["banned by an edit", (username) => idp.call("users.edit", { username, status: "banned" })],
  ["banned by a fixture", (username) => idp.call("seed", { users: [{ username, status: "banned" }] })],
  [
    "banned by fixtures that changed while it runs",
    (username) => idp.changeFixtures([{ value: { users: [{ username, status: "banned" }] } }]),
  ],
  ["given another id by a fixture", (username) => idp.call("seed", { users: [{ username, id: "42" }] })],
  ["removed", (username) => idp.call("users.remove", { username })],
])("a user who is %s: the clients of all their sessions are notified", async (_name, end) => {
  const user = await enroll(idp);
  const apps = [await listening("/one"), await listening("/two")];
  for (const app of apps) await app.tokens({ user });
  await end(user);
  expect(told.map(({ path }) => path).sort()).toEqual(["/one", "/two"]);
});

test("the session that an automatic sign-in replaces: its clients are notified", async () => {
  const auto = await serve({ now: clock.now });
  const app = await register(auto, { backchannel_logout_uri: `${base}/told` });
  const browser = new Browser(auto.issuer);
  await app.tokens({ browser, user: "bob" });
  await auto.call("seed", { settings: { login: "auto:alice" } });
  expect((await browser.open(app.url({ prompt: "login" }))).page).toBe("consent");
  expect(told).toHaveLength(1);
});

test("a user whom the fixtures of the next start ban: their clients are notified once it runs", async () => {
  const data = newFolder();
  const clients = [{ client_id: "app", client_secret: "a secret of some length", redirect_uris: [callback] }];
  const wants = clients.map((client) => ({ ...client, backchannel_logout_uri: `${base}/later` }));
  const before = await serve({ data, fixtures: { users: [{ username: "alice" }], clients: wants } });
  const { code } = await signIn(before, { client_id: "app" });
  await exchange(before, code, { client_id: "app", client_secret: "a secret of some length" });
  await before.close();
  expect(told).toEqual([]);
  await serve({ data, fixtures: { users: [{ username: "alice", status: "banned" }], clients: wants } });
  await vi.waitFor(() => {
    expect(told.map(({ path }) => path)).toEqual(["/later"]);
  }, 30_000);
});

describe("a client that does not listen does not block the sign-out", () => {
  test.each([
    ["answers 500", () => listening("/broken"), /answered 500/],
    ["redirects", () => listening("/moved"), /answered 307/],
    ["is not there", () => register(idp, { backchannel_logout_uri: "http://127.0.0.1:1/" }), /could not be reached/],
  ])("one that %s: signed out, the others notified, and the log says so", async (_name, deaf, words) => {
    const broken = await deaf();
    const { browser, hints } = await signInAt([broken, await listening("/fine")]);
    expect((await logOut(browser, hints[0] ?? "")).page).toBe("signed-out");
    expect((await browser.open("/account")).page).toBe("login");
    expect(told.map(({ path }) => path)).toContain("/fine");
    expect(told.map(({ path }) => path)).not.toContain("/elsewhere");
    const note = notes.find((one) => one.includes(`"${broken.credentials.client_id}"`));
    expect(note).toMatch(words);
  });
});

test("the token is signed as the client's ID tokens are", async () => {
  const app = await register(idp, { backchannel_logout_uri: `${base}/told`, id_token_signed_response_alg: "ES256" });
  const { browser, hints } = await signInAt([app]);
  await logOut(browser, hints[0] ?? "");
  expect(jwtPart(told[0]?.body.get("logout_token") ?? "", 0)).toMatchObject({ alg: "ES256", typ: "logout+jwt" });
});

test("each call is in the ledger and in the sign-in of its app, and can be expected", async () => {
  const [app, broken] = [await listening(), await listening("/broken")];
  const { browser, hints } = await signInAt([app, broken]);
  await logOut(browser, hints[0] ?? "");
  const { client_id: client } = app.credentials;
  const records = (await idp.call("requests.list", {})).filter(({ client: of }) => of === client);
  const call = records.find(({ endpoint }) => endpoint === "backchannel_logout");
  expect(call).toMatchObject({
    ...{ method: "POST", path: `${base}/told`, status: 200, client, user: "alice", error: null },
    parameters: { logout_token: { claims: { aud: client, sid: jwtPart(hints[0] ?? "", 1)["sid"] } } },
  });
  // Nobody can replay it from the ledger.
  expect(JSON.stringify(call)).not.toContain(told[0]?.body.get("logout_token"));
  expect(call?.flow).toBe(records.find(({ endpoint }) => endpoint === "token")?.flow);
  const expectation = { endpoint: "backchannel_logout", client: broken.credentials.client_id } as const;
  expect(await idp.call("expect", { ...expectation, times: 1 })).toMatchObject({ met: true });
  const [failed] = await idp.call("requests.list", expectation);
  expect(failed).toMatchObject({ status: 500, error: `${base}/broken answered 500`, rule: expect.any(String) });
  expect(failed?.flow).not.toBe(call?.flow);
});

test.each([
  ["what the app answered", "/refused", { status: 400, response: { body: { error: "invalid_request" } } }],
  ["its status, however long its page is", "/long", { status: 500, response: null }],
])("of a refused call, the ledger has %s", async (_name, path, expected) => {
  const app = await listening(path);
  const { browser, hints } = await signInAt([app]);
  await logOut(browser, hints[0] ?? "");
  const call = { endpoint: "backchannel_logout", client: app.credentials.client_id } as const;
  const [record] = await idp.call("requests.list", call);
  expect(record).toMatchObject({ ...expected, error: `${base}${path} answered ${expected.status}` });
  expect(JSON.stringify(record)).not.toContain(told[0]?.body.get("logout_token"));
});

test("the duration of a call is the time that it took, also where the clock moves meanwhile", async () => {
  const app = await listening("/an-hour-later");
  const { browser, hints } = await signInAt([app]);
  await logOut(browser, hints[0] ?? "");
  const call = { endpoint: "backchannel_logout", client: app.credentials.client_id } as const;
  const [record] = await idp.call("requests.list", call);
  expect(record?.ms).toBeLessThan(60_000);
});

test("a client that had no address when the user signed in hears nothing, and it is said why", async () => {
  const app = await register(idp, {});
  await signInAt([app]);
  const { client_id } = app.credentials;
  await idp.call("clients.edit", { client_id, backchannel_logout_uri: `${base}/told` });
  const { notices } = await idp.call("sessions.end", { user: "alice" });
  const detail = "not sent: the client had no backchannel_logout_uri when alice signed in";
  expect(notices.filter(({ client }) => client === client_id)).toEqual([{ client: client_id, ok: false, detail }]);
  expect(told.map(({ path }) => path)).not.toContain("/told");
  expect(notes).toContain(`back-channel logout of client "${client_id}": ${detail}`);
});

test.each([
  ["refresh tokens end with the session, if the client says so", { refresh_ends_with_session: true }, "openid", 400],
  ["those with offline_access stay", { refresh_ends_with_session: true }, "openid offline_access", 200],
  ["those of other clients stay", {}, "openid", 200],
])("%s", async (_name, fields, scope, status) => {
  const app = await register(idp, fields);
  const browser = new Browser(idp.issuer);
  const tokens = await app.tokens({ browser, scope });
  const renewed = await app.refresh(tokens.refresh_token);
  expect(renewed.status).toBe(200);
  await logOut(browser, tokens.id_token);
  const after = await app.refresh(renewed.json.refresh_token);
  expect(after.status).toBe(status);
  if (status === 200) return;
  expect(after.json).toMatchObject({
    error: "invalid_grant",
    error_description: "refresh_token is not accepted: The token ended with the session of its user",
  });
  // A new session gives new tokens, and the old ones stay dead.
  const again = await app.tokens({ browser, scope });
  expect((await app.refresh(again.refresh_token)).status).toBe(200);
  expect((await app.refresh(renewed.json.refresh_token)).status).toBe(400);
});
