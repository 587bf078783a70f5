/**
 * `lock.json` in the data folder: who owns the data (a server for its lifetime, a command for milliseconds), and where
 * the server listens. Every command reads it, so this module imports nothing heavy.
 *
 * The file appears whole or not at all: it is written under another name and linked, and a link fails where the name is
 * taken. To replace the lock of a dead process takes a guard file named after that lock, so that one of many wins.
 *
 * Containers that share the host name and the folder cannot see each other's processes. So an owner touches its lock every
 * two seconds, and the lock of such a container is dead once it is left alone for ten. One of another host never is.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimes, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf, describeFault } from "../../files/durable-file.ts";
import { isOfOtherContainer, stateOf, thisProcess, type ProcessIdentity } from "../../files/process.ts";
import { DataFileError, LockedError, StorageError } from "../store.ts";
import { requireTrusted, unlessThere } from "./folder.ts";

/** Milliseconds. A lock that nobody touches for `deadAfter` is dead, where its process cannot be seen. */
const touchEvery = 2000;
const deadAfter = 10_000;

export interface Lock extends ProcessIdentity {
  readonly id: string;
  readonly kind: "server" | "command";
  /** Version of `idp`. */
  readonly version: string;
  /** Where the server listens; null: it does not yet, or it is a command. */
  readonly url: string | null;
  readonly adminToken: string | null;
  /** The certificate that it serves https with (`--https`). */
  readonly caFile?: string | undefined;
}

interface HeldLock {
  /** Adds the server's address and admin token to the lock file. */
  readonly update: (server: Pick<Lock, "caFile"> & { readonly url: string; readonly adminToken: string }) => void;
  readonly release: () => void;
  /** Whether the folder is still this owner's: false where it was deleted, another process took it, or it cannot be read. */
  readonly isHeld: () => boolean;
}

interface LockOptions {
  readonly dir: string;
  readonly kind: Lock["kind"];
  readonly version: string;
  /** How long to wait for another command of this machine; for another container, until its lock is touched or dead. */
  readonly waitMs: number;
  readonly log: (note: string) => void;
}

const lockFile = (dir: string): string => join(dir, "lock.json");

const newLock = (kind: Lock["kind"], version: string): Lock => {
  const id = randomBytes(6).toString("hex");
  return { id, ...thisProcess(), kind, version, url: null, adminToken: null };
};

/** @returns milliseconds since 1970; 0 where the file is gone */
const touchedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** @returns null if there is no lock @throws {DataFileError} if the file is not a lock */
function readLockFile(path: string): Lock | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    if (codeOf(error) === "ENOTDIR") {
      throw new DataFileError(`${dirname(path)} is not a folder`, path, "Name a folder: --data DIR");
    }
    const message = `${path} cannot be read: ${describeFault(error)}`;
    throw new DataFileError(message, path, "Run as the user who owns the data folder.");
  }
  // A power loss leaves an empty file behind: nobody holds it.
  if (/^\0*$/.test(text)) return { ...newLock("command", ""), id: "nobody", pid: 0 };
  try {
    const lock = JSON.parse(text) as Lock;
    if (typeof lock.id === "string" && typeof lock.pid === "number" && typeof lock.host === "string") return lock;
  } catch {
    // Not JSON, or null: refused below.
  }
  throw new DataFileError(`${path} is not a lock file of idp`, path, "Remove it if no idp is running on this folder.");
}

/** @returns `elsewhere`: on another machine, or in another container that gave a sign of life */
function stateOfLock(lock: Lock, path: string): ReturnType<typeof stateOf> {
  return isOfOtherContainer(lock) && Date.now() - touchedAt(path) > deadAfter ? "dead" : stateOf(lock);
}

/**
 * The lock of a data folder, without opening the data.
 * @returns null if there is no lock file; a lock of a process that ended has the state `dead`
 * @throws {DataFileError} the file is not a lock, or may be another user's
 */
export function readLock(dir: string): ReturnType<typeof lockIn> {
  requireTrusted(dir);
  return lockIn(dir);
}

function lockIn(dir: string): (Lock & { readonly state: ReturnType<typeof stateOfLock> }) | null {
  const lock = readLockFile(lockFile(dir));
  return lock && { ...lock, state: stateOfLock(lock, lockFile(dir)) };
}

