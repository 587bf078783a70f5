/**
 * `lock.json` in the data folder: who owns the data. Held by a server for its life, by a command for milliseconds.
 * The CLI reads it to find a running server, so nothing heavy is imported here.
 *
 * The file appears whole or not at all: it is written under another name and linked (which fails where the name is taken).
 * The lock of a dead process is replaced by whoever holds its guard, a lock of the same kind named after that one dead
 * lock; a guard whose holder died in turn is taken over the same way. So of many that find the same dead lock one wins,
 * and a late-comer that holds the guard finds another lock than the one it came to bury.
 *
 * Containers may share the host's name and the folder, and not see each other's processes. So an owner touches its lock now and then: the
 * lock of another container is dead once it was left alone for long enough.
 */
import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimes,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf, describeFault } from "./fault.ts";
import { pidNamespace, startOfProcess, stateOfProcess } from "./process.ts";
import { DataFileError, LockedError, StorageError } from "./store.ts";

export interface Lock {
  /** Names this one lock. */
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** Tells the process from a later one of the same pid, where the system says it. */
  readonly processStart: string | null;
  /** In which its pid counts; null where the system has none. Absent: of an earlier version. */
  readonly pidNamespace?: string | null;
  readonly kind: "server" | "command";
  /** Version of `idp`. */
  readonly version: string;
  /** When the process began; ISO 8601. */
  readonly startedAt: string;
  /** Where the server listens; null: it does not yet, or it is a command. */
  readonly url: string | null;
  readonly adminToken: string | null;
}

/** Milliseconds: how often an owner touches its lock, and after how long without it an owner that cannot be seen is taken for dead. */
const touchEvery = 2000;
const deadAfter = 10_000;

export interface HeldLock {
  /** Says where the server listens, and how its control API is entered. */
  readonly update: (server: { readonly url: string; readonly adminToken: string }) => void;
  readonly release: () => void;
  /** Whether the folder is still this owner's: false where it was deleted, or where another took it since. */
  readonly isHeld: () => boolean;
}

const lockFile = (dir: string): string => join(dir, "lock.json");

/** A machine that lost its power leaves an empty file: nobody holds it. */
const nobody: Lock = {
  id: "nobody",
  pid: 0,
  host: hostname(),
  processStart: null,
  kind: "command",
  version: "",
  startedAt: "",
  url: null,
  adminToken: null,
};

function readLockFile(path: string): Lock | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    if (codeOf(error) === "ENOTDIR") {
      throw new DataFileError(`${dirname(path)} is no folder`, path, "Name a folder: --data DIR");
    }
    throw new DataFileError(
      `${path} cannot be read: ${describeFault(error)}`,
      path,
      "Run as the user who owns the data folder.",
    );
  }
  if (/^\0*$/.test(text)) return nobody;
  try {
    const lock = JSON.parse(text) as Lock;
    if (typeof lock.id === "string" && typeof lock.pid === "number" && typeof lock.host === "string") return lock;
  } catch {
    // Said below: it is not ours either way.
  }
  throw new DataFileError(`${path} is no lock file of idp`, path, "Remove it if no idp is running on this folder.");
}

const isOfOtherContainer = (lock: Lock): boolean =>
  lock.host === hostname() && lock.pidNamespace !== undefined && lock.pidNamespace !== pidNamespace();

/** @returns milliseconds since 1970; 0 where the file is gone */
const touchedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** `elsewhere`: on another machine, or in another container that gave a sign of life. */
function stateOf(lock: Lock, path: string): "alive" | "dead" | "elsewhere" {
  if (isOfOtherContainer(lock)) return Date.now() - touchedAt(path) > deadAfter ? "dead" : "elsewhere";
  if (lock.host !== hostname()) return "elsewhere";
  return stateOfProcess(lock.pid, lock.processStart);
}

/**
 * The lock of a data folder, without opening the data.
 * @returns null where nobody holds it (or there is no such folder) @throws {DataFileError} where the file is not a lock
 */
export function readLock(dir: string): (Lock & { readonly state: "alive" | "dead" | "elsewhere" }) | null {
  const path = lockFile(dir);
  const lock = readLockFile(path);
  return lock === null ? null : { ...lock, state: stateOf(lock, path) };
}

