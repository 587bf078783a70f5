import { scryptSync } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { hashPassword, matchesHash } from "../../src/core/login/passwords.ts";
import { seed } from "../../src/core/fixtures/apply/seed.ts";
import { normalizeUser } from "../../src/core/fixtures/schema/normalize.ts";
import { createPendingPasswords, type PendingPasswords } from "../../src/core/login/pending-passwords.ts";
import { verifyPassword } from "../../src/core/login/verify-password.ts";
import { StorageError, type Store, type User } from "../../src/store/store.ts";
import { seedWorld, type SeedWorld } from "../helpers/seed-context.ts";

const random = (bytes: number): string => Buffer.alloc(bytes, 7).toString("base64url");

describe("a kept hash", () => {
  it("names its parameters and its salt, and never holds the password", async () => {
    const kept = await hashPassword("alice", random);
    expect(kept).toMatch(/^scrypt\$16\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(kept).not.toContain("alice");
  });

  it("is another one for another salt", async () => {
    const { random: drawn } = seedWorld();
    expect(await hashPassword("alice", drawn)).not.toBe(await hashPassword("alice", drawn));
  });

  it.each([
    ["the same password", "pässword ığ", "pässword ığ", true],
    ["the same letters, put together otherwise", "s\u0327ifre", "\u015fifre", true],
    ["another case", "alice", "Alice", false],
    ["a part", "alice", "alic", false],
    ["nothing", "alice", "", false],
  ])("fits %s: %s, %s: %s", async (_, password, typed, fits) => {
    expect(await matchesHash(typed, await hashPassword(password, random))).toBe(fits);
  });

  it("that is missing fits no password", async () => {
    expect(await matchesHash("", null)).toBe(false);
    expect(await matchesHash("alice", null)).toBe(false);
  });

  it("of other parameters is worked out with those", async () => {
    const salt = Buffer.alloc(16, 1);
    const hash = scryptSync("alice", salt, 32, { N: 1024, r: 4, p: 2 }).toString("base64url");
    expect(await matchesHash("alice", `scrypt$1024$4$2$${salt.toString("base64url")}$${hash}`)).toBe(true);
  });

  it.each([
    ["nothing", ""],
    ["the password itself", "alice"],
    ["another function", "bcrypt$16384$8$1$SALT$HASH"],
    ["no hash", "scrypt$16384$8$1$SALT"],
    ["an empty hash", "scrypt$16384$8$1$SALT$"],
    ["a short salt", "scrypt$16384$8$1$AAAA$HASH"],
    ["an N that is no power of two", "scrypt$16383$8$1$SALT$HASH"],
    ["an N of 1", "scrypt$1$8$1$SALT$HASH"],
    ["an N of 0", "scrypt$0$8$1$SALT$HASH"],
    ["an N that takes a gigabyte", "scrypt$1048576$8$1$SALT$HASH"],
    ["an N without end", "scrypt$99999999999999999999$8$1$SALT$HASH"],
    ["an r of 0", "scrypt$16384$0$1$SALT$HASH"],
    ["an r that takes too much", "scrypt$16384$99$1$SALT$HASH"],
    ["a p of 0", "scrypt$16384$8$0$SALT$HASH"],
  ])("that was tampered with fits nothing and throws nothing: %s", async (_, tampered) => {
    const [, , , , salt = "", hash = ""] = (await hashPassword("alice", random)).split("$");
    expect(await matchesHash("alice", tampered.replace("SALT", salt).replace("HASH", hash))).toBe(false);
  });

  it("that asks for more rounds than ours ever do is not worked out", async () => {
    const salt = Buffer.alloc(16, 1);
    const hash = scryptSync("alice", salt, 32, { N: 16, r: 1, p: 50 }).toString("base64url");
    expect(await matchesHash("alice", `scrypt$16$1$50$${salt.toString("base64url")}$${hash}`)).toBe(false);
  });
});

describe("passwords that wait", () => {
  let world: SeedWorld;
  afterEach(async () => {
    await world.passwords.close();
  });

  /** Users whose passwords (their names) wait to be hashed. */
  async function waiting(...names: string[]): Promise<User[]> {
    world = seedWorld();
    const users = names.map((username) => ({
      ...normalizeUser({ username }, null, () => false),
      passwordPending: true,
    }));
    await world.passwords.transaction((tx) => {
      for (const user of users) {
        tx.insert("users", user);
        world.passwords.add(user.id, user.username);
      }
    });
    return users;
  }
  const add = (passwords: PendingPasswords, user: User | undefined, password: string): Promise<void> =>
    passwords.transaction(() => passwords.add(user?.id ?? "", password));
  const verify = (user: User | undefined, password: string): Promise<boolean> => verifyPassword(world, user, password);

  it("are hashed once somebody asks, and only the one that is asked for", async () => {
    const [alice, bob] = await waiting("alice", "bob");
    expect(await verify(alice, "bob")).toBe(false);
    expect(await verify(alice, "alice")).toBe(true);
    expect(world.passwords.waiting).toBe(2);
    expect(await world.user("alice")).toEqual(alice);
    expect(await verify(bob, "bob")).toBe(true);
  });

  it("are hashed in the background after the start, and their records say so", async () => {
    await waiting("alice", "bob", "carol");
    world.passwords.start();
    await world.passwords.settle();
    expect(world.passwords.waiting).toBe(0);
    for (const name of ["alice", "bob", "carol"]) {
      const user = await world.user(name);
      expect(user).toMatchObject({ passwordPending: false, passwordHash: expect.stringMatching(/^scrypt\$/) });
      expect(await verify(user, name)).toBe(true);
      expect(await verify(user, "x")).toBe(false);
    }
  });

  it("that are added after the start are hashed too", async () => {
    const [alice] = await waiting("alice");
    world.passwords.start();
    await world.passwords.settle();
    await world.store.transaction((tx) => {
      tx.put("users", { ...(alice as User), passwordHash: null, passwordPending: true });
    });
    await add(world.passwords, alice, "other");
    await world.passwords.settle();
    expect(await verify(await world.user("alice"), "other")).toBe(true);
  });

  it("of a user who was given another one meanwhile are forgotten", async () => {
    const [alice] = await waiting("alice");
    const passwordHash = await hashPassword("newer", world.random);
    await world.store.transaction((tx) => {
      tx.put("users", { ...(alice as User), passwordHash, passwordPending: false });
    });
    await world.passwords.settle();
    expect(world.passwords.waiting).toBe(0);
    expect((await world.user("alice"))?.passwordHash).toBe(passwordHash);
  });

  it("of a user who was removed meanwhile bring nobody back", async () => {
    const [alice] = await waiting("alice");
    await world.store.transaction((tx) => tx.remove("users", alice?.id ?? ""));
    await world.passwords.settle();
    expect(await world.user("alice")).toBeUndefined();
  });

  it("that are given twice: the later one counts, also where the earlier is being worked out", async () => {
    const [alice] = await waiting("alice");
    const settled = world.passwords.settle();
    await add(world.passwords, alice, "later");
    await settled;
    await world.passwords.settle();
    const user = await world.user("alice");
    expect(await verify(user, "later")).toBe(true);
    expect(await verify(user, "alice")).toBe(false);
  });

  it("end with close: the store is left alone after it", async () => {
    const [alice] = await waiting("alice");
    let transactions = 0;
    const store: Store = {
      ...world.store,
      transaction: (work) => {
        transactions++;
        return world.store.transaction(work);
      },
    };
    const passwords = createPendingPasswords({ store, random }, () => undefined);
    await add(passwords, alice, "alice");
    transactions = 0;
    passwords.start();
    await passwords.close();
    expect(transactions).toBe(0);
    expect((await world.user("alice"))?.passwordPending).toBe(true);
  });

  it("that cannot be written are told, and go on to wait", async () => {
    const [alice] = await waiting("alice");
    let isFull = false;
    const store: Store = {
      ...world.store,
      transaction: (work) =>
        isFull ? Promise.reject(new StorageError("no space left")) : world.store.transaction(work),
    };
    let tell: (error: unknown) => void = () => undefined;
    const told = new Promise<unknown>((resolve) => (tell = resolve));
    const passwords = createPendingPasswords({ store, random }, tell);
    await add(passwords, alice, "alice");
    isFull = true;
    passwords.start();
    expect(await told).toBeInstanceOf(StorageError);
    expect((await world.user("alice"))?.passwordPending).toBe(true);
  });

  it("are as before where nothing comes of the transaction that changes them", async () => {
    const users = await waiting("alice", "bob", "carol");
    const [alice, bob, carol] = users;
    const stored = await hashPassword("stored", world.random);
    await world.store.transaction((tx) => tx.put("users", { ...(carol as User), passwordHash: stored }));
    await world.passwords.transaction(() => world.passwords.drop(carol?.id ?? ""));
    const fault = new Error("no");
    const failed = world.passwords.transaction((tx) => {
      world.passwords.add(alice?.id ?? "", "refused");
      world.passwords.add(alice?.id ?? "", "refused too");
      world.passwords.drop(bob?.id ?? "");
      world.passwords.add(carol?.id ?? "", "refused");
      tx.remove("users", alice?.id ?? "");
      throw fault;
    });
    await expect(failed).rejects.toBe(fault);
    expect(world.passwords.waiting).toBe(2);
    expect(await verify(carol === undefined ? undefined : await world.user("carol"), "stored")).toBe(true);
    await world.passwords.settle();
    expect(await verify(await world.user("alice"), "alice")).toBe(true);
    expect(await verify(await world.user("bob"), "bob")).toBe(true);
  });

  it("that are given once more before such a transaction fails stay", async () => {
    const [alice] = await waiting("alice");
    let refuse: (error: Error) => void = () => undefined;
    const refused = new Promise<never>((_, reject) => (refuse = reject));
    let transactions = 0;
    const store: Store = {
      ...world.store,
      transaction: async (work) => {
        const value = await world.store.transaction(work);
        return ++transactions === 1 ? refused : value;
      },
    };
    const passwords = createPendingPasswords({ store, random }, () => undefined);
    const first = add(passwords, alice, "refused");
    await add(passwords, alice, "later");
    refuse(new StorageError("no space left"));
    await expect(first).rejects.toThrow("no space left");
    await passwords.settle();
    expect(await verify(await world.user("alice"), "later")).toBe(true);
  });

  it("of another process on the same records are known by their digest", async () => {
    world = seedWorld();
    await seed(world, [{ value: { users: [{ username: "alice", password: "secret" }] } }], { mode: "start" });
    const other = { store: world.store, passwords: createPendingPasswords(world, () => undefined) };
    const alice = await world.user("alice");
    expect(alice?.passwordPending).toBe(true);
    expect(await verifyPassword(other, alice, "secret")).toBe(true);
    expect(await verifyPassword(other, alice, "Secret")).toBe(false);
  });

  it("nobody, and a user without a password, never pass", async () => {
    await waiting();
    expect(await verify(undefined, "alice")).toBe(false);
    expect(
      await verify(
        normalizeUser({ username: "x" }, null, () => false),
        "",
      ),
    ).toBe(false);
  });
});
