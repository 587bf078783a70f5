import { describe, expect, test } from "vitest";
import { profileNames, type Profile } from "../../src/scim/profiles.ts";
import { callback } from "../helpers/client.ts";
import { openInspector } from "../helpers/inspector.ts";
import { type Json } from "../helpers/scim-server.ts";
import { actions, bodies, people, pushedApp, statusOf } from "../helpers/pushed-app.ts";

/** `scim push`: what an app gets, by each profile. scim-push-failures.test.ts has the answers that are missing or refuse. */

test("users and groups are created, and a second push sends nothing", async () => {
  const { app, push } = await pushedApp();
  const report = await push();
  expect(actions(report)).toEqual([
    "created alice",
    "created bob",
    "unchanged carol",
    "created engineering",
    "created all",
  ]);
  expect(report).toMatchObject({ client: "app", url: app.url, profile: "standard", inSync: true });
  const alice = app.named("alice@example.com");
  expect(report.users[0]).toEqual({
    username: "alice",
    action: "created",
    status: 201,
    id: alice?.["id"],
    error: null,
  });
  expect(alice).toMatchObject({
    active: true,
    displayName: "Alice B. Adams",
    name: { givenName: "Alice B.", familyName: "Adams" },
    emails: [{ value: "alice@example.com", type: "work", primary: true }],
    title: "Engineer",
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "R&D" },
  });
  expect(app.named("bob")).toMatchObject({ name: { givenName: "Robert", familyName: "Jones" } });
  expect(app.named("bob")).not.toHaveProperty("emails");
  expect(app.users.size).toBe(2);
  expect(app.memberNames("all")).toEqual(["alice@example.com", "bob"]);
  expect(report.groups[1]).toMatchObject({ name: "all", members: 2, status: 201 });

  app.seen.length = 0;
  const again = await push();
  expect(new Set(actions(again).map((one) => one.split(" ")[0]))).toEqual(new Set(["unchanged"]));
  expect(app.seen).toEqual([]);
});

describe.each([
  ["standard", ["PATCH /Users/ID"], { op: "replace", path: "active", value: false }],
  ["okta", ["PATCH /Users/ID"], { op: "replace", value: { active: false } }],
  ["entra", ["PATCH /Users/ID"], { op: "Replace", path: "active", value: "False" }],
  ["entra-compliant", ["PATCH /Users/ID"], { op: "replace", path: "active", value: false }],
  ["okta-put", ["GET /Users/ID", "PUT /Users/ID"], null],
] as const)("%s", (profile, steps, operation) => {
  test("suspends and restores", async () => {
    const { app, idp, push } = await pushedApp({ profile });
    await push();
    app.seen.length = 0;
    await idp.call("users.suspend", { username: "alice" });
    expect(actions(await push())[0]).toBe("deactivated alice");
    expect(app.steps()).toEqual(steps);
    if (operation !== null) expect(bodies(app, "PATCH")[0]?.["Operations"]).toEqual([operation]);
    expect(app.named("alice@example.com")).toMatchObject({ active: false, title: "Engineer" });
    const id = app.named("alice@example.com")?.["id"];

    await idp.call("users.restore", { username: "alice" });
    // The restore itself tells the app.
    expect(app.named("alice@example.com")).toMatchObject({ active: true, id });
    expect(actions(await push())[0]).toBe("unchanged alice");
  });
});

const lookups: Record<Profile, string> = {
  standard: '?filter=userName eq "alice@example.com"',
  okta: '?filter=userName eq "alice@example.com"&startIndex=1&count=100',
  "okta-put": '?filter=userName eq "alice@example.com"&startIndex=1&count=100',
  entra: '?filter=userName eq "alice@example.com"',
  "entra-compliant": '?filter=userName eq "alice@example.com"',
};