/** @param put `linkSync` keeps a file that is there, `renameSync` replaces it @throws {StorageError} */
function place(path: string, lock: Lock, put: (from: string, to: string) => void): void {
  const temporary = `${path}.${lock.id}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(lock)}\n`, { mode: 0o600 });
    put(temporary, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error;
    throw new StorageError(`${path} could not be written: ${describeFault(error)}`, { cause: error });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Replaces the lock of a dead process. @returns false where another process is faster */
function takeOver(path: string, dead: Lock, lock: Lock): boolean {
  const guard = `${path}.${dead.id}`;
  if (!unlessThere(() => place(guard, lock, linkSync))) {
    // A process that died in here leaves its guard behind.
    if (Date.now() - touchedAt(guard) > deadAfter) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (readLockFile(path)?.id !== dead.id) return false;
    place(path, lock, renameSync);
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function refusal(dir: string, holder: NonNullable<ReturnType<typeof lockIn>>, waitMs: number): LockedError {
  const { pid, url, startedAt, host, kind } = holder;
  const isRemote = holder.state === "elsewhere";
  const who = `(process ${pid}, since ${startedAt}${isRemote && url !== null ? `, at ${url}` : ""})`;
  const another = "use another folder with --data";
  let by = `${url === null ? "by an idp that is starting" : `by the idp that runs at ${url}`} ${who}: end it, or ${another}`;
  if (isOfOtherContainer(holder))
    by = `by an idp that runs in another container of this machine, or outside this one ${who}: stop it there, or ${another}`;
  else if (isRemote)
    by = `by an idp on the machine "${host}" ${who}. This machine cannot tell whether it still runs: if it does not, remove ${lockFile(dir)}; else ${another}`;
  else if (kind === "command")
    by = `by another idp command ${who}, which has not ended within ${waitMs} ms: try again, or stop that process`;
  return new LockedError(`${dir} is in use ${by}`, { pid, url, startedAt }, isRemote);
}

/** @returns the lock of a dead process that it replaced, null if the place was free @throws {LockedError} */
async function acquire(lock: Lock, { dir, waitMs }: LockOptions): Promise<Lock | null> {
  const path = lockFile(dir);
  const firstTouch = touchedAt(path);
  for (let waited = 0; ; waited += 5) {
    const holder = lockIn(dir);
    if (holder === null) {
      if (unlessThere(() => place(path, lock, linkSync))) return null;
    } else if (holder.state === "dead") {
      if (takeOver(path, holder, lock)) return holder;
    } else if (isOfOtherContainer(holder) && touchedAt(path) === firstTouch) {
      waited = 0;
    } else if (holder.kind === "server" || holder.state === "elsewhere" || waited >= waitMs) {
      throw refusal(dir, holder, waitMs);
    }
    await delay(5);
  }
}

/**
 * @throws {LockedError} @throws {StorageError} if the folder cannot be written
 * @throws {DataFileError} where `lock.json` is something else
 */
export async function takeLock(options: LockOptions): Promise<HeldLock> {
  const path = lockFile(options.dir);
  let lock = newLock(options.kind, options.version);
  const dead = await acquire(lock, options);
  if (dead !== null) {
    const whose = dead.id === "nobody" ? "that nobody holds" : `of process ${dead.pid}, which was killed or crashed`;
    options.log(`took over the lock ${whose}: everything that it answered is in ${options.dir}`);
  }
  // Where it cannot be touched, it is gone, or nobody can write here, so another process could not take it over either.
  const touch = () => utimes(path, Date.now() / 1000, Date.now() / 1000, () => undefined);
  const touching = setInterval(touch, touchEvery).unref();
  const isHeld = (): boolean => {
    try {
      return readLockFile(path)?.id === lock.id;
    } catch {
      return false;
    }
  };
  return {
    isHeld,
    update(server) {
      lock = { ...lock, ...server };
      place(path, lock, renameSync);
    },
    release() {
      clearInterval(touching);
      if (readLockFile(path)?.id === lock.id) rmSync(path, { force: true });
    },
  };
}
