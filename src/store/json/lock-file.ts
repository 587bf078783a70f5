/**
 * `lock.json` in the data folder: who owns the data, and where its server listens. The command line reads it to find a
 * running server, so this file imports nothing heavy.
 */
import { readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { codeOf, describeFault } from "../../files/fault.ts";
import { pidNamespace, stateOfProcess } from "../../files/process.ts";
import { DataFileError } from "../store.ts";

export interface Lock {
  /** Identifies this lock. */
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** Distinguishes the process from a later one with the same pid; null if the system does not say. */
  readonly processStart: string | null;
  /** The pid namespace (each container has its own); null if the system has none. */
  readonly pidNamespace: string | null;
  readonly kind: "server" | "command";
  /** Version of `idp`. */
  readonly version: string;
  /** When the process began; ISO 8601. */
  readonly startedAt: string;
  /** Where the server listens; null: it does not yet, or it is a command. */
  readonly url: string | null;
  readonly adminToken: string | null;
}

/** `elsewhere`: on another machine, or in another container that gave a sign of life. */
export type LockState = "alive" | "dead" | "elsewhere";

/** Milliseconds after which a lock that nobody touches is dead, where its process cannot be seen. */
export const deadAfter = 10_000;

export const lockFile = (dir: string): string => join(dir, "lock.json");

/** Stands for an empty lock file, which a power loss leaves behind: nobody holds it. */
export const nobody: Lock = {
  id: "nobody",
  pid: 0,
  host: hostname(),
  processStart: null,
  pidNamespace: pidNamespace(),
  kind: "command",
  version: "",
  startedAt: "",
  url: null,
  adminToken: null,
};

/** @returns null if there is no lock @throws {DataFileError} if the file is not a lock */
export function readLockFile(path: string): Lock | null {
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
  if (/^\0*$/.test(text)) return nobody;
  try {
    const lock = JSON.parse(text) as Lock;
    if (typeof lock.id === "string" && typeof lock.pid === "number" && typeof lock.host === "string") return lock;
  } catch {
    // Not JSON, or null: refused below.
  }
  throw new DataFileError(`${path} is not a lock file of idp`, path, "Remove it if no idp is running on this folder.");
}

export const isOfOtherContainer = (lock: Lock): boolean =>
  lock.host === hostname() && lock.pidNamespace !== pidNamespace();

/** @returns milliseconds since 1970; 0 where the file is gone */
export const touchedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

export function stateOf(lock: Lock, path: string): LockState {
  if (isOfOtherContainer(lock)) return Date.now() - touchedAt(path) > deadAfter ? "dead" : "elsewhere";
  if (lock.host !== hostname()) return "elsewhere";
  return stateOfProcess(lock.pid, lock.processStart);
}

/**
 * The lock of a data folder, without opening the data.
 * @returns null if nobody holds it (or there is no such folder) @throws {DataFileError} the file is not a lock
 */
export function readLock(dir: string): (Lock & { readonly state: LockState }) | null {
  const path = lockFile(dir);
  const lock = readLockFile(path);
  return lock === null ? null : { ...lock, state: stateOf(lock, path) };
}
