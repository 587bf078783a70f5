import { chmod, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { OperationError } from "../../core/errors.ts";
import { followLinks, replaceFile, syncFolder, codeOf } from "../../files/durable-file.ts";

/**
 * Writes a file whole or not at all, so that a program that waits for it can read it at once. A link stays a link; a pipe or a device is
 * written to directly.
 * @param mode of the file from the beginning
 * @throws the error of the system
 */
export async function putFile(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  const there = await stat(file).catch(() => null);
  if (there !== null && !there.isFile()) {
    await writeFile(file, content);
    return;
  }
  const target = await followLinks(file);
  const handle = await replaceFile(target, async (unfinished) => {
    await unfinished.chmod(mode);
    await unfinished.writeFile(content);
  });
  await handle.close();
  // On Windows the file has its name only now.
  if (process.platform === "win32") await chmod(target, mode);
  await syncFolder(dirname(target));
}

/** @param what was typed: the flag and the file @param error what {@link putFile} threw */
export function cannotBeWritten(what: string, error: unknown): OperationError {
  const code = codeOf(error);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const hint = isFull ? "The disk is full: make room, then try again." : "Is its folder there, and yours?";
  return new OperationError("usage", `${what} cannot be written (${code})`, { hint, cause: error });
}
