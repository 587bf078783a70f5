import { expect, test } from "vitest";
import { profileNames } from "../../src/scim/profiles.ts";
import { actions, people, pushedApp, statusOf } from "../helpers/pushed-app.ts";

/** `scim push` where answers of the app are lost, late or refusals. */

test.each([
  [429, 4],
  [503, 4],
  [500, 3],
])("an answer %i is sent for again: %i requests at most", async (status, most) => {
  const { app, push } = await pushedApp({}, people.slice(0, 1));
  app.hook = ({ method }) => (method === "POST" ? { status, headers: { "retry-after": "0" } } : null);
  const report = await push({ user: "alice" });
  expect(app.steps().filter((step) => step === "POST /Users")).toHaveLength(most);
  expect(report.users[0]).toMatchObject({ action: "failed", status });
  let failures = most - 1;
  app.hook = ({ method }) => (method === "POST" && failures-- > 0 ? { status, headers: { "retry-after": "0" } } : null);
  expect(actions(await push({ user: "alice" }))).toEqual(["created alice"]);
});

test("a creation whose answer is lost is looked up, and not repeated", async () => {
  const { app, push } = await pushedApp({}, people.slice(0, 1));
  app.hook = ({ method, path }) =>
    method === "POST" && path === "/Users" ? { status: 0, drop: true, after: true } : null;
  const report = await push();
  expect(actions(report)[0]).toBe("created alice");
  expect(app.users.size).toBe(1);
  expect(app.steps().slice(0, 3)).toEqual(["GET /Users", "POST /Users", "GET /Users"]);
});

test("members whose answer is lost are read back, and do not join twice", async () => {
  const { app, push } = await pushedApp({ profile: "entra" }, people.slice(0, 2));
  let lost = 0;
  app.hook = ({ method, path }) =>
    method === "PATCH" && path.startsWith("/Groups/") && lost++ === 0 ? { status: 0, drop: true, after: true } : null;
  expect(actions(await push()).slice(2)).toEqual(["created engineering", "created all"]);
  expect(app.steps().filter((step) => step.includes("/Groups/"))).toEqual([
    ...["PATCH /Groups/ID", "GET /Groups/ID"],
    "PATCH /Groups/ID",
  ]);
  expect(app.memberNames("all")).toEqual(["alice@example.com", "bob"]);
  expect(app.memberNames("engineering")).toEqual(["alice@example.com"]);
});

test.each(profileNames)("a group that is there loses members who do not belong to it: %s", async (profile) => {
  const { app, push } = await pushedApp({ profile }, people.slice(0, 1));
  app.users.set("9", { id: "9", tenant: "one", userName: "zoe@example.com", active: true });
  app.groups.set("8", { id: "8", tenant: "one", displayName: "all", members: [{ value: "9" }] });
  expect(actions(await push())).toContain("matched all");
  expect(app.memberNames("all")).toEqual(["alice@example.com"]);
});

test("a known id that answers 404 is looked up, and created again", async () => {
  const { app, idp, push } = await pushedApp({}, people.slice(0, 1));
  await push();
  app.users.clear();
  await idp.call("users.edit", { username: "alice", displayName: "Ann" });
  expect(actions(await push())[0]).toBe("created alice");
  expect(app.users.size).toBe(1);
});

test("one failure never stops the rest, and is repaired by the next push", async () => {
  const { app, idp, push } = await pushedApp();
  const detail = "'active' must be a boolean";
  app.hook = ({ method, body }) =>
    method === "POST" && body?.["userName"] === "bob"
      ? { status: 400, body: { scimType: "invalidValue", detail } }
      : null;
  const report = await push();
  expect(report.inSync).toBe(false);
  expect(report.users[1]).toMatchObject({ username: "bob", action: "failed", status: 400 });
  expect(report.users[1]?.error).toMatch(/^invalidValue: 'active' must be a boolean\nsent POST \/Users; answer 201/);
  expect(actions(report)).toContain("created all");
  const status = await statusOf(idp);
  expect(status.users[1]).toMatchObject({ username: "bob", id: null, pending: true });
  expect(status.users[1]?.error).toContain(detail);
  app.hook = () => null;
  expect(actions(await push())).toEqual(expect.arrayContaining(["created bob", "updated all"]));
  expect((await statusOf(idp)).users[1]).toMatchObject({
    pending: false,
    error: null,
  });
});

test("401 stops, and says what to do", async () => {
  const { app, push } = await pushedApp({ token: "wrong" });
  const report = await push();
  expect(app.seen).toHaveLength(1);
  expect(report.users[0]).toMatchObject({
    action: "failed",
    status: 401,
    error: "the app refused the token: clients edit app --scim-token-stdin",
  });
  expect(report.users[1]?.error).toContain("the app refused the token: clients edit app --scim-token-stdin");
});

test("redirects are not followed", async () => {
  const { app, push } = await pushedApp({}, people.slice(0, 1));
  app.hook = () => ({ status: 302, headers: { location: `${app.url}/elsewhere` } });
  expect((await push()).users[0]?.error).toContain("answered 302, and redirects are not followed");
  expect(app.seen.map(({ path }) => path)).not.toContain("/elsewhere");
});

test("an app that does not answer is given up", async () => {
  const { app, push } = await pushedApp();
  await app.close();
  const report = await push();
  expect(report.inSync).toBe(false);
  expect(report.users.map(({ username, status }) => [username, status])).toEqual([
    ["alice", null],
    ["bob", null],
    ["carol", null],
  ]);
});
