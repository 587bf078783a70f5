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
import { describe, expect, test } from "vitest";
import type { DataFileError, Store } from "../../src/store/store.ts";
import { copyData, newFolder, openAt, scopesIn } from "./folder.ts";

const scope = (name: string, text = "") => ({ name, description: { en: text }, claims: [] });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Data without a record, which is there because it had one. */
async function makeEmpty(dir: string): Promise<void> {
  const store = await openAt(dir);
  await store.transaction((tx) => tx.insert("scopes", scope("gone")));
  await store.transaction((tx) => tx.remove("scopes", "gone"));
  await store.close();
}

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

  test("a data.json that links to a file beside it is refused with how to put that file in its place", async () => {
    const dir = newFolder();
    await makeEmpty(dir);
    renameSync(join(dir, "data.json"), join(dir, "kept.json"));
    symlinkSync("kept.json", join(dir, "data.json"));
    expect(await openAt(dir).catch((error: unknown) => error as DataFileError)).toMatchObject({
      hint: `Put the file itself there: mv ${join(dir, "kept.json")} ${join(dir, "data.json")}`,
    });
  });

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
    // Permissions do not restrict root; a folder of the kernel does.
    const dir = process.getuid?.() === 0 ? "/sys/kernel" : newFolder();
    if (!existsSync(dir)) mkdirSync(dir, { mode: 0o500 });
    const refusal = openAt(dir);
    await expect(refusal).rejects.toMatchObject({ name: "StorageError" });
    await expect(refusal).rejects.toThrow(/there is no permission.*--data.*\(E(ACCES|PERM)\)/);
  });
});
