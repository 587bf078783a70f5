import { beforeEach, describe, expect, it } from "vitest";
import type { User } from "../../src/store/store.ts";
import { seededAlice as alice, seededApp as app, seedWorld, type SeedWorld } from "../helpers/seed-context.ts";

/** What a start does to data that was used, and changed, since the start before it. */

let world: SeedWorld;
beforeEach(() => {
  world = seedWorld();
});

const nothing = { added: [], changed: [], same: 0 };

describe("the next start", () => {
  it("with the same fixtures changes nothing", async () => {
    const fixtures = { users: [alice], clients: [app], grants: [{ user: "alice", client: "app", scope: "openid" }] };
    await world.start(fixtures);
    const before = [await world.user("alice"), await world.client("app"), await world.grant("alice", "app")];
    world.time += 1000;
    const same = { ...nothing, same: 1 };
    const result = { users: same, clients: same, scopes: nothing, grants: same, settings: nothing };
    expect(await world.start(fixtures)).toEqual(result);
    expect([await world.user("alice"), await world.client("app"), await world.grant("alice", "app")]).toEqual(before);
  });

  it("with the same entries in another order and layout leaves what was changed at run time as it is", async () => {
    await world.start({ users: [alice, { username: "bob", theme: "dark", claims: { a: 1, b: 2 } }] });
    await world.edit("bob", { status: "suspended", displayName: "Robert" });
    const result = await world.start(
      '{ // laid out anew\n "users": [{"claims": {"b": 2, "a": 1}, "theme": "dark", "username": "bob"},\n {"email": "alice@example.com", "username": "alice"}]}',
    );
    expect(result.users).toEqual({ ...nothing, same: 2 });
    expect(await world.user("bob")).toMatchObject({ status: "suspended", displayName: "Robert" });
  });

  it("leaves what was removed at run time removed", async () => {
    await world.start({ users: [alice, { username: "bob" }], clients: [app] });
    const bob = await world.user("bob");
    await world.change((tx) => {
      tx.remove("users", bob?.id ?? "");
      tx.remove("clients", "app");
    });
    await world.start({ users: [{ username: "bob" }, alice], clients: [app] });
    expect(await world.user("bob")).toBeUndefined();
    expect(await world.client("app")).toBeUndefined();
  });

  it("brings back what was removed where its fixture changed, under the same id", async () => {
    await world.start({ users: [{ username: "bob" }] });
    const { id } = (await world.user("bob")) as User;
    await world.change((tx) => tx.remove("users", id));
    expect((await world.start({ users: [{ username: "bob", theme: "dark" }] })).users.added).toEqual(["bob"]);
    expect(await world.user("bob")).toMatchObject({ id, theme: "dark" });
  });

  it("updates a record to its changed fixture, and reports the fields", async () => {
    await world.start({ users: [alice, { username: "bob" }], clients: [app] });
    await world.edit("bob", { status: "suspended", about: "changed at run time" });
    world.time += 60_000;
    const result = await world.start({
      users: [alice, { username: "bob", email: "bob@corp.test" }],
      clients: [{ ...app, client_name: "The App", scope: "openid" }],
    });
    expect(result.users).toEqual({
      added: [],
      changed: [{ name: "bob", fields: ["email", "status", "about"] }],
      same: 1,
    });
    expect(result.clients.changed).toEqual([{ name: "app", fields: ["client_name", "scope"] }]);
    expect(await world.user("bob")).toMatchObject({
      status: "active",
      about: "",
      updatedAt: "2026-01-01T00:01:00.000Z",
    });
    expect((await world.client("app"))?.updatedAt).toBe("2026-01-01T00:01:00.000Z");
  });

  it("removes metadata that a client's fixture no longer has", async () => {
    await world.start({ clients: [{ ...app, scope: "openid" }] });
    await world.start({ clients: [app] });
    expect(await world.client("app")).not.toHaveProperty("scope");
  });

  it("counts an entry as the same where it now spells out what held before", async () => {
    await world.start({ users: [alice] });
    const before = await world.user("alice");
    world.time += 1000;
    expect((await world.start({ users: [{ ...alice, theme: null, status: "active" }] })).users).toEqual({
      ...nothing,
      same: 1,
    });
    expect(await world.user("alice")).toEqual(before);
  });

  it("leaves alone what fixtures no longer name", async () => {
    await world.start({ users: [alice, { username: "bob" }] });
    await world.start({ users: [alice] });
    expect(await world.user("bob")).toBeDefined();
  });

  it("applies again what another fixture has overwritten meanwhile", async () => {
    await world.start({ users: [alice] });
    await world.add({ users: [{ ...alice, email: "other@example.com" }] });
    expect((await world.user("alice"))?.email).toBe("other@example.com");
    expect((await world.start({ users: [alice] })).users.changed).toEqual([{ name: "alice", fields: ["email"] }]);
  });

  it("takes over a user that was added by hand", async () => {
    await world.add({ users: [{ username: "alice", about: "by hand" }] });
    await world.change((tx) => tx.remove("appliedFixtures", "user:alice"));
    expect((await world.start({ users: [alice] })).users.changed).toEqual([{ name: "alice", fields: ["about"] }]);
  });

  it("bans a user whose fixture says so: sessions end and grants are revoked permanently", async () => {
    const grants = [{ user: "alice", client: "app", scope: "openid" }];
    await world.start({ users: [alice], clients: [app], grants });
    const { id } = (await world.user("alice")) as User;
    const session = {
      sid: "1",
      userId: id,
      authTime: 1,
      amr: [],
      clientIds: [],
      createdAt: "",
      expiresAt: world.time + 1,
    };
    await world.change((tx) => tx.insert("sessions", { ...session, id: "s" }));
    await world.start({ users: [{ ...alice, status: "banned" }], clients: [app], grants });
    expect(await world.grant("alice", "app")).toMatchObject({ status: "revoked" });
    expect(await world.store.read((tx) => tx.count("sessions"))).toBe(0);
  });
});
