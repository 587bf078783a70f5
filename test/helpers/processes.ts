import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** What the system says about a process: from `/proc` if it exists, since a bare Linux has no `ps`. */

const hasProc = existsSync("/proc/self/stat");

const ps = (...args: readonly string[]): string => execFileSync("ps", args, { encoding: "utf8" });

/** The processes that a process started and that still run. */
export function childrenOf(pid: number): number[] {
  const parents = hasProc
    ? readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? parentIn(Number(name)) : []))
    : ps("-A", "-o", "pid=,ppid=")
        .split("\n")
        .map((line) => line.trim().split(/\s+/).map(Number));
  return parents.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

function parentIn(pid: number): [pid: number, parent: number][] {
  try {
    // The name of the program stands in parentheses, and may contain spaces.
    const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return [[pid, Number(parent)]];
  } catch {
    return []; // It has ended since.
  }
}

/** What everybody on the machine can read: the arguments of a process, each followed by a space. */
export const argumentsOf = (pid: number): string =>
  hasProc ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") : ps("-o", "args=", "-p", String(pid));

/** Whether a process runs. One that has ended, but was not waited for yet, does not count. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^\S+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};
