import { describe, expect, test } from "vitest";
import { profileNames } from "../../src/scim/profiles.ts";
import { problemsOf } from "../helpers/fixtures.ts";
import { actions, bodies, pushedApp, statusOf } from "../helpers/pushed-app.ts";
import type { Json } from "../helpers/scim-server.ts";

/** `attributes` of a client's `scim`: paths into lists, the manager, and claims in another form than the attribute has. */

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const mobile = 'phoneNumbers[type eq "mobile"].value';
const attributes = {
  [mobile]: "phone_number",
  'phoneNumbers[type eq "work"].value': "desk",
  'addresses[type eq "work"].locality': "city",
  'addresses[type eq "work"].country': "country",
  'roles[primary eq "True"].value': "role",
  "enterprise:manager": "boss",
};
const people = [
  {
    ...{ username: "alice", email: "alice@example.com", phone: "+4930123" },
    claims: { desk: "+4930456", city: "Berlin", country: "DE", role: "admin", boss: "bob" },
  },
  { username: "bob", email: "bob@example.com", claims: { city: "Bonn" } },
];

describe.each(profileNames)("%s", (profile) => {
  test("creates values of lists, and names a manager who was created later", async () => {
    const { app, push } = await pushedApp({ profile, attributes }, people);
    const report = await push();
    expect(actions(report)).toEqual(["created alice", "created bob"]);
    expect(report.inSync).toBe(true);
    const { Operations = [] } = bodies(app, "PATCH")[0] ?? {};
    const alice = app.named("alice@example.com");
    expect(bodies(app, "POST")[0]).toMatchObject({
      phoneNumbers: [
        { type: "mobile", value: "+4930123" },
        { type: "work", value: "+4930456" },
      ],
      addresses: [{ type: "work", locality: "Berlin", country: "DE" }],
      roles: [{ primary: true, value: "admin" }],
      emails: [{ type: "work", value: "alice@example.com", primary: true }],
    });
    // RFC 7643 has an object; Entra ID sends a text in a PATCH.
    const id = String(app.named("bob@example.com")?.["id"]);
    const manager = profile.startsWith("entra") ? id : { value: id };
    expect(alice?.[enterprise]).toEqual({ manager });
    if (profile === "entra") expect(Operations).toEqual([{ op: "Replace", path: `${enterprise}:manager`, value: id }]);
    app.seen.length = 0;
    expect(actions(await push())).toEqual(["unchanged alice", "unchanged bob"]);
    expect(app.seen).toEqual([]);
  });

  test("changes one value of a list, and keeps the others", async () => {
    const { app, idp, push } = await pushedApp({ profile, attributes }, people);
    await push();
    const alice = app.named("alice@example.com") ?? {};
    (alice["phoneNumbers"] as Json[]).push({ type: "fax", value: "1" });
    await idp.call("users.edit", { username: "alice", phone: "+4930999", claims: { city: "Köln", country: "DE" } });
    await push();
    const now = app.named("alice@example.com");
    expect(now?.["phoneNumbers"]).toHaveLength(2);
    expect(now?.["phoneNumbers"]).toEqual(
      expect.arrayContaining([
        { type: "mobile", value: "+4930999" },
        { type: "fax", value: "1" },
      ]),
    );
    expect(now?.["addresses"]).toMatchObject([{ type: "work", locality: "Köln", country: "DE" }]);
    expect(now).toMatchObject({ emails: [{ type: "work" }] });
  });

  test("a user who is there is matched, and the manager's name does not count", async () => {
    const { app, push } = await pushedApp({ profile, attributes: { "enterprise:manager": "boss" } }, people);
    const bob = { id: "2", tenant: "one", userName: "bob@example.com" };
    const manager = { value: "2", $ref: "../Users/2", displayName: "Bob" };
    app.users.set("2", bob);
    app.users.set("1", { id: "1", tenant: "one", userName: "alice@example.com", [enterprise]: { manager } });
    expect(actions(await push())).toEqual(["matched alice", "matched bob"]);
    app.seen.length = 0;
    expect(actions(await push())).toEqual(["unchanged alice", "unchanged bob"]);
    expect(app.seen).toEqual([]);
  });
});

test("a value that a list does not have is added, and removed whole: a filter that fits nothing is an error", async () => {
  const { app, idp, push } = await pushedApp({ attributes }, people);
  await push();
  app.seen.length = 0;
  await idp.call("users.edit", { username: "bob", phone: "+4930777" });
  await push();
  const added = { op: "add", path: "phoneNumbers", value: [{ value: "+4930777", type: "mobile" }] };
  expect(bodies(app, "PATCH")[0]?.["Operations"]).toEqual([added]);
  app.seen.length = 0;
  await idp.call("users.edit", { username: "bob", phone: null });
  await push();
  const removed = { op: "remove", path: 'phoneNumbers[type eq "mobile"]' };
  expect(bodies(app, "PATCH")[0]?.["Operations"]).toEqual([removed]);
});

