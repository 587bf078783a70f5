import { setFlagsFromString } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FixtureFile } from "../../src/core/fixtures/schema/schema.ts";
import type { FixtureSource } from "../../src/core/fixtures/read/source.ts";
import { matchesHash } from "../../src/core/login/passwords.ts";
import { seed, type SeedOptions, type SeedResult } from "../../src/core/fixtures/apply/seed.ts";
import { storedSettings } from "../../src/core/settings.ts";
import { StorageError, type Grant, type Tx, type User } from "../../src/store/store.ts";
import { linesOf } from "../helpers/fixtures.ts";
import { seedWorld, type SeedWorld } from "../helpers/seed-context.ts";

/** CONTRACT section 3: what applying fixtures does to data that is used, and changed, between two starts. */

let world: SeedWorld;
beforeEach(() => {
  world = seedWorld();
});
afterEach(async () => {
  await world.passwords.close();
});

const file = (fixtures: FixtureFile | string, name = "f.json"): FixtureSource => ({
  name,
  text: typeof fixtures === "string" ? fixtures : JSON.stringify(fixtures),
});
const start = (...fixtures: (FixtureFile | string)[]): Promise<SeedResult> =>
  seed(
    world,
    fixtures.map((one, index) => file(one, `f${index}.json`)),
    { mode: "start" },
  );
const add = (fixtures: FixtureFile): Promise<SeedResult> => seed(world, [file(fixtures)], { mode: "now" });
const change = (work: (tx: Tx) => void): Promise<void> => world.store.transaction(work);
const edit = async (username: string, fields: Partial<User>): Promise<void> => {
  const user = await world.user(username);
  await change((tx) => tx.put("users", { ...(user as User), ...fields }));
};

const app = { client_id: "app", client_name: "App", client_secret: "s", redirect_uris: ["http://localhost/cb"] };
const alice = { username: "alice", email: "alice@example.test" };
const nothing = { added: [], changed: [], same: 0 };

