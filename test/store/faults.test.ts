import { existsSync, fstatSync, rmSync, statSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { copyData, newFolder, openAt, scopesIn } from "./folder.ts";

/** The calls to the disk, and the data when the disk fails for a while: here Node.js's own file handles fail. */

let handles: FileHandle;
beforeAll(async () => {
  const handle = await open(import.meta.filename);
  handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const add = (store: Store, name: string): Promise<void> =>
  store.transaction((tx) => tx.insert("scopes", { name, description: {}, claims: [] }));

const fault = (): Error => Object.assign(new Error("EIO: i/o error"), { code: "EIO" });

/** Notes what is synced, by inode. */
function watchSyncs(): (path: string) => boolean {
  const synced = new Set<number>();
  for (const name of ["sync", "datasync"] as const) {
    const real: (this: FileHandle) => Promise<void> = Reflect.get(handles, name);
    vi.spyOn(handles, name).mockImplementation(async function (this: FileHandle) {
      const { ino } = fstatSync(this.fd);
      await real.call(this);
      synced.add(ino);
    });
  }
  return (path) => synced.has(statSync(path).ino);
}

/** Data with a journal, as a crash leaves them. */
async function crashed(...names: string[]): Promise<string> {
  const dir = newFolder();
  const store = await openAt(dir);
  for (const name of names) await add(store, name);
  const copy = copyData(dir);
  await store.close();
  return copy;
}

test("after a crash nothing is answered from a journal before it, and its name, are on disk", async () => {
  const dir = await crashed("one");
  const journal = join(dir, "data.journal");
  const { ino } = statSync(journal);
  const isSynced = watchSyncs();
  // Folding replaces it later.
  vi.spyOn(handles, "writeFile").mockRejectedValue(fault());
  const store = await openAt(dir);
  expect([statSync(journal).ino === ino, isSynced(journal), isSynced(dir)]).toEqual([true, true, true]);
  await store.close();
});

test("a first change is answered once the journal and its name are on disk, and a stop once data.json and its name are", async () => {
  const dir = newFolder();
  const store = await openAt(dir);
  const isSynced = watchSyncs();
  await add(store, "one");
  expect([isSynced(join(dir, "data.journal")), isSynced(dir)]).toEqual([true, true]);
  vi.restoreAllMocks();
  const isSyncedSince = watchSyncs();
  await store.close();
  expect([isSyncedSince(join(dir, "data.json")), isSyncedSince(dir)]).toEqual([true, true]);
});

test("a refused change that could not be undone at once is not there after a stop", async () => {
  const dir = newFolder();
  const store = await openAt(dir);
  await add(store, "kept");
  vi.spyOn(handles, "datasync").mockRejectedValueOnce(fault());
  vi.spyOn(handles, "truncate").mockRejectedValueOnce(fault());
  await expect(add(store, "refused")).rejects.toThrow("could not be written");
  // So that closing folds nothing: the journal stays.
  vi.spyOn(handles, "writeFile").mockRejectedValue(fault());
  await store.close();
  vi.restoreAllMocks();
  expect(existsSync(join(dir, "data.journal"))).toBe(true);
  expect(await scopesIn(dir)).toEqual(["kept"]);
});

test("a stop says that what was refused could still not be taken back", async () => {
  const dir = newFolder();
  const store = await openAt(dir);
  await add(store, "kept");
  vi.spyOn(handles, "datasync").mockRejectedValue(fault());
  vi.spyOn(handles, "truncate").mockRejectedValue(fault());
  await expect(add(store, "refused")).rejects.toThrow("could not be written");
  await expect(store.close()).rejects.toThrow(/The last refused change.*data\.journal.*EIO/);
});

test("a journal that was deleted before the first change after a crash is not restarted in its middle", async () => {
  const dir = await crashed("one");
  vi.spyOn(handles, "writeFile").mockRejectedValue(fault());
  const notes: string[] = [];
  const store = await openAt(dir, { log: (note) => notes.push(note) });
  await expect.poll(() => notes).toEqual([expect.stringMatching(/could not be rewritten/)]);
  rmSync(join(dir, "data.journal"));
  await expect(add(store, "two")).rejects.toThrow("was deleted or taken over while this idp ran");
  expect(existsSync(join(dir, "data.journal"))).toBe(false);
  await store.close();
});

test("a listener never takes over a change that could not be written", async () => {
  const store = await openAt(newFolder());
  const told: number[] = [];
  store.follow((_changed, read) => {
    const count = read((tx) => tx.count("scopes"));
    return () => told.push(count);
  });
  await add(store, "one");
  for (const name of ["write", "writev", "appendFile", "datasync"] as const) {
    vi.spyOn(handles, name).mockRejectedValue(fault());
  }
  await expect(add(store, "two")).rejects.toMatchObject({ name: "StorageError" });
  vi.restoreAllMocks();
  expect(told).toEqual([1]);
  await add(store, "three");
  expect(told).toEqual([1, 2]);
  await store.close();
});
