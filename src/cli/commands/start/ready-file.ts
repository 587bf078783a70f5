import { lstat, readFile, unlink } from "node:fs/promises";
import { followLinks } from "../../../files/durable-file.ts";
import { stateOfProcess } from "../../../files/process.ts";
import { cannotBeWritten, putFile } from "../../output/put-file.ts";

/** The file of `--ready-file`. It exists from the moment the server is ready until the server has ended. */

interface Ready {
  readonly event: "ready";
  readonly pid: number;
}

/** @throws {OperationError} usage if it cannot be written */
export async function writeReadyFile(file: string, ready: Ready): Promise<void> {
  try {
    // Readable for everybody, because it has no secret.
    await putFile(file, `${JSON.stringify(ready)}\n`, 0o644);
  } catch (error) {
    throw cannotBeWritten(`--ready-file ${file}`, error);
  }
}

/**
 * Removes the file of this server, or of one that was killed: a script that waits for the file must not find that of the last server. The
 * file of a running server stays, and so does any other file.
 */
export async function removeReadyFile(file: string): Promise<void> {
  try {
    const target = await followLinks(file);
    if (!(await lstat(target)).isFile()) return;
    const { event, pid = 0 } = JSON.parse(await readFile(target, "utf8")) as Partial<Ready>;
    if (event === "ready" && (pid === process.pid || stateOfProcess(pid, null) === "dead")) await unlink(target);
  } catch {
    // There is no file, or it is not a file of a server.
  }
}
