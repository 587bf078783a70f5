import { beforeEach, describe, expect, it } from "vitest";
import type { Tx, User } from "../../src/store/store.ts";
import { linesOf } from "../helpers/fixtures.ts";
import { seededAlice as alice, seededApp as app, seedWorld, type SeedWorld } from "../helpers/seed-context.ts";

/** The ids of what fixtures name stay the same, and tell a renamed user from a new one. */

let world: SeedWorld;
beforeEach(() => {
  world = seedWorld();
});

describe("ids", () => {
  it("are the same on every run, whatever other users exist", async () => {
    await world.start({ users: [alice, { username: "bob" }] });
    const first = (await world.user("bob"))?.id;
    world = seedWorld();
    await world.start({ users: [{ username: "zoe" }, { username: "bob" }] });
    expect((await world.user("bob"))?.id).toBe(first);
    expect(first).toBe("7147375873230925197");
  });

  it("contain the time of createdAt", async () => {
    const createdAt = "2024-01-15T09:30:00.123Z";
    await world.start({ users: [{ username: "x", createdAt }] });
    const id = BigInt((await world.user("x"))?.id ?? 0);
    expect(new Date(Number(id >> 22n)).toISOString()).toBe(createdAt);
  });

  it.each(["0001-01-01", "1969-12-31T23:59:59Z", "9999-12-31"])(
    "are digits of 64 bits for %s too",
    async (createdAt) => {
      await world.start({ users: [{ username: "x", createdAt }] });
      const id = BigInt((await world.user("x"))?.id ?? 0);
      expect(id > 0n && id < 2n ** 63n).toBe(true);
    },
  );

  it("of many users who came in the same millisecond are all different", async () => {
    // 22 bits tell 4 million apart: among 20,000 there are about 50 collisions.
    const users = Array.from({ length: 20_000 }, (_, index) => ({ username: `user${index}` }));
    await world.start({ users });
    const ids = await world.store.read((tx) => [...tx.all("users")].map(({ id }) => id));
    expect(new Set(ids).size).toBe(20_000);
  });

  it("that a fixture gives are never taken by a derived one", async () => {
    await world.start({ users: [{ username: "bob" }] });
    const taken = (await world.user("bob"))?.id ?? "";
    world = seedWorld();
    await world.start({ users: [{ username: "bob" }, { username: "zoe", id: taken }] });
    expect((await world.user("zoe"))?.id).toBe(taken);
    expect((await world.user("bob"))?.id).not.toBe(taken);
  });

  it("stay where a fixture gives another createdAt", async () => {
    await world.start({ users: [{ username: "bob" }] });
    const { id } = (await world.user("bob")) as User;
    await world.start({ users: [{ username: "bob", createdAt: "2020-01-01" }] });
    expect(await world.user("bob")).toMatchObject({ id, createdAt: "2020-01-01T00:00:00.000Z" });
  });

  it("identify a renamed user", async () => {
    await world.start({ users: [{ username: "bob", id: "42" }] });
    expect(
      (await world.start({ users: [{ username: "robert", id: "42", email: "bob@example.com" }] })).users.changed,
    ).toEqual([{ name: "robert", fields: ["username", "displayName", "avatar"] }]);
    expect(await world.user("bob")).toBeUndefined();
  });

  it.each([
    ["client", { clients: [{ ...app, client_name: "Other" }] }, (tx: Tx) => tx.remove("clients", "app")],
    ["user", { users: [{ ...alice, about: "Other" }] }, (tx: Tx, id: string) => tx.remove("users", id)],
  ])(
    "a grant comes back with its %s, which was removed and whose fixture changed since",
    async (_what, changed, remove) => {
      const fixtures = { users: [alice], clients: [app], grants: [{ user: "alice", client: "app", scope: "openid" }] };
      await world.start(fixtures);
      const { id } = (await world.user("alice")) as User;
      await world.change((tx) => {
        for (const grant of tx.findAll("grants", "user", id)) tx.remove("grants", grant.id);
        remove(tx, id);
      });
      expect((await world.start({ ...fixtures, ...changed })).grants.added).toEqual(["alice app"]);
      expect((await world.start({ ...fixtures, ...changed })).grants.same).toBe(1);
    },
  );

  it("that change make a new subject: old grants are removed, those of the fixtures are created again", async () => {
    const grants = [{ user: "bob", client: "app", scope: "openid" }];
    await world.start({ users: [{ username: "bob", id: "42" }], clients: [app], grants });
    const before = await world.grant("bob", "app");
    const result = await world.start({ users: [{ username: "bob", id: "43" }], clients: [app], grants });
    expect([result.users.changed, result.grants.added]).toEqual([[{ name: "bob", fields: ["id"] }], ["bob app"]]);
    expect(await world.store.read((tx) => [tx.get("users", "42"), tx.get("grants", before?.id ?? "")])).toEqual([
      undefined,
      undefined,
    ]);
    expect(await world.grant("bob", "app")).toMatchObject({ userId: "43", status: "active" });
  });

  it("that belong to another user in the data are a problem", async () => {
    await world.add({ users: [{ username: "bob", id: "42" }, alice] });
    expect(await linesOf(world.start({ users: [{ username: "bob" }, { username: "zoe", id: "42" }] }))).toEqual([
      'f0.json:1:53 users[1].id "42" is the id of user "bob" in the data',
    ]);
    expect(await world.user("zoe")).toBeUndefined();
  });
});
