import fs, { existsSync, fstatSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { JsonStore } from "../../src/store/json.ts";
import { copyData, newFolder, openAt, scopesIn } from "./folder.ts";

/** What is asked of the disk, and what becomes of data whose disk comes and goes: here Node.js's own file handles fail. */

let handles: FileHandle;
beforeAll(async () => {
  const handle = await open(import.meta.filename);
  handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
});
function restore(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}
afterEach(restore);

/** Stands in for the sync that a write waits for in its own thread. */
function onSync(sync: (fd: number, real: (fd: number) => void) => void): void {
  const real = fs.fdatasyncSync;
  vi.spyOn(fs, "fdatasyncSync").mockImplementation((fd) => sync(fd, real));
  syncBuiltinESMExports();
}

/** However busy this machine is: no sync seems to take any time. */
const seemsQuick = (): void => void vi.spyOn(performance, "now").mockReturnValue(0);

const add = (store: JsonStore, name: string): Promise<void> =>
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

test("after a crash the journal goes only once the new name of a data.json elsewhere is on disk", async () => {
  const dir = await crashed("one");
  const elsewhere = join(dirname(dir), "elsewhere");
  mkdirSync(elsewhere);
  renameSync(join(dir, "data.json"), join(elsewhere, "data.json"));
  symlinkSync(join(elsewhere, "data.json"), join(dir, "data.json"));
  const isSynced = watchSyncs();
  vi.spyOn(handles, "writeFile").mockRejectedValue(fault());
  const store = await openAt(dir);
  expect([existsSync(join(dir, "data.journal")), isSynced(elsewhere)]).toEqual([true, true]);
  await store.close();
});

test("what was refused and could not be taken back at once is not there after a stop", async () => {
  seemsQuick();
  const dir = newFolder();
  const store = await openAt(dir);
  await add(store, "kept");
  onSync(() => {
    throw fault();
  });
  vi.spyOn(handles, "truncate").mockRejectedValueOnce(fault());
  await expect(add(store, "refused")).rejects.toThrow("could not be written");
  // So that closing folds nothing: the journal stays.
  vi.spyOn(handles, "writeFile").mockRejectedValue(fault());
  await store.close();
  restore();
  expect(existsSync(join(dir, "data.journal"))).toBe(true);
  expect(await scopesIn(dir)).toEqual(["kept"]);
});

test("a stop says that what was refused could still not be taken back", async () => {
  seemsQuick();
  const dir = newFolder();
  const store = await openAt(dir);
  await add(store, "kept");
  onSync(() => {
    throw fault();
  });
  vi.spyOn(handles, "datasync").mockRejectedValue(fault());
  vi.spyOn(handles, "truncate").mockRejectedValue(fault());
  await expect(add(store, "refused")).rejects.toThrow("could not be written");
  await expect(store.close()).rejects.toThrow(/What was refused last.*data\.journal.*EIO/);
});

test("a journal that was deleted before the first change after a crash is not begun anew in its middle", async () => {
  const dir = await crashed("one");
  vi.spyOn(handles, "writeFile").mockRejectedValue(fault());
  const notes: string[] = [];
  const store = await openAt(dir, { log: (note) => notes.push(note) });
  await vi.waitFor(() => expect(notes).toEqual([expect.stringMatching(/could not be rewritten/)]));
  rmSync(join(dir, "data.journal"));
  await expect(add(store, "two")).rejects.toThrow("was deleted under this idp");
  expect(existsSync(join(dir, "data.journal"))).toBe(false);
  await store.close();
});

/** Makes a sync take so long that the next ones are left to another thread. */
const slowly = (fd: number, real: (fd: number) => void): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  real(fd);
};

test("a disk that is slow holds up nobody but who waits for it: the next syncs are left to another thread", async () => {
  const store = await openAt(newFolder());
  let here = 0;
  onSync((fd, real) => {
    here += 1;
    slowly(fd, real);
  });
  await add(store, "slow");
  const elsewhere = vi.spyOn(handles, "datasync");
  for (let at = 0; at < 100; at += 1) await add(store, `next ${at}`);
  expect([here, elsewhere.mock.calls.length]).toEqual([1, 100]);
  await add(store, "tried again");
  expect([here, elsewhere.mock.calls.length]).toEqual([2, 100]);
  await store.close();
});

test.each([
  ["on a quick disk", false],
  ["on a slow one", true],
])(
  "what is done meanwhile is done before the transaction resolves, and nothing resolves where the sync fails, %s",
  async (_, slow) => {
    const store = await openAt(newFolder());
    if (slow) onSync(slowly);
    else seemsQuick();
    await add(store, "first");
    const order: string[] = [];
    let fails = false;
    const sync = (): void => {
      order.push("sync");
      if (fails) throw fault();
    };
    onSync(sync);
    vi.spyOn(handles, "datasync").mockImplementation(() => Promise.resolve().then(sync));
    const change = (name: string): Promise<void> =>
      store.transaction(
        (tx) => tx.insert("scopes", { name, description: {}, claims: [] }),
        () => order.push("meanwhile"),
      );
    await change("kept").then(() => order.push("resolved"));
    expect(order.splice(0)).toEqual(slow ? ["meanwhile", "sync", "resolved"] : ["sync", "meanwhile", "resolved"]);
    fails = true;
    await expect(change("refused").then(() => order.push("resolved"))).rejects.toThrow("could not be written");
    expect(order).not.toContain("resolved");
    restore();
    await store.close();
  },
);
