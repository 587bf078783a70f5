import { describe, expect, it } from "vitest";
import { hashPassword } from "../../src/core/records/users/passwords.ts";
import { seed } from "../../src/core/admin/seed/seed.ts";
import { normalizeUser } from "../../src/core/admin/fixtures/normalize.ts";
import {
  createPendingPasswords,
  type PendingPasswords,
  verifyPassword,
} from "../../src/core/sign-in/login/pending-passwords.ts";
import { StorageError, type Store, type User } from "../../src/store/store.ts";
import { seedWorld, type SeedWorld } from "../helpers/seed-context.ts";

const random = (bytes: number): string => Buffer.alloc(bytes, 7).toString("base64url");

describe("pending passwords", () => {
  let world: SeedWorld;

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

  it("are hashed when one is verified, and only that one", async () => {
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

  it("of a user whose password changed meanwhile are dropped", async () => {
    const [alice] = await waiting("alice");
    const passwordHash = await hashPassword("newer", world.random);
    await world.store.transaction((tx) => {
      tx.put("users", { ...(alice as User), passwordHash, passwordPending: false });
    });
    await world.passwords.settle();
    expect(world.passwords.waiting).toBe(0);
    expect((await world.user("alice"))?.passwordHash).toBe(passwordHash);
  });

  it("of a removed user do not bring the user back", async () => {
    const [alice] = await waiting("alice");
    await world.store.transaction((tx) => tx.remove("users", alice?.id ?? ""));
    await world.passwords.settle();
    expect(await world.user("alice")).toBeUndefined();
  });

  it("that are set twice: the later one counts, even while the earlier one is hashed", async () => {
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

  it("that cannot be written are reported, and stay pending", async () => {
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

  it("are unchanged if the transaction that changes them fails", async () => {
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

  it("that are set again before such a transaction fails stay", async () => {
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

  it("of another process on the same records are recognized by their digest", async () => {
    world = seedWorld();
    await seed(world, [{ value: { users: [{ username: "alice", password: "secret" }] } }], { mode: "start" });
    const other = { store: world.store, passwords: createPendingPasswords(world, () => undefined) };
    const alice = await world.user("alice");
    expect(alice?.passwordPending).toBe(true);
    expect(await verifyPassword(other, alice, "secret")).toBe(true);
    expect(await verifyPassword(other, alice, "Secret")).toBe(false);
  });

  it("an unknown user and a user without a password never pass", async () => {
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
