import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A run must leave nothing behind: it fails for a process (Linux only), and removes its one folder of temporary files. */

/** In the environment of every process of the run. */
const mark = "TEST_RUN";

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // It has ended, or belongs to somebody else.
    return "";
  }
};

/** The processes of the run whose parent has ended. */
function orphansOf(run: string): readonly { readonly pid: number; readonly command: string }[] {
  const isOfRun = (pid: number): boolean =>
    pid === process.pid || read(`/proc/${pid}/environ`).includes(`${mark}=${run}\0`);
  const names = existsSync("/proc") ? readdirSync("/proc") : [];
  return names
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && isOfRun(pid))
    .filter((pid) => !isOfRun(Number(/\) \S (\d+) /.exec(read(`/proc/${pid}/stat`))?.[1])))
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim() }))
    .filter(({ command }) => command !== "");
}

export default function setup(): () => void {
  const run = randomUUID();
  process.env[mark] = run;
  // All temporary folders of the run are in one. Programs beyond our own may leave theirs.
  const folder = mkdtempSync(join(tmpdir(), "idp-run-"));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  return () => {
    const left = orphansOf(run);
    for (const { pid } of left) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    if (left.length === 0) return;
    throw new Error(`The run left processes behind:\n${left.map(({ command }) => command).join("\n")}`);
  };
}