function write(path: string, lock: Lock): void {
  try {
    writeFileSync(path, `${JSON.stringify(lock)}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    // On a full disk the name is there, with nothing in it. By its id the file is ours.
    if (existsSync(path)) rmSync(path);
    throw error;
  }
}

function replace(path: string, lock: Lock): void {
  const temporary = `${path}.${lock.id}.tmp`;
  write(temporary, lock);
  renameSync(temporary, path);
}

/** @returns whether the file was made: false where there is one */
function create(path: string, lock: Lock): boolean {
  const temporary = `${path}.${lock.id}.tmp`;
  write(temporary, lock);
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
}

/**
 * @param whenHeld waits a little, or throws
 * @returns the dead lock that was replaced, null where the place was free
 */
async function acquire(path: string, lock: Lock, whenHeld: (holder: Lock) => Promise<void>): Promise<Lock | null> {
  for (;;) {
    const holder = readLockFile(path);
    if (holder === null) {
      if (create(path, lock)) return null;
    } else if (stateOf(holder, path) !== "dead") await whenHeld(holder);
    else if (await inherit(path, holder, lock)) return holder;
  }
}

async function inherit(path: string, dead: Lock, lock: Lock): Promise<boolean> {
  const guard = `${path}.${dead.id}`;
  await acquire(guard, lock, () => delay(2));
  try {
    if (readLockFile(path)?.id !== dead.id) return false;
    replace(path, lock);
    return true;
  } finally {
    unlinkSync(guard);
  }
}

/** Removes guards and unfinished locks of processes that died over them. For the owner of the lock only. */
function tidy(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(`${basename(path)}.`)) continue;
    const left = join(dirname(path), name);
    try {
      const lock = readLockFile(left);
      if (lock !== null && lock !== nobody && stateOf(lock, left) === "dead") unlinkSync(left);
    } catch {
      // Somebody else's file, or gone already.
    }
  }
}

function refusal(dir: string, lock: Lock, waited: number): LockedError {
  const path = lockFile(dir);
  const { pid, url, startedAt } = lock;
  const elsewhere = stateOf(lock, path) === "elsewhere";
  const who = `process ${pid}, since ${startedAt}`;
  const refuse = (message: string) =>
    new LockedError(`${dir} is in use ${message}`, { pid, url, startedAt }, elsewhere);
  if (elsewhere) {
    const at = url === null ? "" : `, at ${url}`;
    return refuse(
      isOfOtherContainer(lock)
        ? `by an idp that runs in another container of this machine, or outside this one (${who}${at}): stop it there, or use another folder with --data`
        : `by an idp on the machine "${lock.host}" (${who}${at}). Whether it still runs cannot be seen from here: if it does not, remove ${path}; else use another folder with --data`,
    );
  }
  if (lock.kind === "command") {
    return refuse(
      `by another idp command (${who}), which has not ended within ${waited} ms: try again, or stop that process`,
    );
  }
  const where = url === null ? "by an idp that is starting" : `by the idp that runs at ${url}`;
  return refuse(`${where} (${who}): end it, or use another folder with --data`);
}

/**
 * @param options `waitMs`: for how long another command is waited for; `log` is told when a dead process's lock was taken over
 * @throws {LockedError} @throws {StorageError} where the folder cannot be written @throws {DataFileError} where `lock.json` is something else
 */
export async function takeLock({
  dir,
  kind,
  version,
  waitMs,
  log,
}: {
  readonly dir: string;
  readonly kind: Lock["kind"];
  readonly version: string;
  readonly waitMs: number;
  readonly log: (note: string) => void;
}): Promise<HeldLock> {
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
  const pause = 5;
  let waited = 0;
  const first = touchedAt(path);
  try {
    const whenHeld = async (holder: Lock): Promise<void> => {
      if (isOfOtherContainer(holder) && touchedAt(path) === first) {
        await delay(100);
        return;
      }
      if (holder.kind === "server" || stateOf(holder, path) === "elsewhere" || waited >= waitMs)
        throw refusal(dir, holder, waitMs);
      waited += pause;
      await delay(pause);
    };
    const dead = await acquire(path, lock, whenHeld);
    if (dead !== null) {
      const whose = dead === nobody ? "that nobody holds" : `of process ${dead.pid}, which was killed or crashed`;
      log(`took over the lock ${whose}: all that it had answered is in ${dir}`);
    }
    tidy(path);
  } catch (error) {
    if (codeOf(error) === "") throw error;
    throw new StorageError(`${path} could not be made: ${describeFault(error)}`, { cause: error });
  }
  // Where it cannot be touched, the folder cannot be written: another owner could not take it over either.
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
        replace(path, lock);
      } catch (error) {
        throw new StorageError(`${path} could not be written: ${describeFault(error)}`, { cause: error });
      }
    },
    release() {
      clearInterval(touching);
      try {
        if (readLockFile(path)?.id === lock.id) unlinkSync(path);
      } catch (error) {
        if (codeOf(error) === "") throw error;
        throw new StorageError(`${path} could not be removed: ${describeFault(error)}`, { cause: error });
      }
    },
  };
}
