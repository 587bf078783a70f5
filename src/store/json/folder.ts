import { mkdirSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { quoteWord } from "../../text/terminal.ts";
import { codeOf, describeFault } from "../../files/durable-file.ts";
import { distrustOfFolder } from "./trust.ts";
import { DataFileError, StorageError } from "../store.ts";

/** Ignores "already exists": another process may be faster. @returns whether `make` created it */
export function unlessThere(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return false;
  }
}

/**
 * Before anything in a data folder is believed: a lock says where secrets are sent, and data has the keys that are signed with.
 * @throws {DataFileError} if somebody else may have written it
 */
export function requireTrusted(dir: string): void {
  const found = distrustOfFolder(dir);
  if (found === null) return;
  const message = `${found.path} ${found.problem}, so idp does not use this data`;
  throw new DataFileError(message, found.path, `${found.repair}\nOr use another folder with --data`);
}

/** Removes a new data folder in which nothing was kept, unless another process has begun to work in it. */
export function removeFolder(dir: string): void {
  try {
    rmSync(join(dir, ".gitignore"), { force: true });
    rmdirSync(dir);
  } catch (error) {
    if (codeOf(error) === "") throw error;
  }
}

/**
 * Makes the data folder where there is none: for its owner only, and ignored by git. A folder that held something
 * before stays as it is: with `--data .` a `.gitignore` would hide the whole project.
 * @returns whether the folder is new
 * @throws {DataFileError} if the path leads elsewhere @throws {StorageError} if it cannot be made
 */
export function prepareFolder(dir: string): boolean {
  const parent = dirname(dir);
  try {
    const isNew = unlessThere(() => mkdirSync(dir, { mode: 0o700 }));
    if (!statSync(dir).isDirectory()) {
      throw new DataFileError(
        `${dir} is a file, and the data needs a folder`,
        dir,
        "Name a folder, such as --data .idp",
      );
    }
    if (readdirSync(dir).length === 0) {
      unlessThere(() => {
        writeFileSync(join(dir, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
      });
    }
    return isNew;
  } catch (error) {
    if (error instanceof DataFileError) throw error;
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) {
      throw new DataFileError(
        `${dir} cannot be created: ${parent} is not a folder`,
        dir,
        `Make it first: mkdir -p ${quoteWord(parent)}`,
      );
    }
    throw new StorageError(`The data folder ${dir} cannot be used: ${describeFault(error)}`, { cause: error });
  }
}
