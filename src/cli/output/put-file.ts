import { constants, type Stats } from "node:fs";
import { chmod, lstat, open, readlink, stat, type FileHandle } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { OperationError } from "../../core/base/errors.ts";
import { replaceFile, syncFolder, codeOf } from "../../files/durable-file.ts";

/** Where a file with secrets would go to somebody else. */
class ForeignFileError extends Error {
  override readonly name = "ForeignFileError";
}

/** Refuses a link or a pipe that another user may have put there, to get what is written. Devices are root's. @throws {ForeignFileError} */
function requireOwn(what: string, file: string, { uid }: Stats): void {
  const own = process.getuid?.() ?? uid;
  if (uid === own || uid === 0) return;
  throw new ForeignFileError(`${file} is a ${what} of another user (uid ${uid})`);
}

/** The path after following this user's links, including one whose target does not exist yet. @throws {ForeignFileError} */
export async function followOwnLinks(path: string): Promise<string> {
  let target = path;
  // 40 as in Linux. With more links it is a loop, and opening it reports that.
  for (let links = 0; links < 40; links++) {
    const entry = await lstat(target).catch(() => null);
    if (entry?.isSymbolicLink() !== true) return target;
    requireOwn("link", target, entry);
    target = resolve(dirname(target), await readlink(target));
  }
  return target;
}

/** Opens a pipe or a device. What was looked at may be something else by now, so what was opened is looked at too. */
async function openOwn(file: string): Promise<FileHandle> {
  const handle = await open(file, constants.O_WRONLY);
  try {
    requireOwn("pipe", file, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Before a file is read that is then written. @throws as {@link putFile} */
export async function requireOwnFile(file: string): Promise<void> {
  await followOwnLinks(file);
  const there = await stat(file).catch(() => null);
  if (there !== null && !there.isFile()) requireOwn("pipe", file, there);
}

/**
 * Writes a file whole or not at all, so that a program that waits for it can read it at once. A link stays a link; a pipe or a device is
 * written to directly. Those of another user are refused.
 * @param mode of the file from the beginning
 * @throws the error of the system, or one that {@link cannotBeWritten} explains
 */
export async function putFile(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  await requireOwnFile(file);
  const target = await followOwnLinks(file);
  const there = await stat(file).catch(() => null);
  if (there !== null && !there.isFile()) {
    const handle = await openOwn(file);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    return;
  }
  const handle = await replaceFile(target, async (unfinished) => {
    await unfinished.chmod(mode);
    await unfinished.writeFile(content);
  });
  await handle.close();
  // On Windows the file has its name only now.
  if (process.platform === "win32") await chmod(target, mode);
  await syncFolder(dirname(target));
}

/** Opens a file that grows, such as a log: a new one is for its owner only. @throws as {@link putFile} */
export async function openToWrite(file: string): Promise<FileHandle> {
  await requireOwnFile(file);
  const target = await followOwnLinks(file);
  const there = await stat(file).catch(() => null);
  return there !== null && !there.isFile() ? openOwn(file) : open(target, "w", 0o600);
}

/** @param what was typed: the flag and the file @param error what {@link putFile} threw */
export function cannotBeWritten(what: string, error: unknown): OperationError {
  if (error instanceof ForeignFileError) {
    const hint = "Name another file, or remove that one if you do not know it.";
    return new OperationError("usage", `${what} cannot be written: ${error.message}`, { hint, cause: error });
  }
  const code = codeOf(error);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const hint = isFull ? "The disk is full: make room, then try again." : "Is its folder there, and yours?";
  return new OperationError("usage", `${what} cannot be written (${code})`, { hint, cause: error });
}
