import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A run must leave no process behind: it ends such a process, and fails. Linux only. */

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
  return () => {
    const left = orphansOf(run);
    for (const { pid } of left) process.kill(pid, "SIGKILL");
    if (left.length === 0) return;
    throw new Error(`The run left processes behind:\n${left.map(({ command }) => command).join("\n")}`);
  };
}
