import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { DataFileError, Store } from "../../src/store/store.ts";
import { openStores } from "../../src/store/open.ts";
import { runTwice } from "../helpers/run-twice.ts";
import { storeContract } from "./contract.ts";
import { copyData, dataOf, journalOf, newFolder, openAt, scopesIn } from "./folder.ts";
import { code, session, user } from "./records.ts";

storeContract("json", (clock) => openAt(newFolder(), clock));
storeContract("json, run twice", async (clock) => runTwice(await openAt(newFolder(), clock)));

const scope = (name: string, text = "") => ({ name, description: { en: text }, claims: [] });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

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

  test("new data that nothing was put into is not there after it was closed; data that is empty stays", async () => {
    const file = join(dir, "data.json");
    await (await openAt(dir)).close();
    expect(existsSync(file)).toBe(false);
    await makeEmpty(dir);
    expect(existsSync(file)).toBe(true);
    await (await openAt(dir)).close();
    expect(existsSync(file)).toBe(true);
  });

  test("what expired by a clock that may be set back is in data.json, and what expired for good is not", async () => {
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

  test("what was put is there when the data is opened again, in its order and by its indexes; volatile records are not", async () => {
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
        bob: tx.findAll("users", "email", "bob@example.test").length,
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
      await expect.poll(() => dataOf(dir), { timeout: 10_000 }).not.toBe(first);
      // 3 MB were committed; what is not in data.json by now is less than two foldings' worth.
      await expect
        .poll(() => statSync(join(dir, "data.journal"), { throwIfNoEntry: false })?.size ?? 0, { timeout: 10_000 })
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

describe("json: the folder", () => {
  test("is made for its owner only and ignored by git; its files are the owner's only", async () => {
    const dir = newFolder();
    const store = await openAt(dir);
    await store.transaction((tx) => tx.insert("scopes", scope("a")));
    expect(modeOf(dir)).toBe("700");
    expect(readFileSync(join(dir, ".gitignore"), "utf8")).toBe("*\n");
    for (const name of ["data.json", "data.journal", "lock.json"]) expect(modeOf(join(dir, name)), name).toBe("600");
    await store.close();
    expect(modeOf(join(dir, "data.json"))).toBe("600");
  });

  test.each(["data.json", "data.journal"])(
    "a %s that others may read is closed to them when it is opened",
    async (name) => {
      const before = newFolder();
      const first = await openAt(before);
      await first.transaction((tx) => tx.insert("scopes", scope("a")));
      // As after a crash, restored by hand.
      const dir = copyData(before);
      await first.close();
      chmodSync(join(dir, name), 0o644);
      const store = await openAt(dir);
      expect(await store.read((tx) => tx.get("scopes", "a"))).toBeDefined();
      expect(modeOf(join(dir, name))).toBe("600");
      await store.close();
    },
  );

  test("a folder that held something before gets no .gitignore: it would hide all of it", async () => {
    const dir = newFolder();
    mkdirSync(dir);
    writeFileSync(join(dir, "package.json"), "{}");
    await (await openAt(dir)).close();
    expect(existsSync(join(dir, ".gitignore"))).toBe(false);
  });

  test.each(["there", "not there yet"])(
    "a symlinked data.json is refused and left, with how to link the folder instead (its target is %s)",
    async (target) => {
      const dir = newFolder();
      const real = newFolder();
      if (target === "there") await makeEmpty(real);
      mkdirSync(dir);
      symlinkSync(join(real, "data.json"), join(dir, "data.json"));
      const refusal = await openAt(dir).catch((error: unknown) => error as DataFileError);
      expect(refusal).toMatchObject({
        name: "DataFileError",
        message: `${join(dir, "data.json")} is a symbolic link`,
        hint: `Link the folder instead: remove ${dir}, then ln -s ${real} ${dir}`,
      });
      expect(readdirSync(dir)).toEqual(["data.json"]);
      expect(existsSync(join(real, "data.json"))).toBe(target === "there");
    },
  );

  test("a linked folder is that folder: one owner at a time", async () => {
    const dir = newFolder();
    const link = newFolder();
    const store = await openAt(dir);
    await store.transaction((tx) => tx.insert("scopes", scope("a")));
    symlinkSync(dir, link);
    await expect(openAt(link)).rejects.toMatchObject({ name: "LockedError" });
    await store.close();
    expect(await scopesIn(link)).toEqual(["a"]);
  });

  describe("a folder that is deleted under its owner", () => {
    const lost = {
      name: "StorageError",
      message: expect.stringContaining("was deleted or taken over while this idp ran") as string,
    };

    test.each(["written to", "not written to so far"])("%s: changes are refused, reads go on", async (how) => {
      const dir = newFolder();
      const notes: string[] = [];
      const store = await openAt(dir, { log: (note) => notes.push(note) });
      const add = (name: string) => store.transaction((tx) => tx.insert("scopes", scope(name)));
      if (how === "written to") await add("before");
      rmSync(dir, { recursive: true });
      await expect(add("after")).rejects.toMatchObject(lost);
      expect(await store.read((tx) => tx.get("scopes", "after"))).toBeUndefined();
      await store.close();
      expect(existsSync(dir)).toBe(false);
      expect(notes).toEqual(how === "written to" ? [expect.stringContaining("changes are no longer kept")] : []);
    });

    test.each(["written to", "not written to so far"])("%s: what another makes there since is its own", async (how) => {
      const dir = newFolder();
      const first = await openAt(dir);
      const add = (store: Store, name: string) => store.transaction((tx) => tx.insert("scopes", scope(name)));
      if (how === "written to") await add(first, "first");
      rmSync(dir, { recursive: true });
      const second = await openAt(dir);
      await add(second, "second");
      await expect(add(first, "third")).rejects.toMatchObject(lost);
      await first.close();
      await add(second, "fourth");
      await second.close();
      expect(await scopesIn(dir)).toEqual(["second", "fourth"]);
    });

    test.each<[how: string, harm: (journal: string) => void]>([
      ["deleted", unlinkSync],
      [
        "replaced by a copy",
        (journal) => {
          copyFileSync(journal, `${journal}.copy`);
          renameSync(`${journal}.copy`, journal);
        },
      ],
    ])("or its journal alone, %s: the next folding has all that was answered", async (_how, harm) => {
      const dir = newFolder();
      const store = await openAt(dir);
      const add = (name: string) => store.transaction((tx) => tx.insert("scopes", scope(name)));
      await add("kept");
      harm(join(dir, "data.journal"));
      await expect(add("refused")).rejects.toMatchObject(lost);
      await store.close();
      expect(await scopesIn(dir)).toEqual(["kept"]);
    });
  });

  test("a path that is a file is refused, and says to name a folder", async () => {
    const dir = newFolder();
    writeFileSync(dir, "mine");
    const refusal = await openAt(dir).catch((error: unknown) => error as DataFileError);
    expect(refusal).toMatchObject({
      name: "DataFileError",
      file: dir,
      hint: expect.stringContaining("Name a folder") as string,
    });
    expect(readFileSync(dir, "utf8")).toBe("mine");
  });

  test("a folder whose parent is missing is refused, and says how to make it", async () => {
    const dir = join(newFolder(), "missing", ".idp");
    const refusal = await openAt(dir).catch((error: unknown) => error as DataFileError);
    expect(refusal).toMatchObject({ name: "DataFileError", hint: `Make it first: mkdir -p ${dirname(dir)}` });
    const spaced = join(newFolder(), "new parent", ".idp");
    await expect(openAt(spaced)).rejects.toMatchObject({ hint: `Make it first: mkdir -p '${dirname(spaced)}'` });
  });

  test("a folder that cannot be written is refused with the reason and another way", async () => {
    // Permissions do not hold root back; there, a folder of the kernel's does.
    const dir = process.getuid?.() === 0 ? "/sys/kernel" : newFolder();
    if (!existsSync(dir)) mkdirSync(dir, { mode: 0o500 });
    const refusal = openAt(dir);
    await expect(refusal).rejects.toMatchObject({ name: "StorageError" });
    await expect(refusal).rejects.toThrow(/there is no permission.*--data.*\(E(ACCES|PERM)\)/);
  });
});
