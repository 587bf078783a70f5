/**
 * `lock.json` in the data folder: who owns the data. Held by a server for its life, by a command for milliseconds. What a linked `data.json` leads
 * to has a lock of the same kind beside it.
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
import { quoteWord } from "../shell-word.ts";
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
  /** The data folder of the owner, where that is another one, which has a link to what is locked. */
  readonly linkedFrom?: string;
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
 * @param beforeTaking throws where a dead lock must not be taken over
 * @returns the dead lock that was replaced, null where the place was free
 */
async function acquire(
  path: string,
  lock: Lock,
  whenHeld: (holder: Lock) => Promise<void>,
  beforeTaking: (dead: Lock) => void = () => undefined,
): Promise<Lock | null> {
  for (;;) {
    const holder = readLockFile(path);
    if (holder === null) {
      if (create(path, lock)) return null;
    } else if (stateOf(holder, path) !== "dead") await whenHeld(holder);
    else {
      beforeTaking(holder);
      if (await inherit(path, holder, lock)) return holder;
    }
  }
}

/**
 * What an owner of another folder had answered when it died, and only the journal there tells.
 * @param mine the data folder of who takes the lock over
 * @throws {DataFileError}
 */
function refuseForeignJournal(dead: Lock, path: string, mine: string): void {
  const folder = dead.linkedFrom ?? dirname(path);
  const journal = join(folder, "data.journal");
  if (folder === mine || statSync(journal, { throwIfNoEntry: false }) === undefined) return;
  throw new DataFileError(
    `process ${dead.pid}, which was killed or crashed, had the same data by ${folder}, and what it answered last is in ${journal} alone`,
    journal,
    `Let idp put it in its place first: idp users list --data ${quoteWord(folder)}`,
  );
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

function refusal(what: string, path: string, lock: Lock, dir: string | null, waited: number): LockedError {
  const { pid, url, startedAt } = lock;
  const elsewhere = stateOf(lock, path) === "elsewhere";
  const who = `process ${pid}, since ${startedAt}`;
  const refuse = (message: string) =>
    new LockedError(`${what} is in use ${message}`, { pid, url, startedAt, dir: lock.linkedFrom ?? dir }, elsewhere);
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

interface LockOptions {
  readonly kind: Lock["kind"];
  readonly version: string;
  readonly waitMs: number;
  readonly log: (note: string) => void;
}

/**
 * The lock of a data folder; and, where its `data.json` is a link, also of what that leads to: another folder may have a link to the same.
 * @param options `target`: where the link leads to; `dir/data.json` where it is none
 * @throws as {@link take}
 */
export async function takeLock(
  options: LockOptions & { readonly dir: string; readonly target: string },
): Promise<HeldLock> {
  const { dir, target } = options;
  const own = await take(dir, lockFile(dir), null, options);
  if (target === join(dir, "data.json")) return own;
  const isNamedAlike = basename(target) === "data.json";
  try {
    const path = isNamedAlike ? lockFile(dirname(target)) : `${target}.lock`;
    const shared = await take(target, path, dir, options);
    return {
      isHeld: () => own.isHeld() && shared.isHeld(),
      update(server) {
        shared.update(server);
        own.update(server);
      },
      release() {
        shared.release();
        own.release();
      },
    };
  } catch (error) {
    own.release();
    throw error;
  }
}

/**
 * @param what the lock is of, for refusals
 * @param linkedFrom the data folder whose link led here; null: it is the one that is locked
 * @param options `waitMs`: for how long another command is waited for; `log` is told when a dead process's lock was taken over
 * @throws {LockedError} @throws {StorageError} where the folder cannot be written @throws {DataFileError} where `lock.json` is something else
 */
async function take(
  what: string,
  path: string,
  linkedFrom: string | null,
  { kind, version, waitMs, log }: LockOptions,
): Promise<HeldLock> {
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
    ...(linkedFrom !== null && { linkedFrom }),
  };
  // A lock that says nothing else is of the folder it lies in.
  const holderDir = linkedFrom === null ? null : dirname(path);
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
        throw refusal(what, path, holder, holderDir, waitMs);
      waited += pause;
      await delay(pause);
    };
    const mine = linkedFrom ?? dirname(path);
    const dead = await acquire(path, lock, whenHeld, (holder) => {
      refuseForeignJournal(holder, path, mine);
    });
    if (dead !== null) {
      const whose = dead === nobody ? "that nobody holds" : `of process ${dead.pid}, which was killed or crashed`;
      log(`took over the lock ${whose}: all that it had answered is in ${what}`);
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
