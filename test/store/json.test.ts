import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openStores } from "../../src/store/open.ts";
import { runTwice } from "../helpers/run-twice.ts";
import { storeContract } from "./contract.ts";
import { copyData, dataOf, journalOf, newFolder, openAt, scopesIn } from "./folder.ts";
import { code, session, user } from "./records.ts";

storeContract("json", (clock) => openAt(newFolder(), clock));
storeContract("json, run twice", async (clock) => runTwice(await openAt(newFolder(), clock)));

const scope = (name: string, text = "") => ({ name, description: { en: text }, claims: [] });

/** Data without a record, which is there because it had one. */
async function makeEmpty(dir: string): Promise<void> {
  const store = await openAt(dir);
  await store.transaction((tx) => tx.insert("scopes", scope("gone")));
  await store.transaction((tx) => tx.remove("scopes", "gone"));
  await store.close();
}

describe("json: on disk", () => {
  let dir = "";
  beforeEach(() => {
    dir = newFolder();
  });

  test("new data without a record leaves no file; data that was emptied stays", async () => {
    const file = join(dir, "data.json");
    await (await openAt(dir)).close();
    expect(existsSync(file)).toBe(false);
    await makeEmpty(dir);
    expect(existsSync(file)).toBe(true);
    await (await openAt(dir)).close();
    expect(existsSync(file)).toBe(true);
  });

  test("a record that expired by a moved clock is in data.json, one that expired for good is not", async () => {
    const [end, other] = [1_700_000_000_000, 1_700_000_001_000];
    const store = await openAt(dir, { now: () => other, passed: () => end });
    await store.transaction((tx) => {
      tx.insert("sessions", session("gone", end));
      tx.insert("sessions", session("hidden", other));
    });
    await store.close();
    expect(dataOf(dir)).toContain("sid-hidden");
    expect(dataOf(dir)).not.toContain("sid-gone");
  });

  test("records are there when the data is opened again, in their order and by their indexes; volatile ones are not", async () => {
    const store = await openAt(dir);
    await store.transaction((tx) => {
      for (const name of ["carol", "alice", "bob"]) tx.insert("users", user(name));
      tx.insert("codes", code("c", Date.now() + 60_000));
    });
    const claims = JSON.parse('{ "__proto__": 1, "ı": "Çelik\\n\\u2028" }') as Record<string, unknown>;
    await store.transaction((tx) => tx.put("users", user("carol", { status: "banned", claims })));
    await store.transaction((tx) => tx.remove("users", "id-alice"));
    const crashed = copyData(dir);
    await store.close();

    for (const folder of [dir, crashed]) {
      const again = await openAt(folder);
      const seen = await again.read((tx) => ({
        names: [...tx.all("users")].map(({ username }) => username),
        carol: tx.find("users", "username", "carol"),
        bob: tx.findAll("users", "email", "bob@example.com").length,
        alice: tx.find("users", "username", "alice"),
        codes: tx.count("codes"),
      }));
      expect(seen).toEqual({
        names: ["carol", "bob"],
        carol: user("carol", { status: "banned", claims }),
        bob: 1,
        alice: undefined,
        codes: 0,
      });
      // What was read from a file is as frozen as what was put in.
      expect(() => ((seen.carol?.avatar as { color: string }).color = "")).toThrow(TypeError);
      await again.close();
    }
  });

  test("close waits for what is being written", async () => {
    const store = await openAt(dir);
    const written: string[] = [];
    for (const name of ["a", "b"])
      void store.transaction((tx) => tx.insert("scopes", scope(name))).then(() => written.push(name));
    await store.close();
    expect(written).toEqual(["a", "b"]);
    expect(await scopesIn(dir)).toEqual(["a", "b"]);
  });

  test("a transaction is in the journal when it resolves", async () => {
    const store = await openAt(dir);
    await store.transaction((tx) => tx.insert("scopes", scope("a")));
    expect(journalOf(dir)).toContain('"put":"scopes"');
    expect(await scopesIn(copyData(dir))).toEqual(["a"]);
    await store.transaction((tx) => tx.remove("scopes", "a"));
    expect(await scopesIn(copyData(dir))).toEqual([]);
    await store.close();
  });

  test("transactions that end together share a write", async () => {
    const store = await openAt(dir);
    const add = (_: unknown, i: number) => store.transaction((tx) => tx.insert("scopes", scope(`s${i}`)));
    await Promise.all(Array.from({ length: 301 }, add));
    expect(journalOf(dir).trimEnd().split("\n").length - 1).toBe(1);
    expect(await scopesIn(copyData(dir))).toHaveLength(301);
    await store.close();
  });

  test("nothing is written for a transaction without a durable change", async () => {
    await makeEmpty(dir);
    const store = await openAt(dir);
    const before = dataOf(dir);
    await store.transaction((tx) => tx.insert("codes", code("c", Date.now() + 60_000)));
    await store.transaction((tx) => tx.remove("scopes", "none"));
    await store.transaction((tx) => tx.get("scopes", "none"));
    await expect(
      store.transaction((tx) => {
        tx.insert("scopes", scope("a"));
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    await store.close();
    expect(dataOf(dir)).toBe(before);
    expect(readdirSync(dir).sort()).toEqual([".gitignore", "data.json"]);
  });

  test("closing leaves data.json alone: readable, a record a line, without what has expired", async () => {
    let time = 1000;
    const store = await openAt(dir, { now: () => time });
    await store.transaction((tx) => {
      tx.insert("scopes", scope("a"));
      tx.insert("scopes", scope("b"));
      tx.insert("sessions", session("over", 2000));
      tx.insert("sessions", session("open", 2001));
    });
    time = 2000;
    await store.close();
    expect(readdirSync(dir).sort()).toEqual([".gitignore", "data.json"]);
    const text = dataOf(dir);
    expect(text.split("\n").filter((line) => line.startsWith('{"name":'))).toHaveLength(2);
    const data = JSON.parse(text) as Record<string, { id: string }[]>;
    expect(data["schemaVersion"]).toBe(1);
    expect(data["sessions"]?.map(({ id }) => id)).toEqual(["open"]);
    expect(Object.keys(data)).not.toContain("codes");
  });

  test("after close nothing can be changed: the data may be another's by then", async () => {
    const store = await openAt(dir);
    await store.close();
    await expect(store.transaction((tx) => tx.insert("scopes", scope("late")))).rejects.toThrow("is closed");
    expect(await scopesIn(dir)).toEqual([]);
  });

  test(
    "a journal that has grown large is folded while requests go on, and nothing is lost",
    { timeout: 30_000 },
    async () => {
      const store = await openAt(dir);
      const first = dataOf(dir);
      const names: string[] = [];
      for (let round = 0; round < 60; round++) {
        const batch = Array.from({ length: 10 }, (_, i) => `${round}.${i}`);
        await Promise.all(
          batch.map((name) => store.transaction((tx) => tx.insert("scopes", scope(name, "x".repeat(5000))))),
        );
        names.push(...batch);
      }
      await expect.poll(() => dataOf(dir)).not.toBe(first);
      // 3 MB were committed; what is not in data.json by now is less than two foldings' worth.
      await expect
        .poll(() => statSync(join(dir, "data.journal"), { throwIfNoEntry: false })?.size ?? 0)
        .toBeLessThan(2_200_000);
      await store.transaction((tx) => tx.insert("scopes", scope("last")));
      const copy = copyData(dir);
      await store.close();
      expect(await scopesIn(dir)).toEqual([...names, "last"]);
      expect(await scopesIn(copy)).toEqual([...names, "last"]);
    },
  );

  test("openStores without a folder keeps everything in memory, with one in the folder", async () => {
    const options = { kind: "server", version: "0.0.0", log: () => undefined } as const;
    const memory = await openStores({ data: null, ...options });
    memory.updateLock({ url: "http://localhost:1", adminToken: "t" });
    expect((await memory.open(null, { now: Date.now })).location).toBe("memory");
    await memory.close();
    const folder = await openStores({ data: dir, ...options });
    const json = await folder.open(null, { now: Date.now });
    expect(json.location).toBe(join(dir, "data.json"));
    await json.close();
    await folder.close();
  });
});
