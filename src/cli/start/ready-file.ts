import { lstat, readFile, unlink } from "node:fs/promises";
import { OperationError } from "../../core/errors.ts";
import { followLinks } from "../../store/json/durable-file.ts";
import { stateOfProcess } from "../../store/json/process.ts";
import { putFile } from "../output/put-file.ts";

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
 * Removes what this server wrote there, or one that was killed: a script that waits for the file must not find that of the last server.
 * That of a server that runs is left alone, and so is any other file.
 */
export async function removeReadyFile(file: string): Promise<void> {
  try {
    const target = await followLinks(file);
    if (!(await lstat(target)).isFile()) return;
    const { event, pid = 0 } = JSON.parse(await readFile(target, "utf8")) as Partial<Ready>;
    if (event === "ready" && (pid === process.pid || stateOfProcess(pid, null) === "dead")) await unlink(target);
  } catch {
    // There is no file, or no server wrote it.
  }
}