describe.each(profileNames)("%s", (profile) => {
  test("looks up first, and brings a user who is there up to date", async () => {
    const { app, push } = await pushedApp({ profile });
    const first = await push({ user: "alice" });
    expect(actions(first)).toEqual(["created alice"]);
    const { query } = app.seen[0] ?? {};
    expect(`?${decodeURIComponent(String(query).replaceAll("+", " "))}`).toBe(lookups[profile]);
    // A server that somebody filled before.
    const other = await pushedApp({ profile });
    other.app.users.set("7", { id: "7", tenant: "one", userName: "ALICE@example.com", active: true, nickName: "Al" });
    const report = await other.push({ user: "alice" });
    expect(report.users).toEqual([{ username: "alice", action: "matched", status: 200, id: "7", error: null }]);
    expect(other.app.users.get("7")).toMatchObject({
      displayName: "Alice B. Adams",
      title: "Engineer",
      nickName: "Al",
    });
    expect(other.app.users.size).toBe(1);
  });

  test("changes what differs, and keeps the rest", async () => {
    const { app, idp, push } = await pushedApp({ profile });
    await push();
    const alice = app.named("alice@example.com") ?? {};
    alice["nickName"] = "Al";
    app.seen.length = 0;
    await idp.call("users.edit", {
      username: "alice",
      displayName: "Alice Baker",
      email: "baker@example.com",
      claims: { groups: ["all"], department: "Sales" },
    });
    const report = await push();
    expect(actions(report)).toEqual(expect.arrayContaining(["updated alice", "updated engineering", "unchanged all"]));
    const now = app.named("baker@example.com");
    expect(now).toMatchObject({
      id: alice["id"],
      displayName: "Alice Baker",
      name: { givenName: "Alice", familyName: "Baker" },
      emails: [{ value: "baker@example.com", type: "work" }],
      nickName: "Al",
      "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "Sales" },
    });
    expect(now).not.toHaveProperty("title");
    expect(app.memberNames("engineering")).toEqual([]);
    expect(app.memberNames("all")).toEqual(["baker@example.com", "bob"]);
    const patches = bodies(app, "PATCH").map(({ Operations }) => Operations as Json[]);
    const [userPatch = []] = patches;
    const left = patches.at(-1);
    const value = `members[value eq "${String(alice["id"])}"]`;
    if (profile.startsWith("okta")) expect(app.steps().slice(0, 2)).toEqual(["GET /Users/ID", "PUT /Users/ID"]);
    if (profile === "entra") {
      expect(new Set(userPatch.map(({ op }) => String(op)))).toEqual(new Set(["Replace", "Remove"]));
      expect(left).toEqual([{ op: "Remove", path: "members", value: [{ value: alice["id"] }] }]);
    }
    if (profile === "entra-compliant") {
      expect(userPatch.find(({ path }) => path === undefined)?.["value"]).toMatchObject({
        "name.familyName": "Baker",
        displayName: "Alice Baker",
      });
    }
    if (profile === "okta-put") expect(app.steps().slice(-2)).toEqual(["GET /Groups/ID", "PUT /Groups/ID"]);
    else if (profile !== "entra") expect(left).toEqual([{ op: "remove", path: value }]);
  });

  test("removes a user", async () => {
    const { app, idp, push } = await pushedApp({ profile });
    await push();
    await idp.call("users.remove", { username: "alice" });
    app.seen.length = 0;
    expect(actions(await push())).toContain("removed alice");
    const alice = app.named("alice@example.com");
    if (profile.startsWith("okta")) expect(alice).toMatchObject({ active: false });
    else expect(alice).toBeUndefined();
    expect(app.memberNames("engineering")).toEqual([]);
    const users = app.steps().filter((step) => step.includes("Users"));
    if (profile.startsWith("entra")) expect(users).toEqual(["PATCH /Users/ID", "DELETE /Users/ID"]);
    if (profile === "standard") expect(users).toEqual(["DELETE /Users/ID"]);
    app.seen.length = 0;
    expect(actions(await push())).not.toContain("removed alice");
    expect(app.seen).toEqual([]);
  });
});

describe("entra groups", () => {
  test("are looked up without members, created without them, and filled by PATCH", async () => {
    const { app, push } = await pushedApp({ profile: "entra" });
    await push();
    const groups = app.seen.filter(({ path }) => path.startsWith("/Groups"));
    expect(groups[0]?.query.get("excludedAttributes")).toBe("members");
    expect(groups[1]?.body).not.toHaveProperty("members");
    expect(groups[2]).toMatchObject({ method: "PATCH", body: { Operations: [{ op: "Add", path: "members" }] } });
  });
});

test("granted: only users with an active grant; who loses it counts as removed", async () => {
  const { app, idp, push } = await pushedApp({ users: "granted", profile: "okta" });
  expect((await push()).users).toEqual([]);
  await idp.issueGrant({ user: "alice", client: "app", scope: "openid" });
  expect(actions(await push())).toContain("created alice");
  const id = app.named("alice@example.com")?.["id"];
  await idp.revoke({ user: "alice", client: "app" });
  expect(actions(await push())).toContain("removed alice");
  expect(app.named("alice@example.com")).toMatchObject({ active: false });
  await idp.issueGrant({ user: "alice", client: "app", scope: "openid" });
  expect(actions(await push())).toContain("reactivated alice");
  expect(app.named("alice@example.com")).toMatchObject({ active: true, id });
});

test("user_name, and groups that are named", async () => {
  const { app, push } = await pushedApp({ user_name: "username", groups: ["engineering"] });
  const report = await push();
  expect(app.named("alice")).toBeDefined();
  expect(report.groups.map(({ name }) => name)).toEqual(["engineering"]);
  const none = await pushedApp({ groups: "none" });
  expect((await none.push()).groups).toEqual([]);
});

