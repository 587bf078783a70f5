import { beforeEach, describe, expect, it } from "vitest";
import { matchesHash } from "../../src/core/records/users/passwords.ts";
import { seededAlice as alice, seedWorld, type SeedWorld } from "../helpers/seed-context.ts";

/** What applying fixtures does to passwords. */

let world: SeedWorld;
beforeEach(() => {
  world = seedWorld();
});

const nothing = { added: [], changed: [], same: 0 };

describe("passwords", () => {
  const withPassword = (password: string, more: object = {}) => ({ users: [{ ...alice, password, ...more }] });

  it("wait at a start, and are hashed before a seed ends", async () => {
    await world.start(withPassword("one"));
    expect(await world.user("alice")).toMatchObject({ passwordHash: null, passwordPending: true });
    await world.add({ users: [{ username: "bob", password: "two" }] });
    for (const [name, password] of [
      ["alice", "one"],
      ["bob", "two"],
    ] as const) {
      const user = await world.user(name);
      expect(user?.passwordPending).toBe(false);
      expect(await matchesHash(password, user?.passwordHash ?? null)).toBe(true);
    }
  });

  it("that were not hashed when the process ended are hashed after the next start", async () => {
    await world.start(withPassword("one"));
    await world.passwords.close();
    world = seedWorld(world.store);
    expect((await world.start(withPassword("one"))).users).toEqual({ ...nothing, same: 1 });
    await world.passwords.settle();
    expect(await matchesHash("one", (await world.user("alice"))?.passwordHash ?? null)).toBe(true);
  });

  it("that change are reported by name, and hashed again", async () => {
    await world.add(withPassword("one"));
    expect((await world.add(withPassword("two"))).users.changed).toEqual([{ name: "alice", fields: ["password"] }]);
    const kept = (await world.user("alice"))?.passwordHash ?? null;
    expect([await matchesHash("one", kept), await matchesHash("two", kept)]).toEqual([false, true]);
  });

  it("that stay while another field changes are not reported, and not hashed again", async () => {
    await world.add(withPassword("one"));
    const before = await world.user("alice");
    expect((await world.add(withPassword("one", { theme: "dark" }))).users.changed).toEqual([
      { name: "alice", fields: ["theme"] },
    ]);
    expect((await world.user("alice"))?.passwordHash).toBe(before?.passwordHash);
  });

  it("that were changed at run time are reset to the fixture when another field of it changes, and reported", async () => {
    await world.add(withPassword("one"));
    await world.edit("alice", { passwordHash: "scrypt$changed", passwordDigest: null });
    expect((await world.add(withPassword("one", { theme: "dark" }))).users.changed).toEqual([
      { name: "alice", fields: ["theme", "password"] },
    ]);
    expect(await matchesHash("one", (await world.user("alice"))?.passwordHash ?? null)).toBe(true);
  });

  it("that a fixture no longer has are gone", async () => {
    await world.add(withPassword("one"));
    expect((await world.add({ users: [alice] })).users.changed).toEqual([{ name: "alice", fields: ["password"] }]);
    expect(await world.user("alice")).toMatchObject({ passwordHash: null, passwordPending: false });
  });

  it("that were changed at run time stay while the fixture is the same", async () => {
    await world.add(withPassword("one"));
    await world.edit("alice", { passwordHash: "scrypt$changed" });
    await world.add({ ...withPassword("one"), scopes: { o: {} } });
    expect((await world.user("alice"))?.passwordHash).toBe("scrypt$changed");
  });

  it("are nowhere in the data, nor is a plain hash of them", async () => {
    await world.start(withPassword("correct horse battery staple"));
    await world.passwords.settle();
    const all = await world.store.read((tx) => JSON.stringify([[...tx.all("users")], [...tx.all("appliedFixtures")]]));
    expect(all).not.toContain("correct horse");
    const digests = async (): Promise<string[]> =>
      world.store.read((tx) => ["user:alice", "files"].map((id) => tx.get("appliedFixtures", id)?.digest ?? ""));
    const [user, files] = await digests();
    const { random } = world;
    world = Object.assign(seedWorld(), { random });
    await world.start(withPassword("correct horse battery staple"));
    const [otherUser, otherFiles] = await digests();
    expect(otherUser).not.toBe(user);
    expect(otherFiles).not.toBe(files);
  });
});