test("a manager whom the app does not have is left out, and follows", async () => {
  const { app, idp, push } = await pushedApp({ attributes: { "enterprise:manager": "boss" } }, people);
  await push({ user: "alice" });
  expect(app.named("alice@example.com")).not.toHaveProperty([enterprise]);
  await push({ user: "bob" });
  expect((await statusOf(idp)).users.map(({ pending }) => pending)).toEqual([true, false]);
  expect(actions(await push({ user: "alice" }))).toEqual(["updated alice"]);
  expect(app.named("alice@example.com")?.[enterprise]).toEqual({
    manager: { value: app.named("bob@example.com")?.["id"] as string },
  });
});

test("a claim in another form fails the push of its user, who has the rest and can be locked out", async () => {
  const own = { phoneNumbers: "phones", "enterprise:manager": "boss" };
  const { app, idp, push } = await pushedApp({ attributes: own }, people.slice(1));
  await idp.call("users.add", { username: "dan", email: "dan@example.com", claims: { phones: "+49", boss: "nobody" } });
  const report = await push();
  expect(report.inSync).toBe(false);
  expect(report.users[1]).toMatchObject({ username: "dan", action: "failed", status: 201 });
  expect(report.users[1]?.error).toBe(
    '"phoneNumbers" takes a list of objects (RFC 7643 4.1.2); phoneNumbers[type eq "work"].value takes a text, and the claim "phones" has another value; "enterprise:manager": there is no user "nobody", whom the claim "boss" names',
  );
  expect(app.named("dan@example.com")).not.toHaveProperty("phoneNumbers");
  const { signals } = (await idp.leave("dan")) as { signals: readonly object[] };
  expect(signals).toMatchObject([{ signal: "scim", error: null }]);
  expect(app.named("dan@example.com")).toMatchObject({ active: false });
});

describe("fixtures", () => {
  const scim = (mapped: object, ...users: object[]) =>
    problemsOf({
      value: {
        users: users.map((claims, at) => ({ username: `u${at}`, claims })),
        clients: [
          {
            ...{ client_id: "app", redirect_uris: ["http://localhost/cb"] },
            scim: { url: "http://localhost:3000/scim/v2", attributes: mapped },
          },
        ],
      },
    });

  test.each([
    [mobile],
    ['addresses[type eq "work"].locality'],
    ['roles[primary eq "True"].value'],
    ['emails[type eq "home"].value'],
    ["urn:example:Thing:color"],
    ["enterprise:manager.value"],
  ])("%s is a path", async (path) => {
    expect(await scim({ [path]: "x" }, { x: "text" })).toEqual([]);
  });

  test.each([
    ['emails[type eq "work"].value', "x", {}, "cannot be set here"],
    ['phoneNumbers[type eq "mobile"]', "x", {}, "must be a SCIM attribute"],
    ['phoneNumbers[type sw "mobile"].value', "x", {}, "must be a SCIM attribute"],
    ["phoneNumbers.value", "x", {}, "leads into a list (RFC 7643 4.1.2): name one of its values, as in phoneNumbers["],
    ['name[type eq "x"].value', "x", {}, "has a filter, and name is not a list"],
    ["phoneNumbers", "phone_number", {}, 'takes a list of objects (RFC 7643 4.1.2); phoneNumbers[type eq "work"]'],
    ["phoneNumbers", "x", { x: "+49" }, "must be a list of objects (RFC 7643 4.1.2); phoneNumbers["],
    ["roles", "x", { x: ["admin"] }, "must be a list of objects (RFC 7643 4.1.2)"],
    ["name", "x", { x: "Alice" }, "must be an object (RFC 7643 4.1.1)"],
    ["enterprise:manager", "x", { x: { value: "7" } }, "must be a username"],
    ["enterprise:manager", "x", { x: "nobody" }, 'names no user that exists: "nobody"'],
  ])("%s: %s is refused", async (path, claim, claims, words) => {
    expect(await scim({ [path]: claim }, claims)).toEqual([expect.stringContaining(words)]);
  });

  test("a list, an object and a username are taken", async () => {
    const mapped = { phoneNumbers: "phones", "enterprise:manager": "boss" };
    expect(await scim(mapped, { phones: [{ type: "mobile", value: "1" }], boss: "u1" }, {})).toEqual([]);
  });
});
