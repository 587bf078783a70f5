/*
 * files: files of this machine, for the store, the server and the command line. durable-file.ts writes them whole and explains what went
 * wrong, process.ts says whether the process that is named in one still runs, package.ts finds the files of the package.
 */
/** Writes files that are whole, private and on disk even if the process or the machine stops. */
import { randomBytes } from "node:crypto";
import { chmod, open, readdir, rename, stat, unlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Explains errors of the operating system, and what to do about them. */
const causes: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: make room",
  EDQUOT: "the disk quota is used up: make room",
  EFBIG: "a file would grow beyond the size limit of this process: see `ulimit -f`",
  EACCES: "there is no permission: check who owns the folder, or use another one with --data",
  EPERM: "there is no permission: check who owns the folder, or use another one with --data",
  EROFS: "the file system is read-only: use another folder with --data",
  ENOENT: "the folder is gone",
  EIO: "the disk failed",
  EMFILE: "too many files are open: see `ulimit -n`",
  ENFILE: "too many files are open on this machine",
  ENOTSUP: "the file system cannot do it: use a folder on a local disk with --data",
};

/** The code of a system error; "" for any other error. Our own errors have a `code` too, but no `errno`. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "errno" in error && "code" in error && typeof error.code === "string" ? error.code : "";

/** @param error what an operation of `node:fs` threw */
export function describeFault(error: unknown): string {
  const code = codeOf(error);
  const words = causes[code] ?? (error instanceof Error ? error.message : String(error));
  return code === "" ? words : `${words} (${code})`;
}

/** Names in a folder are on disk only after this. Windows has no such call and does not need it. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Syncs the content of a file to disk: the process that wrote it may have died before it did. */
export async function syncFile(path: string): Promise<void> {
  // Opened for writing, because Windows syncs only such handles.
  const handle = await open(path, "r+");
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Removes what {@link replaceFile} left beside a file when a crash cut it off. For the owner of the file only. */
export async function removeUnfinished(path: string): Promise<void> {
  const [folder, base] = [dirname(path), basename(path)];
  const unfinished = (name: string) => name.startsWith(base) && /^\.[0-9a-f]{12}\.tmp$/.test(name.slice(base.length));
  const names = (await readdir(folder)).filter(unfinished);
  await Promise.all(names.map((name) => unlink(join(folder, name))));
}

/** Mode 0600 for a file that may have been copied here by hand; it holds keys and secrets. Another owner's stays as it is. */
export async function closeToOthers(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) await chmod(path, 0o600);
  } catch {
    // Not an error: anybody who can read it now could read it before.
  }
}

/** On Windows a virus scanner or an indexer that has the file open makes a rename fail for a moment. */
async function renamePatiently(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      if (process.platform !== "win32" || attempt === 10 || !["EPERM", "EACCES", "EBUSY"].includes(codeOf(error)))
        throw error;
      await delay(attempt * 10);
    }
  }
}

/**
 * Replaces a file in one step: readers see the old content or the new, and after a crash one of them is there. Mode 0600.
 * The folder is not synced: the caller does it, with {@link syncFolder}, where the name must be on disk too.
 * @returns the new file, still open
 */
export async function replaceFile(path: string, write: (handle: FileHandle) => Promise<void>): Promise<FileHandle> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(temporary, "wx+", 0o600);
  try {
    await write(handle);
    await handle.datasync();
    // Windows does not rename a file that is open.
    if (process.platform === "win32") await handle.close();
    await renamePatiently(temporary, path);
    return process.platform === "win32" ? await open(path, "r+") : handle;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}