test("dry_run shows the requests and sends none", async () => {
  const { app, idp, push } = await pushedApp({ profile: "okta" });
  const report = await push({ dry_run: true });
  expect(app.seen).toEqual([]);
  expect(report.requests?.map(({ method }) => method)).toEqual([
    "GET",
    "POST",
    "GET",
    "POST",
    "GET",
    "GET",
    "POST",
    "GET",
    "POST",
  ]);
  expect(report.requests?.[1]).toMatchObject({ url: `${app.url}/Users`, body: { userName: "alice@example.com" } });
  expect(JSON.stringify(report)).not.toContain(app.token);
  const status = await statusOf(idp);
  expect(status.users[0]).toEqual({ username: "alice", id: null, pushedAt: null, pending: true, error: null });
});

test("full sends everything again", async () => {
  const { app, push } = await pushedApp();
  await push();
  app.seen.length = 0;
  const report = await push({ full: true });
  expect(report.inSync).toBe(true);
  expect(app.steps().filter((step) => step === "PATCH /Users/ID")).toHaveLength(2);
  expect(app.users.size).toBe(2);
});

describe("remote ids", () => {
  test("are kept in snapshots and exports, and forgotten by reset", async () => {
    const { app, idp, push } = await pushedApp({}, people.slice(0, 1));
    await idp.snapshot("before");
    await push();
    await idp.snapshot("after");
    const idOf = async () => (await statusOf(idp)).users[0]?.id as unknown;
    const id = app.named("alice@example.com")?.["id"] as unknown;
    expect(await idOf()).toBe(id);
    await idp.reset();
    expect(await idOf()).toBeNull();
    await idp.restore("after");
    expect(await idOf()).toBe(id);
    await idp.restore("before");
    expect(await idOf()).toBeNull();
    expect(actions(await push())).toContain("matched alice");
    expect(JSON.stringify(await idp.call("export", {}))).toContain(String(id));
    // The new server has other ids.
    await idp.call("clients.edit", { client_id: "app", scim: { url: `${app.url}/other`, token: app.token } });
    expect(await idOf()).toBeNull();
  });
});

test("the ledger has each request with its body and answer, and expect finds them", async () => {
  const { app, idp, push } = await pushedApp({}, people.slice(0, 1));
  await push();
  const [first, create] = await idp.requests.list({ endpoint: "scim", user: "alice" });
  expect(first).toMatchObject({
    ...{ endpoint: "scim", method: "GET", path: `${app.url}/Users`, status: 200, client: "app", flow: null },
    parameters: { filter: 'userName eq "alice@example.com"' },
  });
  expect(create).toMatchObject({
    ...{ method: "POST", status: 201 },
    parameters: { userName: "alice@example.com", active: true, name: { givenName: "Alice B." } },
    response: { body: { id: app.named("alice@example.com")?.["id"] } },
  });
  await idp.expect({
    endpoint: "scim",
    client: "app",
    user: "alice",
    method: "POST",
    param: { active: "true" },
    times: 1,
  });
  expect(JSON.stringify(await idp.requests.list())).not.toContain(app.token);
});

test("a client without scim, and an unknown user", async () => {
  const { idp, push } = await pushedApp();
  await idp.call("clients.add", { client_id: "plain", redirect_uris: [callback] });
  await expect(idp.scim.push({ client: "plain" })).rejects.toMatchObject({ code: "not_found" });
  await expect(push({ user: "nobody" })).rejects.toMatchObject({ code: "not_found" });
  expect(await idp.scim.push()).toHaveLength(1);
});

test("test: what the console of the vendor asks", async () => {
  const { app, idp } = await pushedApp();
  expect(await idp.scim.test({ client: "app" })).toEqual({
    client: "app",
    url: app.url,
    profile: "standard",
    ok: true,
    status: 200,
    error: null,
  });
  await idp.scim.test({ client: "app", profile: "okta" });
  expect(app.seen.at(-1)?.query.get("count")).toBe("2");
  app.hook = () => ({ status: 200, body: "hello" });
  expect(await idp.scim.test({ client: "app" })).toMatchObject({
    ok: false,
    error: "answered no ListResponse (RFC 7644 3.4.2)",
  });
});

test("the inspector shows what an app was sent about a user, as one row", async () => {
  const { app, idp, push } = await pushedApp({}, people.slice(0, 1));
  await push({ user: "alice" });
  const [first] = await idp.requests.list({ endpoint: "scim" });
  const { first: page } = await openInspector(idp, first?.id);
  expect(page.status).toBe(200);
  expect(page.body).toContain(`${app.url}/Users`);
  expect(page.body).toMatch(/userName eq &(?:quot|#34);alice@example\.com/);
  expect(page.body).toContain("POST");
  expect(page.body).not.toContain(app.token);
});
