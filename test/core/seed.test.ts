import { beforeEach, describe, expect, it } from "vitest";
import { seed, type SeedOptions } from "../../src/core/admin/seed/seed.ts";
import { StorageError } from "../../src/store/store.ts";
import { linesOf } from "../helpers/fixtures.ts";
import {
  fixtureSource,
  seededAlice as alice,
  seededApp as app,
  seedWorld,
  type SeedWorld,
} from "../helpers/seed-context.ts";
import { storedSettings } from "../../src/core/admin/settings/in-force.ts";

/** What applying fixtures makes, and that it is all or nothing. */

let world: SeedWorld;
beforeEach(() => {
  world = seedWorld();
});

const nothing = { added: [], changed: [], same: 0 };

describe("what fixtures name", () => {
  it("is created, and the result says what was", async () => {
    const result = await world.start({
      users: [alice, { username: "bob" }],
      clients: [app],
      scopes: { "orders:read": { description: "See orders" } },
      grants: [{ user: "alice", client: "app", scope: "openid orders:read" }],
      settings: { code_ttl: 5 },
    });
    expect(result).toEqual({
      users: { ...nothing, added: ["alice", "bob"] },
      clients: { ...nothing, added: ["app"] },
      scopes: { ...nothing, added: ["orders:read"] },
      grants: { ...nothing, added: ["alice app"] },
      settings: { ...nothing, added: ["settings"] },
    });
    expect(await world.client("app")).toMatchObject(app);
    expect(await world.store.read((tx) => tx.get("scopes", "orders:read"))).toEqual({
      name: "orders:read",
      description: { en: "See orders" },
      claims: [],
    });
    expect(await world.store.read(storedSettings)).toEqual({ code_ttl: 5 });
  });

  it("is complete with a username only", async () => {
    await world.start({ users: [{ username: "x" }] });
    expect(await world.user("x")).toEqual({
      id: expect.stringMatching(/^\d{18,19}$/),
      username: "x",
      displayName: "x",
      email: "x@example.com",
      emailVerified: false,
      passwordHash: null,
      passwordPending: false,
      passwordDigest: null,
      status: "active",
      avatar: {
        baseUrl: null,
        path: "",
        color: expect.stringMatching(/^#[0-9a-f]{6}$/),
      },
      about: "",
      note: null,
      language: "en",
      theme: null,
      createdAt: "2024-01-01T00:00:00.000Z",
      updatedAt: "2024-01-01T00:00:00.000Z",
      website: null,
      location: null,
      birthDate: null,
      phone: null,
      socialLinks: [],
      claims: {},
    });
  });

  it("keeps every value as it was written, Turkish letters too", async () => {
    const fields = {
      displayName: "Çağrı İpek Şık",
      about: "ığüşöç İĞÜŞÖÇ",
      location: "Muğla",
      claims: { ünvan: "Öğretmen", address: { locality: "Iğdır" } },
    };
    await world.start({ users: [{ ...alice, ...fields, createdAt: "2024-01-15T12:30:00+03:00" }] });
    expect(await world.user("alice")).toMatchObject({ ...fields, createdAt: "2024-01-15T09:30:00.000Z" });
  });

  it.each([
    ["bob@corp.test", "bob@corp.test"],
    ["a@b@c", "a-b-c@example.com"],
    ["a+b", "a+b@example.com"],
  ])("a user named %s has the address %s", async (username, email) => {
    await world.start({ users: [{ username }] });
    expect((await world.user(username))?.email).toBe(email);
  });

  it("leaves all else untouched", async () => {
    await world.start({ users: [alice], clients: [app] });
    const before = await world.user("alice");
    const result = await world.add({ users: [{ username: "bob" }] });
    expect(result).toEqual({
      users: { ...nothing, added: ["bob"] },
      clients: nothing,
      scopes: nothing,
      grants: nothing,
      settings: nothing,
    });
    expect(await world.user("alice")).toEqual(before);
  });

  it("does not freeze values that a program passes in", async () => {
    const value = { users: [{ username: "alice", claims: { roles: ["admin"] } }] };
    await seed(world, [{ value }], { mode: "start" });
    value.users[0]?.claims.roles.push("more");
    expect((await world.user("alice"))?.claims).toEqual({ roles: ["admin"] });
  });
});

describe("settings", () => {
  it("of a start are what its fixtures say, also where they say less than before", async () => {
    await world.start({ settings: { code_ttl: 5, refresh_rotation: true } });
    expect(await world.store.read(storedSettings)).toEqual({ code_ttl: 5, refresh_rotation: "on" });
    expect((await world.start({ settings: { code_ttl: 6 } })).settings.changed).toEqual([
      { name: "settings", fields: ["code_ttl", "refresh_rotation"] },
    ]);
    expect((await world.start({ users: [alice] })).settings.changed).toEqual([
      { name: "settings", fields: ["code_ttl"] },
    ]);
    expect(await world.store.read(storedSettings)).toEqual({});
  });

  it("of a seed are added, and stay at a start whose fixtures have none", async () => {
    await world.add({ settings: { code_ttl: 5 } });
    await world.add({ settings: { consent: "skip" } });
    await world.start({ users: [alice] });
    expect(await world.store.read(storedSettings)).toEqual({ code_ttl: 5, consent: "skip" });
  });

  it("may name a user of the data", async () => {
    await world.add({ users: [alice] });
    await world.start({ settings: { login: "auto:alice" } });
    expect(await linesOf(world.start({ settings: { login: "auto:nobody" } }))).toEqual([
      'f0.json:1:22 settings.login names no user that exists: "nobody"',
    ]);
  });
});

describe("all or nothing", () => {
  it("one problem in one file: no file is applied", async () => {
    const lines = await linesOf(world.start({ users: [alice] }, { clients: [app], settings: { code_ttl: 0 } }));
    expect(lines).toEqual([expect.stringMatching(/^f1\.json:1:\d+ settings\.code_ttl /)]);
    expect(
      await world.store.read((tx) =>
        ["users", "clients", "appliedFixtures", "meta"].map((name) => tx.count(name as "users")),
      ),
    ).toEqual([0, 0, 0, 0]);
  });

  it("a disk that is full: nothing is applied, and nobody waits for a password", async () => {
    const full = seedWorld({
      ...world.store,
      transaction: (work) =>
        world.store.transaction((tx) => {
          work(tx);
          throw new StorageError("no space left");
        }),
    });
    await expect(
      seed(full, [fixtureSource({ users: [{ ...alice, password: "x" }] })], { mode: "start" }),
    ).rejects.toBeInstanceOf(StorageError);
    expect(await world.user("alice")).toBeUndefined();
    expect(full.passwords.waiting).toBe(0);
  });

  it("is one transaction", async () => {
    let transactions = 0;
    const store: SeedWorld["store"] = {
      ...world.store,
      transaction: (work) => {
        transactions++;
        return world.store.transaction(work);
      },
    };
    const counted = seedWorld(store);
    await seed(counted, [fixtureSource({ users: [alice, { username: "bob" }], clients: [app] })], { mode: "start" });
    expect(transactions).toBe(1);
    // And none where nothing changed.
    await seed(counted, [fixtureSource({ users: [alice, { username: "bob" }], clients: [app] })], { mode: "start" });
    expect(transactions).toBe(1);
  });

  it("two at once: both are applied", async () => {
    await Promise.all([world.add({ users: [alice] }), world.add({ users: [{ username: "bob" }] })]);
    expect([await world.user("alice"), await world.user("bob")]).not.toContain(undefined);
    // With one key for the digests of both.
    expect((await world.add({ users: [alice, { username: "bob" }] })).users).toEqual({ ...nothing, same: 2 });
  });
});

describe("many", () => {
  it("report progress, and do not block other work", async () => {
    const users = Array.from({ length: 2000 }, (_, index) => ({ username: `user${index}` }));
    const steps: [number, number][] = [];
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const progress: SeedOptions["progress"] = (done, total) => steps.push([done, total]);
    await seed(world, [fixtureSource({ users })], { mode: "start", progress });
    clearInterval(timer);
    expect(steps).toEqual([500, 1000, 1500, 2000, 2500, 3000, 3500, 4000].map((done) => [done, 4000]));
    expect(turns).toBeGreaterThan(0);
  });
});
