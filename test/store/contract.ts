/** What every store guarantees, in the order of `src/store/store.ts`. An adapter's test file is one call of this. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ConflictError,
  userAndClient,
  type Collections,
  type ReadTx,
  type Store,
  type StoreClock,
  type Tx,
  type User,
} from "../../src/store/store.ts";
import { client, code, deadToken, grant, session, user } from "./records.ts";

const start = 1_700_000_000_000;

/** @param open opens an empty store with this clock */
export function storeContract(name: string, open: (clock: StoreClock) => Promise<Store>): void {
  describe(`${name}: the store's guarantees`, () => {
    let store: Store;
    let time = start;
    /** Up to when time has passed for good, where the clock is ahead of that. */
    let passed = Infinity;

    beforeEach(async () => {
      time = start;
      passed = Infinity;
      store = await open({ now: () => time, passed: () => passed });
    });
    afterEach(() => store.close());

    const put = (...users: User[]) => store.transaction((tx) => users.forEach((record) => tx.put("users", record)));
    const names = (index?: readonly [string, string]) =>
      store.read((tx) => {
        const found = index === undefined ? [...tx.all("users")] : tx.findAll("users", "email", index[1]);
        return found.map(({ username }) => username);
      });

    describe("1. frozen out, frozen in", () => {
      const change = (record: User | undefined) => {
        (record as { displayName: string }).displayName = "changed";
      };
      const changeInside = (record: User | undefined) => {
        (record?.claims as { roles: string[] }).roles.push("admin");
      };

      test("a record that was put in can no longer be changed, not even inside what the caller froze on the surface", async () => {
        const alice = Object.freeze(user("alice", { claims: { roles: ["reader"] } }));
        await put(alice);
        expect(() => changeInside(alice)).toThrow(TypeError);
        const bob = user("bob");
        await store.transaction((tx) => tx.insert("users", bob));
        expect(() => change(bob)).toThrow(TypeError);
      });

      const ways: Record<string, (tx: Tx) => User | undefined> = {
        get: (tx) => tx.get("users", "id-alice"),
        find: (tx) => tx.find("users", "username", "alice"),
        findAll: (tx) => tx.findAll("users", "email", "alice@example.com")[0],
        all: (tx) => [...tx.all("users")][0],
        remove: (tx) => tx.remove("users", "id-alice"),
      };
      test.each(Object.entries(ways))("a record handed out by %s cannot be changed, at any depth", async (_, way) => {
        await put(user("alice", { claims: { roles: ["reader"] } }));
        const record = await store.transaction(way);
        expect(record?.username).toBe("alice");
        expect(() => change(record)).toThrow(TypeError);
        expect(() => changeInside(record)).toThrow(TypeError);
      });
    });

    test("has tells whether any record has a value, in an index and in a unique one, of those that have not expired", async () => {
      await put(user("alice"), user("bob", { email: "alice@example.com" }));
      await store.transaction((tx) => tx.insert("sessions", session("s", start + 1000, { userId: "id-alice" })));
      const seen = () =>
        store.read((tx) => [
          tx.has("users", "email", "alice@example.com"),
          tx.has("users", "email", "carol@example.com"),
          tx.has("users", "username", "bob"),
          tx.has("users", "username", "carol"),
          tx.has("sessions", "user", "id-alice"),
        ]);
      expect(await seen()).toEqual([true, false, true, false, true]);
      time += 2000;
      expect(await seen()).toEqual([true, false, true, false, false]);
    });

    describe("2. conflict", () => {
      beforeEach(() => put(user("alice"), user("bob")));

      test("insert of a taken key throws and changes nothing", async () => {
        const attempt = store.transaction((tx) => tx.insert("users", user("carol", { id: "id-alice" })));
        await expect(attempt).rejects.toThrow(ConflictError);
        await expect(attempt).rejects.toMatchObject({ collection: "users", field: "id", value: "id-alice" });
        expect(await names()).toEqual(["alice", "bob"]);
      });

      test("insert of a taken unique value throws and changes nothing", async () => {
        const attempt = store.transaction((tx) => tx.insert("users", user("alice", { id: "other" })));
        await expect(attempt).rejects.toMatchObject({ name: "ConflictError", field: "username", value: "alice" });
        expect(await store.read((tx) => tx.get("users", "other"))).toBeUndefined();
        expect(await store.read((tx) => tx.find("users", "username", "alice")?.id)).toBe("id-alice");
      });

      test("put of a unique value that another record has throws and changes nothing; put of its own value does not", async () => {
        await expect(put(user("alice", { id: "id-bob" }))).rejects.toMatchObject({ field: "username", value: "alice" });
        expect(await names()).toEqual(["alice", "bob"]);
        await put(user("bob", { displayName: "Robert" }));
        expect(await store.read((tx) => tx.find("users", "username", "bob")?.displayName)).toBe("Robert");
      });

      test("a conflict that the work catches leaves the rest of the transaction whole", async () => {
        await store.transaction((tx) => {
          tx.put("users", user("carol"));
          expect(() => tx.insert("users", user("alice", { id: "other" }))).toThrow(ConflictError);
          tx.put("users", user("dave"));
        });
        expect(await names()).toEqual(["alice", "bob", "carol", "dave"]);
      });

      test("a unique value is free again when its record is changed or removed", async () => {
        await put(user("alicia", { id: "id-alice" }));
        await store.transaction((tx) => tx.remove("users", "id-bob"));
        await put(user("alice", { id: "a2" }), user("bob", { id: "b2" }));
        expect(await names()).toEqual(["alicia", "alice", "bob"]);
      });
    });

    test("3. of twenty that remove the same record at once, exactly one is handed it", async () => {
      await store.transaction((tx) => tx.insert("codes", code("c", start + 1000)));
      const removed = await Promise.all(
        Array.from({ length: 20 }, () => store.transaction((tx) => tx.remove("codes", "c"))),
      );
      expect(removed.filter((record) => record !== undefined)).toHaveLength(1);
    });

    describe("4. all or nothing", () => {
      test("a transaction that throws leaves no trace in records, indexes or order, and throws what the work threw", async () => {
        await put(user("alice"), user("bob"), user("carol"));
        const look = (tx: ReadTx) => ({
          all: [...tx.all("users")],
          count: tx.count("users"),
          username: ["alice", "alicia", "bob", "dave"].map((value) => tx.find("users", "username", value)),
          email: ["alice@example.com", "x@example.com", "bob@example.com"].map((value) =>
            tx.findAll("users", "email", value),
          ),
        });
        const before = await store.read(look);
        const reason = new Error("no");
        const attempt = store.transaction((tx) => {
          tx.put("users", user("alicia", { id: "id-alice", email: "x@example.com" }));
          tx.remove("users", "id-bob");
          tx.insert("users", user("bob", { id: "other" }));
          tx.insert("users", user("dave"));
          tx.remove("users", "id-alice");
          tx.insert("users", user("alice", { email: "x@example.com" }));
          throw reason;
        });
        await expect(attempt).rejects.toBe(reason);
        expect(await store.read(look)).toEqual(before);
      });

      test("a transaction sees its own changes", async () => {
        await put(user("alice"));
        const seen = await store.transaction((tx) => {
          tx.put("users", user("alice", { status: "banned" }));
          tx.insert("users", user("bob"));
          return [tx.get("users", "id-alice")?.status, tx.find("users", "username", "bob")?.id, tx.count("users")];
        });
        expect(seen).toEqual(["banned", "id-bob", 2]);
      });
    });

    describe("5. no lost update", () => {
      test("of a hundred that count up at once, each counts", async () => {
        await store.transaction((tx) => tx.insert("meta", { id: "settings", value: 0 }));
        const count = () =>
          store.transaction((tx) =>
            tx.put("meta", { id: "settings", value: Number(tx.get("meta", "settings")?.value) + 1 }),
          );
        await Promise.all(Array.from({ length: 100 }, count));
        expect(await store.read((tx) => tx.get("meta", "settings")?.value)).toBe(100);
      });

      test("a record that is there when the work begins is there until it ends, though its time comes", async () => {
        await store.transaction((tx) => tx.insert("sessions", session("s", start + 1)));
        const looks = await store.transaction((tx) => {
          const first = tx.get("sessions", "s");
          time = start + 1;
          const second = tx.get("sessions", "s");
          time = start;
          return [first, second];
        });
        expect(looks[0]).toBeDefined();
        expect(looks[1]).toBe(looks[0]);
      });

      test("work must be done when it returns: tx is of no use later, async work and nesting are refused", async () => {
        let kept: Tx | undefined;
        await store.transaction((tx) => void (kept = tx));
        expect(() => kept?.put("users", user("late"))).toThrow("outside of its transaction");
        expect(() => kept?.get("users", "id-late")).toThrow("outside of its transaction");
        await expect(store.transaction(async (tx) => tx.put("users", user("late")))).rejects.toThrow("async");
        const inner: Promise<unknown>[] = [];
        await store.transaction(() => {
          inner.push(store.transaction((tx) => tx.put("users", user("inner"))).catch((error: unknown) => error));
          inner.push(store.read((tx) => tx.count("users")).catch((error: unknown) => error));
        });
        for (const refusal of await Promise.all(inner)) expect(String(refusal)).toContain("inside another");
        await expect(store.read((tx) => (tx as Tx).put("users", user("late")))).rejects.toThrow("use transaction");
        expect(await names()).toEqual([]);
      });
    });

    describe("7. read", () => {
      test("sees what was committed, resolves with what the work returns and rejects with what it throws", async () => {
        await put(user("alice"));
        expect(await store.read((tx) => tx.get("users", "id-alice")?.username)).toBe("alice");
        const reason = new Error("no");
        await expect(
          store.read(() => {
            throw reason;
          }),
        ).rejects.toBe(reason);
      });

      test("begun while a transaction is being written, it sees that transaction", async () => {
        const written = put(user("alice"));
        expect(await names()).toEqual(["alice"]);
        await written;
      });
    });

    describe("8. expiry", () => {
      beforeEach(async () => {
        await store.transaction((tx) => tx.insert("sessions", session("s", start + 1000)));
      });
      const looks: Record<string, (tx: Tx) => unknown> = {
        get: (tx) => tx.get("sessions", "s")?.id,
        find: (tx) => tx.find("sessions", "sid", "sid-s")?.id,
        findAll: (tx) => tx.findAll("sessions", "user", "id-alice")[0]?.id,
        all: (tx) => [...tx.all("sessions")][0]?.id,
        remove: (tx) => tx.remove("sessions", "s")?.id,
      };
      test.each(Object.entries(looks))("%s finds a record until the millisecond before its end", async (_, look) => {
        time = start + 999;
        expect(await store.transaction(look)).toBe("s");
      });
      test.each(Object.entries(looks))("%s finds nothing from its end on", async (_, look) => {
        time = start + 1000;
        expect(await store.transaction(look)).toBeUndefined();
      });

      test("count leaves expired records out", async () => {
        await store.transaction((tx) => tx.insert("sessions", session("t", start + 2000)));
        expect(await store.read((tx) => tx.count("sessions"))).toBe(2);
        time = start + 1000;
        expect(await store.read((tx) => tx.count("sessions"))).toBe(1);
      });

      test("the key of an expired record is free, and what takes it comes last", async () => {
        await store.transaction((tx) => tx.insert("sessions", session("t", start + 5000)));
        await store.transaction((tx) => tx.insert("sessions", session("u", start + 1000)));
        time = start + 1000;
        await store.transaction((tx) => tx.put("sessions", session("s", start + 5000)));
        await store.transaction((tx) => tx.insert("sessions", session("u", start + 5000)));
        expect(await store.read((tx) => [...tx.all("sessions")].map(({ id }) => id))).toEqual(["t", "s", "u"]);
      });

      test("so is its unique value", async () => {
        time = start + 1000;
        await store.transaction((tx) => tx.insert("sessions", session("u", start + 5000, { sid: "sid-s" })));
        expect(await store.read((tx) => tx.find("sessions", "sid", "sid-s")?.id)).toBe("u");
        await store.transaction((tx) => tx.insert("sessions", session("s", start + 5000, { sid: "other" })));
        expect(await store.read((tx) => tx.count("sessions"))).toBe(2);
      });

      test("expired records are removed as fast as new ones come, so that they cannot pile up", async () => {
        for (let i = 0; i < 300; i++) {
          time += 1;
          await store.transaction((tx) => {
            for (let k = 0; k < 10; k++) tx.insert("deadTokens", deadToken(`${i}/${k}`, time + 1));
          });
        }
        // Of 3,000, what was only hidden is seen again.
        time = start;
        expect(await store.read((tx) => tx.count("deadTokens"))).toBeLessThan(300);
      });

      test("once nothing new comes, other transactions remove them", async () => {
        await store.transaction((tx) => {
          for (let i = 0; i < 1000; i++) tx.insert("deadTokens", deadToken(`${i}`, start + 1000));
        });
        time = start + 1000;
        for (let i = 0; i < 1000; i++) await store.transaction((tx) => tx.put("meta", { id: "settings", value: i }));
        time = start;
        expect(await store.read((tx) => tx.count("deadTokens"))).toBe(0);
      });

      test("what has not expired for good is there again when the clock is set back", async () => {
        passed = start + 999;
        time = start + 1_000_000;
        for (let i = 0; i < 100; i++) await store.transaction((tx) => tx.put("meta", { id: "settings", value: i }));
        expect(await store.read((tx) => tx.count("sessions"))).toBe(0);
        time = start;
        expect(await store.read((tx) => tx.count("sessions"))).toBe(1);
        passed = start + 1000;
        time = start + 1000;
        for (let i = 0; i < 100; i++) await store.transaction((tx) => tx.put("meta", { id: "settings", value: i }));
        time = start;
        expect(await store.read((tx) => tx.count("sessions"))).toBe(0);
      });

      test("everything has what expired and is not removed, and clear removes that too", async () => {
        passed = start;
        await store.transaction((tx) => tx.insert("sessions", session("t", start + 5000)));
        time = start + 1000;
        const ids = () => store.read((tx) => tx.everything("sessions").map(({ id }) => id));
        expect(await ids()).toEqual(["s", "t"]);
        const ofUser = (id: string) => store.read((tx) => tx.everything("sessions", "user", id).map(({ sid }) => sid));
        expect(await ofUser("id-alice")).toEqual(["sid-s", "sid-t"]);
        expect(await ofUser("id-bob")).toEqual([]);
        await store.transaction((tx) => tx.clear("sessions"));
        time = start;
        expect(await ids()).toEqual([]);
        expect(await store.read((tx) => tx.find("sessions", "sid", "sid-s"))).toBeUndefined();
      });

      test("what is removed after it expired stays away when the clock is set back", async () => {
        passed = start;
        time = start + 1000;
        expect(await store.transaction((tx) => tx.remove("sessions", "s"))).toBeUndefined();
        time = start;
        expect(await store.read((tx) => tx.everything("sessions"))).toEqual([]);
      });

      test("a record that was renewed stays", async () => {
        await store.transaction((tx) => {
          for (let i = 0; i < 2000; i++) tx.insert("deadTokens", deadToken(`${i}`, start + 1000));
        });
        await store.transaction((tx) => tx.put("meta", { id: "settings", value: 0 }));
        // A removal that is taken back, and a look at all: the store may have to put its records in order again.
        const undone = store.transaction((tx) => {
          tx.remove("deadTokens", "5");
          throw new Error("no");
        });
        await expect(undone).rejects.toThrow("no");
        expect(await store.read((tx) => [...tx.all("deadTokens")])).toHaveLength(2000);
        await store.transaction((tx) => tx.put("deadTokens", deadToken("1500", start + 9000)));
        time = start + 1000;
        for (let i = 0; i < 2000; i++) await store.transaction((tx) => tx.put("meta", { id: "settings", value: i }));
        expect(await store.read((tx) => [...tx.all("deadTokens")].map(({ jti }) => jti))).toEqual(["1500"]);
      });
    });

    describe("9. indexed", () => {
      test("findAll and all keep the order of insertion, which a put of the same key does not change", async () => {
        const shared = { email: "Team@example.com" };
        await put(user("c", shared), user("a", shared), user("b", shared));
        await put(user("c", { email: "c@example.com" }));
        await put(user("c", { ...shared, displayName: "C" }));
        expect(await names()).toEqual(["c", "a", "b"]);
        expect(await names(["email", "team@example.com"])).toEqual(["c", "a", "b"]);
        await store.transaction((tx) => tx.remove("users", "id-c"));
        await put(user("c", shared));
        expect(await names(["email", "team@example.com"])).toEqual(["a", "b", "c"]);
      });

      test("a record is found by each of its values in a many-valued index, and by none that it had before", async () => {
        const byOrigin = (origin: string) =>
          store.read((tx) => tx.findAll("clients", "origin", origin).map(({ client_id }) => client_id));
        await store.transaction((tx) => {
          tx.insert("clients", client("one", ["http://a.test/cb", "http://b.test/cb"]));
          tx.insert("clients", client("two", ["http://b.test/x"], { allowed_origins: ["http://c.test"] }));
        });
        expect(await byOrigin("http://a.test")).toEqual(["one"]);
        expect(await byOrigin("http://b.test")).toEqual(["one", "two"]);
        expect(await byOrigin("http://c.test")).toEqual(["two"]);
        await store.transaction((tx) => tx.put("clients", client("one", ["http://c.test/cb"])));
        expect(await byOrigin("http://a.test")).toEqual([]);
        expect(await byOrigin("http://b.test")).toEqual(["two"]);
        expect(await byOrigin("http://c.test")).toEqual(["one", "two"]);
      });

      test("findAll takes a unique index too", async () => {
        await put(user("alice"));
        const found = await store.read((tx) => tx.findAll("users", "username", "alice"));
        expect(found.map(({ id }) => id)).toEqual(["id-alice"]);
      });

      test("records can be changed, removed and inserted while all goes over them", async () => {
        await put(user("a"), user("b"), user("c"));
        const visited = await store.transaction((tx) => {
          const visited: string[] = [];
          for (const { id, username } of tx.all("users")) {
            visited.push(username);
            tx.remove("users", id);
            tx.insert("users", user(username, { displayName: "seen" }));
            if (visited.length > 10) break;
          }
          return visited;
        });
        expect(visited).toEqual(["a", "b", "c"]);
        expect(await store.read((tx) => [...tx.all("users")].map(({ displayName }) => displayName))).toEqual(
          Array(3).fill("seen"),
        );
      });

      test("a lookup reads no more records among 2,000 than among 50", async () => {
        let reads = 0;
        const counted = (record: Collections["grants"]): Collections["grants"] =>
          new Proxy(record, {
            get(target, name) {
              reads += 1;
              return Reflect.get(target, name) as unknown;
            },
          });
        const fill = (from: number, to: number) =>
          store.transaction((tx) => {
            for (let i = from; i < to; i++) tx.insert("grants", counted(grant(`u${i}`, "app")));
          });
        const looks: ((tx: ReadTx) => Collections["grants"] | undefined)[] = [
          (tx) => tx.get("grants", "u7/app"),
          (tx) => tx.find("grants", "userAndClient", userAndClient("u7", "app")),
          (tx) => tx.findAll("grants", "user", "u7")[0],
        ];
        const cost = (look: (tx: ReadTx) => unknown): Promise<number> =>
          store.read((tx) => {
            reads = 0;
            expect(look(tx)).toBeDefined();
            return reads;
          });
        const walk = (tx: ReadTx) => [...tx.all("grants")].filter(({ userId }) => userId === "u7");
        await fill(0, 50);
        const few = await Promise.all(looks.map(cost));
        await fill(50, 2000);
        expect(await Promise.all(looks.map(cost))).toEqual(few);
        expect(await cost(walk)).toBeGreaterThanOrEqual(2000);
      });
    });

    test("what anybody may make is bounded: the first hundredth goes, and comes back where the change fails", async () => {
      const made = (id: string) => ({ id, issuerPath: "", clientId: "c", parameters: {}, expiresAt: start + 60_000 });
      await store.transaction((tx) => {
        for (let number = 0; number < 10_000; number += 1) tx.insert("pushedRequests", made(`r${number}`));
      });
      const there = () =>
        store.read((tx) => ["r0", "r99", "r100", "new"].filter((id) => tx.get("pushedRequests", id) !== undefined));
      const failed = store.transaction((tx) => {
        tx.insert("pushedRequests", made("new"));
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      expect(await there()).toEqual(["r0", "r99", "r100"]);
      await store.transaction((tx) => tx.insert("pushedRequests", made("new")));
      expect(await there()).toEqual(["r100", "new"]);
      await store.transaction((tx) => tx.put("pushedRequests", made("new")));
      expect(await there()).toEqual(["r100", "new"]);
    });

    test("whoever makes more than their share loses their own oldest, and beyond all room, whoever has most does", async () => {
      const fill = (from: string, count: number) =>
        store.transaction((tx) => {
          const one = { issuerPath: "", clientId: "c", parameters: {}, expiresAt: start + 60_000, from };
          for (let number = 0; number < count; number += 1)
            tx.insert("pushedRequests", { ...one, id: `${from} ${number}` });
        });
      const there = (...ids: readonly string[]) =>
        store.read((tx) => ids.filter((id) => tx.get("pushedRequests", id) !== undefined));
      await fill("few", 1);
      await fill("many", 1001);
      expect(await there("few 0", "many 0", "many 9", "many 10", "many 1000")).toEqual([
        ...["few 0", "many 10", "many 1000"],
      ]);
      for (let other = 0; other < 9; other += 1) await fill(`other ${other}`, 1000);
      await fill("late", 20);
      expect(await there("few 0", "late 0", "other 0 0")).toEqual(["few 0", "late 0"]);
    });

    test("10. volatile collections behave as the others while the process lives", async () => {
      await store.transaction((tx) => tx.insert("codes", code("c", start + 1000)));
      await expect(store.transaction((tx) => tx.insert("codes", code("c", start + 1000)))).rejects.toThrow(
        ConflictError,
      );
      const attempt = store.transaction((tx) => {
        tx.remove("codes", "c");
        throw new Error("no");
      });
      await expect(attempt).rejects.toThrow("no");
      expect(await store.read((tx) => tx.get("codes", "c")?.id)).toBe("c");
    });

    describe("11. versions", () => {
      const version = (id = "id-alice") => store.read((tx) => tx.version("users", id));

      test("another one after each change, also after a removal, and the same one as long as nobody changes the record", async () => {
        await put(user("alice"), user("bob"));
        const seen = [await version()];
        await put(user("bob", { displayName: "Robert" }));
        expect(await version()).toBe(seen[0]);
        await put(user("alice"));
        seen.push(await version());
        await store.transaction((tx) => tx.remove("users", "id-alice"));
        expect(await version()).toBeUndefined();
        await put(user("alice"));
        seen.push(await version());
        expect(seen.every((one) => typeof one === "number")).toBe(true);
        expect(new Set(seen).size).toBe(3);
      });

      test("a change that is taken back leaves it", async () => {
        await put(user("alice"));
        const before = await version();
        const attempt = store.transaction((tx) => {
          tx.put("users", user("alice", { displayName: "Alicia" }));
          expect(tx.version("users", "id-alice")).not.toBe(before);
          throw new Error("no");
        });
        await expect(attempt).rejects.toThrow("no");
        expect(await version()).toBe(before);
      });

      test("of twenty that change what they read before, one finds its version", async () => {
        await put(user("alice"));
        const before = await version();
        const change = (_: unknown, i: number) =>
          store.transaction((tx) => {
            if (tx.version("users", "id-alice") !== before) return false;
            tx.put("users", user("alice", { displayName: `${i}` }));
            return true;
          });
        expect((await Promise.all(Array.from({ length: 20 }, change))).filter(Boolean)).toHaveLength(1);
      });

      test("a record that expired has none", async () => {
        await store.transaction((tx) => tx.insert("codes", code("c", start + 1000)));
        time = start + 1000;
        expect(await store.read((tx) => tx.version("codes", "c"))).toBeUndefined();
      });
    });

    describe("12. told", () => {
      const told: unknown[] = [];
      beforeEach(() => {
        told.length = 0;
        store.follow((changed, read) => {
          const found = [
            [...changed.keys()].sort(),
            read((tx) => [...tx.all("users")].map(({ username }) => username)),
          ];
          return () => told.push(found);
        });
      });

      test("a listener has taken a change over when its outcome is known, with the records as they were then", async () => {
        await put(user("alice"));
        expect(told).toEqual([[["users"], ["alice"]]]);
        await store.transaction((tx) => {
          tx.remove("users", "id-alice");
          tx.insert("codes", code("c", start + 1000));
        });
        expect(told.slice(1)).toEqual([[["codes", "users"], []]]);
      });

      test("it hears of collections that may be lost, and of no transaction that failed or changed nothing", async () => {
        await store.transaction((tx) => tx.insert("codes", code("c", start + 1000)));
        expect(told).toEqual([[["codes"], []]]);
        await store.transaction((tx) => tx.get("users", "id-alice"));
        const failing = store.transaction((tx) => {
          tx.put("users", user("bob"));
          throw new Error("refused");
        });
        await expect(failing).rejects.toThrow("refused");
        await store.read(() => undefined);
        expect(told).toHaveLength(1);
      });
    });
  });
}