describe("what fixtures name", () => {
  it("is created, and the result says what was", async () => {
    const result = await start({
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

  it("is whole with a username only", async () => {
    await start({ users: [{ username: "x" }] });
    expect(await world.user("x")).toEqual({
      id: expect.stringMatching(/^\d{18,19}$/),
      username: "x",
      displayName: "x",
      email: "x@example.test",
      emailVerified: false,
      passwordHash: null,
      passwordPending: false,
      passwordDigest: null,
      status: "active",
      avatar: {
        baseUrl: "https://cdn.example.test",
        path: "/avatars/x.png",
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
    await start({ users: [{ ...alice, ...fields, createdAt: "2024-01-15T12:30:00+03:00" }] });
    expect(await world.user("alice")).toMatchObject({ ...fields, createdAt: "2024-01-15T09:30:00.000Z" });
  });

  it.each([
    ["bob@corp.test", "bob@corp.test"],
    ["a@b@c", "a-b-c@example.test"],
    ["a+b", "a+b@example.test"],
  ])("a user named %s has the address %s", async (username, email) => {
    await start({ users: [{ username }] });
    expect((await world.user(username))?.email).toBe(email);
  });

  it("leaves all else untouched", async () => {
    await start({ users: [alice], clients: [app] });
    const before = await world.user("alice");
    const result = await add({ users: [{ username: "bob" }] });
    expect(result).toEqual({
      users: { ...nothing, added: ["bob"] },
      clients: nothing,
      scopes: nothing,
      grants: nothing,
      settings: nothing,
    });
    expect(await world.user("alice")).toEqual(before);
  });

  it("stays a program's own: values that it hands in are not frozen", async () => {
    const value = { users: [{ username: "alice", claims: { roles: ["admin"] } }] };
    await seed(world, [{ value }], { mode: "start" });
    value.users[0]?.claims.roles.push("more");
    expect((await world.user("alice"))?.claims).toEqual({ roles: ["admin"] });
  });
});

describe("the next start", () => {
  it("with the same fixtures changes nothing", async () => {
    const fixtures = { users: [alice], clients: [app], grants: [{ user: "alice", client: "app", scope: "openid" }] };
    await start(fixtures);
    const before = [await world.user("alice"), await world.client("app"), await world.grant("alice", "app")];
    world.time += 1000;
    const same = { ...nothing, same: 1 };
    const result = { users: same, clients: same, scopes: nothing, grants: same, settings: nothing };
    expect(await start(fixtures)).toEqual(result);
    expect([await world.user("alice"), await world.client("app"), await world.grant("alice", "app")]).toEqual(before);
  });

  it("with the same entries in another order and layout leaves what was changed at run time as it is", async () => {
    await start({ users: [alice, { username: "bob", theme: "dark", claims: { a: 1, b: 2 } }] });
    await edit("bob", { status: "suspended", displayName: "Robert" });
    const result = await start(
      '{ // laid out anew\n "users": [{"claims": {"b": 2, "a": 1}, "theme": "dark", "username": "bob"},\n {"email": "alice@example.test", "username": "alice"}]}',
    );
    expect(result.users).toEqual({ ...nothing, same: 2 });
    expect(await world.user("bob")).toMatchObject({ status: "suspended", displayName: "Robert" });
  });

  it("leaves what was removed at run time removed", async () => {
    await start({ users: [alice, { username: "bob" }], clients: [app] });
    const bob = await world.user("bob");
    await change((tx) => {
      tx.remove("users", bob?.id ?? "");
      tx.remove("clients", "app");
    });
    await start({ users: [{ username: "bob" }, alice], clients: [app] });
    expect(await world.user("bob")).toBeUndefined();
    expect(await world.client("app")).toBeUndefined();
  });

  it("brings back what was removed where its fixture changed, under the same id", async () => {
    await start({ users: [{ username: "bob" }] });
    const { id } = (await world.user("bob")) as User;
    await change((tx) => tx.remove("users", id));
    expect((await start({ users: [{ username: "bob", theme: "dark" }] })).users.added).toEqual(["bob"]);
    expect(await world.user("bob")).toMatchObject({ id, theme: "dark" });
  });

  it("brings a record to what its changed fixture says, and says which fields that were", async () => {
    await start({ users: [alice, { username: "bob" }], clients: [app] });
    await edit("bob", { status: "suspended", about: "changed at run time" });
    world.time += 60_000;
    const result = await start({
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

  it("takes metadata away that a client's fixture no longer has", async () => {
    await start({ clients: [{ ...app, scope: "openid" }] });
    await start({ clients: [app] });
    expect(await world.client("app")).not.toHaveProperty("scope");
  });

  it("counts an entry as the same where it now spells out what held before", async () => {
    await start({ users: [alice] });
    const before = await world.user("alice");
    world.time += 1000;
    expect((await start({ users: [{ ...alice, theme: null, status: "active" }] })).users).toEqual({
      ...nothing,
      same: 1,
    });
    expect(await world.user("alice")).toEqual(before);
  });

  it("leaves alone what fixtures no longer name", async () => {
    await start({ users: [alice, { username: "bob" }] });
    await start({ users: [alice] });
    expect(await world.user("bob")).toBeDefined();
  });

  it("applies again what another fixture has overwritten meanwhile", async () => {
    await start({ users: [alice] });
    await add({ users: [{ ...alice, email: "other@example.test" }] });
    expect((await world.user("alice"))?.email).toBe("other@example.test");
    expect((await start({ users: [alice] })).users.changed).toEqual([{ name: "alice", fields: ["email"] }]);
  });

  it("takes over a user whom somebody made by hand", async () => {
    await add({ users: [{ username: "alice", about: "by hand" }] });
    await change((tx) => tx.remove("appliedFixtures", "user:alice"));
    expect((await start({ users: [alice] })).users.changed).toEqual([{ name: "alice", fields: ["about"] }]);
  });

  it("bans a user whose fixture says so: sessions end and grants are revoked permanently", async () => {
    const grants = [{ user: "alice", client: "app", scope: "openid" }];
    await start({ users: [alice], clients: [app], grants });
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
    await change((tx) => tx.insert("sessions", { ...session, id: "s" }));
    await start({ users: [{ ...alice, status: "banned" }], clients: [app], grants });
    expect(await world.grant("alice", "app")).toMatchObject({ status: "revoked" });
    expect(await world.store.read((tx) => tx.count("sessions"))).toBe(0);
  });
});

describe("ids", () => {
  it("are the same on every run, whoever else is there", async () => {
    await start({ users: [alice, { username: "bob" }] });
    const first = (await world.user("bob"))?.id;
    world = seedWorld();
    await start({ users: [{ username: "zoe" }, { username: "bob" }] });
    expect((await world.user("bob"))?.id).toBe(first);
    expect(first).toBe("7147375873230925197");
  });

  it("carry the time of createdAt", async () => {
    const createdAt = "2024-01-15T09:30:00.123Z";
    await start({ users: [{ username: "x", createdAt }] });
    const id = BigInt((await world.user("x"))?.id ?? 0);
    expect(new Date(Number(id >> 22n)).toISOString()).toBe(createdAt);
  });

  it.each(["0001-01-01", "1969-12-31T23:59:59Z", "9999-12-31"])(
    "are digits of 64 bits for %s too",
    async (createdAt) => {
      await start({ users: [{ username: "x", createdAt }] });
      const id = BigInt((await world.user("x"))?.id ?? 0);
      expect(id > 0n && id < 2n ** 63n).toBe(true);
    },
  );

  it("of many users who came in the same millisecond are all different", async () => {
    // 22 bits tell 4 million apart: among 20,000 there are about 50 collisions.
    const users = Array.from({ length: 20_000 }, (_, index) => ({ username: `user${index}` }));
    await start({ users });
    const ids = await world.store.read((tx) => [...tx.all("users")].map(({ id }) => id));
    expect(new Set(ids).size).toBe(20_000);
  });

  it("that a fixture gives are never taken by a derived one", async () => {
    await start({ users: [{ username: "bob" }] });
    const taken = (await world.user("bob"))?.id ?? "";
    world = seedWorld();
    await start({ users: [{ username: "bob" }, { username: "zoe", id: taken }] });
    expect((await world.user("zoe"))?.id).toBe(taken);
    expect((await world.user("bob"))?.id).not.toBe(taken);
  });

  it("stay where a fixture gives another createdAt", async () => {
    await start({ users: [{ username: "bob" }] });
    const { id } = (await world.user("bob")) as User;
    await start({ users: [{ username: "bob", createdAt: "2020-01-01" }] });
    expect(await world.user("bob")).toMatchObject({ id, createdAt: "2020-01-01T00:00:00.000Z" });
  });

  it("tell a new username of the same user", async () => {
    await start({ users: [{ username: "bob", id: "42" }] });
    expect(
      (await start({ users: [{ username: "robert", id: "42", email: "bob@example.test" }] })).users.changed,
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
      await start(fixtures);
      const { id } = (await world.user("alice")) as User;
      await change((tx) => {
        for (const grant of tx.findAll("grants", "user", id)) tx.remove("grants", grant.id);
        remove(tx, id);
      });
      expect((await start({ ...fixtures, ...changed })).grants.added).toEqual(["alice app"]);
      expect((await start({ ...fixtures, ...changed })).grants.same).toBe(1);
    },
  );

  it("that change make another subject: old grants go, those of the fixtures are made anew", async () => {
    const grants = [{ user: "bob", client: "app", scope: "openid" }];
    await start({ users: [{ username: "bob", id: "42" }], clients: [app], grants });
    const before = await world.grant("bob", "app");
    const result = await start({ users: [{ username: "bob", id: "43" }], clients: [app], grants });
    expect([result.users.changed, result.grants.added]).toEqual([[{ name: "bob", fields: ["id"] }], ["bob app"]]);
    expect(await world.store.read((tx) => [tx.get("users", "42"), tx.get("grants", before?.id ?? "")])).toEqual([
      undefined,
      undefined,
    ]);
    expect(await world.grant("bob", "app")).toMatchObject({ userId: "43", status: "active" });
  });

  it("of somebody else in the data are a problem", async () => {
    await add({ users: [{ username: "bob", id: "42" }, alice] });
    expect(await linesOf(start({ users: [{ username: "bob" }, { username: "zoe", id: "42" }] }))).toEqual([
      'f0.json:1:53 users[1].id "42" is the id of user "bob" in the data',
    ]);
    expect(await world.user("zoe")).toBeUndefined();
  });
});

describe("grants", () => {
  const fixtures = (scope: string): FixtureFile => ({
    users: [alice],
    clients: [app],
    grants: [{ user: "alice", client: "app", scope }],
  });

  it("are active, of the fixture, under the same id on every run", async () => {
    await start(fixtures("openid email"));
    const grant = await world.grant("alice", "app");
    expect(grant).toMatchObject({ scopes: ["openid", "email"], status: "active", by: "fixture", revokedAt: null });
    world = seedWorld();
    await start(fixtures("openid"));
    expect((await world.grant("alice", "app"))?.id).toBe(grant?.id);
  });

  it("keep their epoch, and so their tokens, where only their scopes change", async () => {
    await start(fixtures("openid email"));
    const before = await world.grant("alice", "app");
    expect((await start(fixtures("openid phone"))).grants.changed).toEqual([{ name: "alice app", fields: ["scopes"] }]);
    expect(await world.grant("alice", "app")).toMatchObject({ scopes: ["openid", "phone"], epoch: before?.epoch });
  });

  it("that were revoked at run time stay so while the fixture is the same, and get a new epoch when it changes", async () => {
    await start(fixtures("openid"));
    const before = await world.grant("alice", "app");
    await change((tx) =>
      tx.put("grants", { ...(before as Grant), status: "revoked", revokedAt: "2026-01-01T00:00:00.000Z" }),
    );
    await start({ ...fixtures("openid"), scopes: { o: {} } });
    expect((await world.grant("alice", "app"))?.status).toBe("revoked");
    expect((await start(fixtures("openid email"))).grants.changed[0]?.fields).toEqual(
      expect.arrayContaining(["status"]),
    );
    const after = await world.grant("alice", "app");
    expect(after).toMatchObject({ id: before?.id, status: "active", revokedAt: null });
    expect(after?.epoch).not.toBe(before?.epoch);
  });

  it("may name users, clients and scopes that only the data has", async () => {
    await add({ users: [alice], clients: [{ ...app, scope: "openid o" }], scopes: { o: {} } });
    const grants = [{ user: "alice", client: "app", scope: "openid o" }];
    expect((await start({ grants })).grants.added).toEqual(["alice app"]);
    expect(await linesOf(start({ grants: [{ user: "alice", client: "app", scope: "openid email" }] }))).toEqual([
      expect.stringContaining('"email" is not in the scope of client "app": "openid o"'),
    ]);
  });

  it("that change while their user was removed at run time are a problem that says what to do", async () => {
    await start(fixtures("openid"));
    const { id } = (await world.user("alice")) as User;
    await change((tx) => tx.remove("users", id));
    expect((await start({ ...fixtures("openid"), scopes: { o: {} } })).grants.same).toBe(1);
    expect(await linesOf(start(fixtures("openid email")))).toEqual([
      expect.stringMatching(
        /^f0\.json:1:\d+ grants\[0\]\.user user "alice" was removed from the data .* idp reset brings it back$/,
      ),
    ]);
  });
});

describe("settings", () => {
  it("of a start are what its fixtures say, also where they say less than before", async () => {
    await start({ settings: { code_ttl: 5, refresh_rotation: true } });
    expect(await world.store.read(storedSettings)).toEqual({ code_ttl: 5, refresh_rotation: "on" });
    expect((await start({ settings: { code_ttl: 6 } })).settings.changed).toEqual([
      { name: "settings", fields: ["code_ttl", "refresh_rotation"] },
    ]);
    expect((await start({ users: [alice] })).settings.changed).toEqual([{ name: "settings", fields: ["code_ttl"] }]);
    expect(await world.store.read(storedSettings)).toEqual({});
  });

  it("of a seed are added, and stay at a start whose fixtures have none", async () => {
    await add({ settings: { code_ttl: 5 } });
    await add({ settings: { consent: "skip" } });
    await start({ users: [alice] });
    expect(await world.store.read(storedSettings)).toEqual({ code_ttl: 5, consent: "skip" });
  });

  it("may name a user of the data", async () => {
    await add({ users: [alice] });
    await start({ settings: { login: "auto:alice" } });
    expect(await linesOf(start({ settings: { login: "auto:nobody" } }))).toEqual([
      'f0.json:1:22 settings.login there is no user "nobody"',
    ]);
  });
});

describe("passwords", () => {
  const withPassword = (password: string, more: object = {}) => ({ users: [{ ...alice, password, ...more }] });

  it("wait at a start, and are hashed before a seed ends", async () => {
    await start(withPassword("one"));
    expect(await world.user("alice")).toMatchObject({ passwordHash: null, passwordPending: true });
    await add({ users: [{ username: "bob", password: "two" }] });
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
    await start(withPassword("one"));
    await world.passwords.close();
    world = seedWorld(world.store);
    expect((await start(withPassword("one"))).users).toEqual({ ...nothing, same: 1 });
    await world.passwords.settle();
    expect(await matchesHash("one", (await world.user("alice"))?.passwordHash ?? null)).toBe(true);
  });

  it("that change are told by name, and hashed anew", async () => {
    await add(withPassword("one"));
    expect((await add(withPassword("two"))).users.changed).toEqual([{ name: "alice", fields: ["password"] }]);
    const kept = (await world.user("alice"))?.passwordHash ?? null;
    expect([await matchesHash("one", kept), await matchesHash("two", kept)]).toEqual([false, true]);
  });

  it("that stay while another field changes are not told, and not hashed anew", async () => {
    await add(withPassword("one"));
    const before = await world.user("alice");
    expect((await add(withPassword("one", { theme: "dark" }))).users.changed).toEqual([
      { name: "alice", fields: ["theme"] },
    ]);
    expect((await world.user("alice"))?.passwordHash).toBe(before?.passwordHash);
  });

  it("that were changed at run time are those of the fixture again once another field of it changes, and told", async () => {
    await add(withPassword("one"));
    await edit("alice", { passwordHash: "scrypt$changed", passwordDigest: null });
    expect((await add(withPassword("one", { theme: "dark" }))).users.changed).toEqual([
      { name: "alice", fields: ["theme", "password"] },
    ]);
    expect(await matchesHash("one", (await world.user("alice"))?.passwordHash ?? null)).toBe(true);
  });

  it("that a fixture no longer has are gone", async () => {
    await add(withPassword("one"));
    expect((await add({ users: [alice] })).users.changed).toEqual([{ name: "alice", fields: ["password"] }]);
    expect(await world.user("alice")).toMatchObject({ passwordHash: null, passwordPending: false });
  });

  it("that were changed at run time stay while the fixture is the same", async () => {
    await add(withPassword("one"));
    await edit("alice", { passwordHash: "scrypt$changed" });
    await add({ ...withPassword("one"), scopes: { o: {} } });
    expect((await world.user("alice"))?.passwordHash).toBe("scrypt$changed");
  });

  it("are nowhere in the data, nor is a plain hash of them", async () => {
    await start(withPassword("correct horse battery staple"));
    await world.passwords.settle();
    const all = await world.store.read((tx) => JSON.stringify([[...tx.all("users")], [...tx.all("appliedFixtures")]]));
    expect(all).not.toContain("correct horse");
    const digests = async (): Promise<string[]> =>
      world.store.read((tx) => ["user:alice", "files"].map((id) => tx.get("appliedFixtures", id)?.digest ?? ""));
    const [user, files] = await digests();
    const { random } = world;
    world = Object.assign(seedWorld(), { random });
    await start(withPassword("correct horse battery staple"));
    const [otherUser, otherFiles] = await digests();
    expect(otherUser).not.toBe(user);
    expect(otherFiles).not.toBe(files);
  });
});

describe("all or nothing", () => {
  it("one problem in one file: nothing of any file is applied", async () => {
    const lines = await linesOf(start({ users: [alice] }, { clients: [app], settings: { code_ttl: 0 } }));
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
      seed(full, [file({ users: [{ ...alice, password: "x" }] })], { mode: "start" }),
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
    await seed(counted, [file({ users: [alice, { username: "bob" }], clients: [app] })], { mode: "start" });
    expect(transactions).toBe(1);
    // And none where nothing changed.
    await seed(counted, [file({ users: [alice, { username: "bob" }], clients: [app] })], { mode: "start" });
    expect(transactions).toBe(1);
  });

  it("two at once: both are applied", async () => {
    await Promise.all([add({ users: [alice] }), add({ users: [{ username: "bob" }] })]);
    expect([await world.user("alice"), await world.user("bob")]).not.toContain(undefined);
    // With one key for the digests of both, whoever drew it.
    expect((await add({ users: [alice, { username: "bob" }] })).users).toEqual({ ...nothing, same: 2 });
  });
});

describe("many", () => {
  it("says how far it is, and lets others work meanwhile", async () => {
    const users = Array.from({ length: 2000 }, (_, index) => ({ username: `user${index}` }));
    const steps: [number, number][] = [];
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const progress: SeedOptions["progress"] = (done, total) => steps.push([done, total]);
    await seed(world, [file({ users })], { mode: "start", progress });
    clearInterval(timer);
    expect(steps).toEqual([500, 1000, 1500, 2000, 2500, 3000, 3500, 4000].map((done) => [done, 4000]));
    expect(turns).toBeGreaterThan(0);
  });
});

// Each of its own would be half a kilobyte more, and code that meets a thousand of them stays slow.
it("a thousand users and clients of a fixture have one hidden class each", async () => {
  setFlagsFromString("--allow-natives-syntax");
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- only V8's own functions tell
  const alike = new Function("a", "b", "return %HaveSameMap(a, b)") as (a: object, b: object) => boolean;
  const numbers = Array.from({ length: 1000 }, (_, index) => index);
  await start({
    users: numbers.map((number) => ({ ...alice, username: `alice${number}` })),
    clients: numbers.map((number) => ({ ...app, client_id: `app${number}` })),
  });
  await world.store.read((tx) => {
    for (const name of ["users", "clients"] as const) {
      const [first, ...others] = tx.all(name);
      expect(others.filter((record) => !alike(record, first as object))).toEqual([]);
    }
  });
});
