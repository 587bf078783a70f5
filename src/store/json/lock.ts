/**
 * The data has one owner at a time: a server holds the lock for its lifetime, a command for milliseconds.
 *
 * The lock file appears whole or not at all: it is written under another name and linked (a link fails where the name is
 * taken). To replace the lock of a dead process takes a guard file named after that lock, so that only one of many that
 * find it wins.
 *
 * Containers may share the host name and the folder without seeing each other's processes. So an owner touches its lock
 * every two seconds, and the lock of another container is dead once it is left alone for ten.
 */
import { randomBytes } from "node:crypto";
import { linkSync, renameSync, rmSync, utimes, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf, describeFault } from "../../files/fault.ts";
import { unlessThere } from "./folder.ts";
import {
  deadAfter,
  isOfOtherContainer,
  lockFile,
  nobody,
  readLockFile,
  stateOf,
  touchedAt,
  type Lock,
} from "./lock-file.ts";
import { pidNamespace, startOfProcess } from "../../files/process.ts";
import { LockedError, StorageError } from "../store.ts";

const touchEvery = 2000;

export interface HeldLock {
  /** Adds the server's address and admin token to the lock file. */
  readonly update: (server: { readonly url: string; readonly adminToken: string }) => void;
  readonly release: () => void;
  /** Whether the folder is still this owner's: false where it was deleted, or where another process took it since. */
  readonly isHeld: () => boolean;
}

/** @param put `linkSync` keeps a lock that is there, `renameSync` replaces it */
function place(path: string, lock: Lock, put: (from: string, to: string) => void): void {
  const temporary = `${path}.${lock.id}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(lock)}\n`, { mode: 0o600 });
    put(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Replaces the lock of a dead process. @returns false where another process is faster */
function takeOver(path: string, dead: Lock, lock: Lock): boolean {
  const guard = `${path}.${dead.id}`;
  if (!unlessThere(() => writeFileSync(guard, "", { flag: "wx", mode: 0o600 }))) {
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

function refusal(dir: string, lock: Lock, waitMs: number): LockedError {
  const { pid, url, startedAt, host, kind } = lock;
  const path = lockFile(dir);
  const elsewhere = stateOf(lock, path) === "elsewhere";
  const who = `(process ${pid}, since ${startedAt}${elsewhere && url !== null ? `, at ${url}` : ""})`;
  const another = "use another folder with --data";
  let by = `${url === null ? "by an idp that is starting" : `by the idp that runs at ${url}`} ${who}: end it, or ${another}`;
  if (isOfOtherContainer(lock))
    by = `by an idp that runs in another container of this machine, or outside this one ${who}: stop it there, or ${another}`;
  else if (elsewhere)
    by = `by an idp on the machine "${host}" ${who}. This machine cannot tell whether it still runs: if it does not, remove ${path}; else ${another}`;
  else if (kind === "command")
    by = `by another idp command ${who}, which has not ended within ${waitMs} ms: try again, or stop that process`;
  return new LockedError(`${dir} is in use ${by}`, { pid, url, startedAt }, elsewhere);
}

interface LockOptions {
  readonly dir: string;
  readonly kind: Lock["kind"];
  readonly version: string;
  /** How long to wait for another command. */
  readonly waitMs: number;
  /** Is called when the lock of a dead process was taken over. */
  readonly log: (note: string) => void;
}

/** @returns the lock of a dead process that it replaced, null if the place was free @throws {LockedError} */
async function acquire(lock: Lock, { dir, waitMs }: LockOptions): Promise<Lock | null> {
  const path = lockFile(dir);
  const firstTouch = touchedAt(path);
  const pause = 5;
  for (let waited = 0; ;) {
    const holder = readLockFile(path);
    const state = holder === null ? null : stateOf(holder, path);
    if (holder === null) {
      if (unlessThere(() => place(path, lock, linkSync))) return null;
    } else if (state === "dead") {
      if (takeOver(path, holder, lock)) return holder;
      await delay(pause);
    } else if (isOfOtherContainer(holder) && touchedAt(path) === firstTouch) await delay(100);
    else if (holder.kind === "server" || state === "elsewhere" || waited >= waitMs) throw refusal(dir, holder, waitMs);
    else {
      waited += pause;
      await delay(pause);
    }
  }
}

/**
 * @throws {LockedError} @throws {StorageError} if the folder cannot be written
 * @throws {DataFileError} where `lock.json` is something else
 */
export async function takeLock(options: LockOptions): Promise<HeldLock> {
  const { dir, kind, version, log } = options;
  const path = lockFile(dir);
  let lock: Lock = {
    id: randomBytes(6).toString("hex"),
    pid: process.pid,
    host: hostname(),
    processStart: startOfProcess(process.pid),
    pidNamespace: pidNamespace(),
    kind,
    version,
    startedAt: new Date(Date.now() - process.uptime() * 1000).toISOString(),
    url: null,
    adminToken: null,
  };
  const orRefuse = (what: string, error: unknown): never => {
    if (codeOf(error) === "") throw error;
    throw new StorageError(`${path} could not be ${what}: ${describeFault(error)}`, { cause: error });
  };
  const dead = await acquire(lock, options).catch((error: unknown) => orRefuse("made", error));
  if (dead !== null) {
    const whose = dead === nobody ? "that nobody holds" : `of process ${dead.pid}, which was killed or crashed`;
    log(`took over the lock ${whose}: everything that it answered is in ${dir}`);
  }
  // Where it cannot be touched, the folder cannot be written: another process could not take it over either.
  const touching = setInterval(() => {
    const seconds = Date.now() / 1000;
    utimes(path, seconds, seconds, () => undefined);
  }, touchEvery);
  touching.unref();
  return {
    isHeld() {
      try {
        return readLockFile(path)?.id === lock.id;
      } catch {
        return false;
      }
    },
    update(server) {
      lock = { ...lock, ...server };
      try {
        place(path, lock, renameSync);
      } catch (error) {
        orRefuse("written", error);
      }
    },
    release() {
      clearInterval(touching);
      try {
        if (readLockFile(path)?.id === lock.id) rmSync(path);
      } catch (error) {
        orRefuse("removed", error);
      }
    },
  };
}
