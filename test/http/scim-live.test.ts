import { expect, test } from "vitest";
import type { ScimStatus } from "../../src/core/scim/status.ts";
import { serve } from "../helpers/app.ts";
import { callback } from "../helpers/client.ts";
import { scimServer, type Json } from "../helpers/scim-server.ts";

/** `live: on`: each change is sent when it is made. */

async function world(change: object = {}) {
  const app = await scimServer();
  const scim = { url: app.url, token: app.token, profile: "okta" as const, live: "on" as const, ...change };
  const idp = await serve({
    fixtures: [
      {
        users: ["alice", "bob", "carol"].map((username) => ({ username, claims: { groups: ["all"] } })),
        clients: [{ client_id: "app", redirect_uris: [callback], scim }],
      },
    ],
  });
  const statusOf = async () => (await idp.scim.status({ client: "app" })) as ScimStatus;
  return { app, idp, statusOf };
}

/** What was sent about whether a user is active, in order: "bob false". */
const sent = (app: Awaited<ReturnType<typeof scimServer>>): string[] =>
  app.seen.flatMap(({ method, path, body }) => {
    if (method !== "PATCH" || !path.startsWith("/Users")) return [];
    const [{ value }] = (body?.["Operations"] ?? [{}]) as [Json];
    const user = app.users.get(path.slice("/Users/".length));
    return [`${String(user?.["userName"]).split("@")[0]} ${String(value?.active)}`];
  });

test("every change in the order of the changes, also of one user", async () => {
  const { app, idp } = await world();
  await idp.scim.push();
  app.seen.length = 0;
  await idp.call("users.suspend", { username: "carol" });
  await idp.call("users.suspend", { username: "alice" });
  await idp.call("users.restore", { username: "carol" });
  await idp.call("users.suspend", { username: "bob" });
  await expect.poll(() => sent(app)).toEqual(expect.arrayContaining(["bob false"]));
  expect(sent(app)).toEqual(["carol false", "alice false", "carol true", "bob false"]);
  await idp.call("users.add", { username: "dave", claims: { groups: ["all"] } });
  await idp.call("users.remove", { username: "alice" });
  await expect.poll(() => app.memberNames("all")).toEqual(["bob", "carol", "dave"].map((one) => `${one}@example.com`));
});

test("a failure is in scim status, and is sent again after the next change", async () => {
  const { app, idp, statusOf } = await world();
  await idp.scim.push();
  app.hook = ({ method }) => (method === "GET" ? null : { status: 400, body: { detail: "not now" } });
  await idp.call("users.suspend", { username: "alice" });
  await expect.poll(async () => (await statusOf()).users[0]?.error).toContain("not now");
  expect((await statusOf()).users[0]).toMatchObject({ pending: true });
  app.hook = () => null;
  await idp.call("users.suspend", { username: "bob" });
  await expect.poll(async () => (await statusOf()).users.map(({ pending }) => pending)).toEqual([false, false, false]);
  expect(app.named("alice@example.com")).toMatchObject({ active: false });
});

test("granted: a grant and its end are changes; off: nothing is sent", async () => {
  const { app, idp } = await world({ users: "granted", groups: "none" });
  await idp.issueGrant({ user: "bob", client: "app", scope: "openid" });
  await expect.poll(() => app.named("bob@example.com")).toMatchObject({ active: true });
  await idp.revoke({ user: "bob", client: "app" });
  await expect.poll(() => app.named("bob@example.com")).toMatchObject({ active: false });
  const off = await world({ live: "off" });
  await off.idp.call("users.suspend", { username: "alice" });
  await off.idp.scim.push();
  expect(off.app.steps().filter((step) => step === "PATCH /Users/ID")).toEqual([]);
});

test("a change of what no app is sent, a password or a note, sends nothing", async () => {
  const app = await scimServer();
  const scim = { url: app.url, token: app.token, live: "on" as const };
  const idp = await serve({
    fixtures: [
      {
        users: [{ username: "alice", password: "a long password" }, { username: "bob" }],
        clients: [{ client_id: "app", redirect_uris: [callback], scim }],
      },
    ],
  });
  await idp.call("users.edit", { username: "alice", password: "another password" });
  await idp.call("users.edit", { username: "alice", note: "seen twice" });
  await idp.call("users.add", { username: "carol" });
  await expect.poll(() => app.named("carol@example.com")).toMatchObject({ active: true });
  expect(app.seen.filter(({ query }) => query.get("filter")?.includes("alice") === true)).toEqual([]);
});

test("users leave says what it sent, and live does not send it too", async () => {
  const { app, idp } = await world();
  await idp.scim.push();
  app.seen.length = 0;
  expect((await idp.leave("alice")).signals).toMatchObject([
    { client: "app", signal: "scim", status: 200, error: null },
  ]);
  await idp.call("users.suspend", { username: "bob" });
  await expect.poll(() => sent(app)).toEqual(["alice false", "bob false"]);
});
