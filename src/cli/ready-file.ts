import { lstat, readFile, unlink } from "node:fs/promises";
import { OperationError } from "../core/errors.ts";
import { followLinks } from "../store/durable-file.ts";
import { putFile } from "./put-file.ts";

/** `--ready-file`: there from the moment the server is ready, and gone when it has ended. */

interface Ready {
  readonly event: "ready";
  readonly pid: number;
}

/** @throws {OperationError} usage, where it cannot be written */
export async function writeReadyFile(file: string, ready: Ready): Promise<void> {
  try {
    // For everybody: there is no secret in it.
    await putFile(file, `${JSON.stringify(ready)}\n`, 0o644);
  } catch (error) {
    throw new OperationError("usage", `--ready-file ${file} cannot be written`, { cause: error });
  }
}

/**
 * Removes what a server wrote there: a script that waits for the file must not find that of the last server, which was killed. Another
 * file is left alone.
 * @param pid of the server; null: of any
 */
export async function removeReadyFile(file: string, pid: number | null): Promise<void> {
  try {
    const target = await followLinks(file);
    if (!(await lstat(target)).isFile()) return;
    const { event, pid: found } = JSON.parse(await readFile(target, "utf8")) as Partial<Ready>;
    if (event === "ready" && (pid === null || pid === found)) await unlink(target);
  } catch {
    // None, or none that a server wrote.
  }
}
