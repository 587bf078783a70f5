import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { atEnd } from "../helpers/at-end.ts";
import { callback } from "../helpers/client.ts";
import { scimServer, type ScimServer } from "../helpers/scim-server.ts";

/** One slow app keeps nobody signed in at another: apps are told side by side, and whoever leaves goes before a push that is running. */

/** Answers nothing, for ever. */
async function silentServer(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const scimOf = (url: string, more: object = {}) => ({
  url,
  token: "scim-secret-of-the-app",
  profile: "okta" as const,
  ...more,
});
const client = (client_id: string, more: object) => ({ client_id, redirect_uris: [callback], ...more });

const isActive = (app: ScimServer, name: string): unknown => app.named(`${name}@example.com`)?.["active"];

const users = ["alice", "bob", "carol"].map((username) => ({ username, email: `${username}@example.com` }));

/** Holds back the answer to the first such request, until `release`. */
function held(app: ScimServer, path: string) {
  let [come, release] = [(): void => undefined, (): void => undefined];
  const came = new Promise<void>((resolve) => (come = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  app.hook = (seen) => {
    if (seen.path !== path) return null;
    app.hook = () => null;
    come();
    return released.then(() => null);
  };
  return { came, release };
}

const pathOf = (app: ScimServer, name: string): string => `/Users/${String(app.named(`${name}@example.com`)?.["id"])}`;

test("an app that never answers delays no other app, whichever way it is told", async () => {
  const silent = await silentServer();
  const [app, revoked] = [await scimServer(), await scimServer()];
  const idp = await serve({
    fixtures: [
      {
        users,
        clients: [
          client("silent", { scim: scimOf(`${silent}/scim`), global_token_revocation: { uri: `${silent}/revoke` } }),
          client("quiet", { global_token_revocation: { uri: `${silent}/revoke` } }),
          client("app", { scim: scimOf(app.url) }),
          client("revoked", { global_token_revocation: { uri: `${revoked.url}/revoke` } }),
        ],
      },
    ],
  });
  await idp.scim.push({ client: "app" });
  const leaving = idp.leave("alice");
  let hasEnded = false;
  void leaving.then(() => (hasEnded = true));
  await expect.poll(() => isActive(app, "alice")).toBe(false);
  await expect.poll(() => revoked.steps()).toEqual(["POST /revoke"]);
  expect(hasEnded).toBe(false);
});

test("whoever leaves goes before a push that is running, and is not made active by it again", async () => {
  const app = await scimServer();
  const idp = await serve({ fixtures: [{ users, clients: [client("app", { scim: scimOf(app.url) })] }] });
  await idp.scim.push({ client: "app" });
  const { came, release } = held(app, pathOf(app, "alice"));
  const pushing = idp.scim.push({ client: "app", full: true });
  await came;
  await idp.leave("bob");
  await idp.call("users.restore", { username: "bob" });
  expect(isActive(app, "bob")).toBe(true);
  const { signals } = await idp.leave("carol");
  expect(signals).toMatchObject([{ client: "app", signal: "scim", status: 200, error: null }]);
  expect(isActive(app, "carol")).toBe(false);
  release();
  await pushing;
  expect([isActive(app, "bob"), isActive(app, "carol")]).toEqual([true, false]);
});

test("live changes wait for no push, and what was not sent before a leave is not sent after it", async () => {
  const app = await scimServer();
  const scim = scimOf(app.url, { live: "on" });
  const idp = await serve({ fixtures: [{ users, clients: [client("app", { scim })] }] });
  await idp.scim.push({ client: "app" });
  const push = held(app, pathOf(app, "alice"));
  const pushing = idp.scim.push({ client: "app", full: true });
  await push.came;
  await idp.call("users.suspend", { username: "bob" });
  await expect.poll(() => isActive(app, "bob")).toBe(false);
  const live = held(app, pathOf(app, "bob"));
  await idp.call("users.restore", { username: "bob" });
  await live.came;
  // Waits behind the change of Bob.
  await idp.call("users.edit", { username: "carol", displayName: "Carol Other" });
  await idp.leave("carol");
  expect(isActive(app, "carol")).toBe(false);
  const seen = app.seen.length;
  live.release();
  await idp.call("users.edit", { username: "bob", displayName: "Bob Other" });
  await expect.poll(() => app.named("bob@example.com")).toMatchObject({ active: true, displayName: "Bob Other" });
  expect(app.seen.slice(seen).map(({ path }) => path)).not.toContain(pathOf(app, "carol"));
  push.release();
  await pushing;
  expect(isActive(app, "carol")).toBe(false);
});

test("a push to an app that does not answer delays no push to another one", async () => {
  const silent = await silentServer();
  const app = await scimServer();
  const clients = [client("silent", { scim: scimOf(`${silent}/scim`) }), client("app", { scim: scimOf(app.url) })];
  const idp = await serve({ fixtures: [{ users, clients }] });
  let hasEnded = false;
  void idp.scim.push().then(() => (hasEnded = true));
  await expect.poll(() => isActive(app, "alice")).toBe(true);
  expect(hasEnded).toBe(false);
});

test.each<readonly [string, string, string]>([
  ["a page", "text/html", "<p>Sign in</p>"],
  ["JSON that is no list", "application/json", '{"Resources": "none"}'],
  ["a list without its envelope", "application/json", "[]"],
])("an app that answers every request with 200 and %s was not told that somebody left", async (_what, type, body) => {
  const server = createServer((req, res) => {
    req.resume();
    res.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scim`;
  const idp = await serve({ fixtures: { users, clients: [client("app", { scim: scimOf(url) })] } });
  const { signals } = await idp.leave("alice");
  expect(signals).toMatchObject([
    { signal: "scim", error: expect.stringContaining("answered no ListResponse") as unknown },
  ]);
  expect(await idp.scim.status({ client: "app" })).toMatchObject({
    users: expect.arrayContaining([expect.objectContaining({ username: "alice" })]) as unknown,
  });
});
