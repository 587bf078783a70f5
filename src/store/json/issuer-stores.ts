/** The stores of a data folder: the first issuer's is in the folder itself, each other one's in `issuers/NAME/`. One lock guards them all. */
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { StorageError } from "../store.ts";
import type { IssuerStores } from "../issuer-stores.ts";
import { syncFolder, codeOf, describeFault } from "../../files/durable-file.ts";
import { prepareFolder, removeFolder, requireTrusted } from "./folder.ts";
import { takeLock } from "./lock.ts";
import { openJsonStore } from "./store.ts";

export interface FolderOptions {
  /** The data folder; made if there is none. */
  readonly dir: string;
  /** A server holds the data for its lifetime, a command for milliseconds: so a command waits for a command, but not for a server. */
  readonly kind: "server" | "command";
  /** Version of `idp`, for the lock file. */
  readonly version: string;
  /** Receives notes for the operator: a lock was taken over, a torn line was dropped, data.json could not be rewritten. */
  readonly log: (note: string) => void;
  /** How many milliseconds to wait for another command. */
  readonly waitMs?: number;
}

/** Below the data folder. */
const issuersFolder = "issuers";

/** The folder of an issuer's data. @param name null: the first issuer */
export const folderOf = (data: string, name: string | null): string =>
  name === null ? data : join(data, issuersFolder, name);

/** Prefix of the folders that an interrupted removal leaves behind; no issuer's name begins like this. */
const removed = ".removed-";

/** Prefix of the empty files that stand beside the folders of issuers that are being made. */
const unfinished = ".unfinished-";

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return [];
    throw error;
  }
}

/** A folder that cannot be read counts as one with data: opening it then reports why. */
function hasData(folder: string): boolean {
  try {
    return entriesOf(folder).some((file) => /^data\.(json|journal)$/.test(file));
  } catch {
    return true;
  }
}

/** The names of the issuers that have data in a folder, without the first one. */
export const namesIn = (data: string): readonly string[] =>
  entriesOf(join(data, issuersFolder)).filter((name) => !name.startsWith(".") && hasData(folderOf(data, name)));

/**
 * @throws {LockedError} the data is another process's
 * @throws {DataFileError} the path is not that of a folder, or it may be another user's work
 * @throws {StorageError} the folder cannot be written
 */
export async function openFolder(options: FolderOptions): Promise<IssuerStores> {
  const { log } = options;
  const dir = resolve(options.dir);
  const issuers = join(dir, issuersFolder);
  requireTrusted(options.dir);
  const isNewFolder = prepareFolder(dir);
  const lock = await takeLock({ ...options, dir, waitMs: options.waitMs ?? 5000 });
  for (const name of entriesOf(issuers).filter((entry) => entry.startsWith(removed))) {
    await rm(join(issuers, name), { recursive: true, force: true });
  }
  for (const mark of entriesOf(issuers).filter((entry) => entry.startsWith(unfinished))) {
    await rm(join(issuers, mark.slice(unfinished.length)), { recursive: true, force: true });
    await rm(join(issuers, mark));
  }
  return {
    names: () => Promise.resolve(namesIn(dir)),
    claim(name) {
      const isFree = !namesIn(dir).includes(name);
      if (isFree) {
        prepareFolder(issuers);
        writeFileSync(join(issuers, unfinished + name), "", { mode: 0o600 });
      }
      return Promise.resolve(isFree);
    },
    async confirm(name) {
      await rm(join(issuers, unfinished + name));
      await syncFolder(issuers);
    },
    async open(name, clock) {
      if (name !== null) prepareFolder(issuers);
      return openJsonStore({ ...clock, dir: folderOf(options.dir, name), isHeld: lock.isHeld, log });
    },
    async remove(name) {
      // Renamed first: after a kill the issuer is there as a whole, or not at all.
      const aside = join(issuers, removed + name);
      try {
        renameSync(folderOf(dir, name), aside);
        await syncFolder(issuers);
        await rm(aside, { recursive: true, force: true });
      } catch (error) {
        if (codeOf(error) !== "ENOENT")
          throw new StorageError(`${folderOf(dir, name)} could not be removed: ${describeFault(error)}`, {
            cause: error,
          });
      }
      await rm(join(issuers, unfinished + name), { force: true });
    },
    updateLock: lock.update,
    close() {
      const isHeld = lock.isHeld();
      lock.release();
      // After a failed start: if an empty folder stayed, commands would take it for the right one.
      const isEmpty = isNewFolder && isHeld && !existsSync(join(dir, "data.json")) && namesIn(dir).length === 0;
      if (isEmpty) removeFolder(dir);
      return Promise.resolve();
    },
  };
}
