/** Whether a process that a file speaks of is still that process. */
import { readFileSync, readlinkSync } from "node:fs";
import { codeOf } from "./fault.ts";

/** Fields of `/proc/<pid>/stat` from the third on (proc(5)): the second, the program's name, may hold anything. */
function statOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** When a process began, as text that no other process of that pid has; null where the system does not say (other than Linux). */
export function startOfProcess(pid: number): string | null {
  const started = statOf(pid)?.[19];
  if (started === undefined) return null;
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${started}`;
  } catch {
    return null;
  }
}

/**
 * In which numbering of processes this one is (pid_namespaces(7)): a pid of another, as each container has its own, says nothing here. Null
 * where the system has one only (other than Linux), or does not say.
 */
export function pidNamespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}

/** @param start of {@link startOfProcess} when the file was written */
export function stateOfProcess(pid: number, start: string | null): "alive" | "dead" {
  // Signal 0 to process 0 is one to oneself.
  if (pid <= 0) return "dead";
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and another user's.
    if (codeOf(error) === "ESRCH") return "dead";
  }
  // Killed, and its parent has not asked for it yet.
  if (statOf(pid)?.[0] === "Z") return "dead";
  const now = startOfProcess(pid);
  return start !== null && now !== null && start !== now ? "dead" : "alive";
}
