/** Whether the process that a file names is still running. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { codeOf } from "./durable-file.ts";

/** What identifies a process in a file that others read. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Distinguishes the process from a later one with the same pid; null if the system does not say. */
  readonly processStart: string | null;
  /** The pid namespace (each container has its own); null if the system does not say. */
  readonly pidNamespace: string | null;
  /** When the process began; ISO 8601. */
  readonly startedAt: string;
}

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  host: hostname(),
  processStart: startOfProcess(process.pid),
  pidNamespace: pidNamespace(),
  startedAt: new Date(Date.now() - process.uptime() * 1000).toISOString(),
});

export const isOfOtherContainer = (of: ProcessIdentity): boolean =>
  of.host === hostname() && of.pidNamespace !== pidNamespace();

/** Fields of `/proc/<pid>/stat` from the third on (proc(5)): the second, the program's name, may hold anything. */
function statOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** When a process began, as text that no other process of that pid has; null if the system does not say (other than Linux). */
function startOfProcess(pid: number): string | null {
  const started = statOf(pid)?.[19];
  if (started === undefined) return null;
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${started}`;
  } catch {
    return null;
  }
}

/**
 * The pid namespace of this process (pid_namespaces(7)). Each container has its own, and a pid of another namespace means nothing here.
 * Null if the system does not say (other than Linux).
 */
export function pidNamespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}

/** @returns `elsewhere`: on another machine or in another container, whose processes cannot be seen here */
export const stateOf = (of: ProcessIdentity): "alive" | "dead" | "elsewhere" =>
  of.host !== hostname() || isOfOtherContainer(of) ? "elsewhere" : stateOfProcess(of.pid, of.processStart);

/** @param start of {@link startOfProcess} when the file was written */
export function stateOfProcess(pid: number, start: string | null): "alive" | "dead" {
  // Process 0 means this process's own group, which is always alive.
  if (pid <= 0) return "dead";
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and another user's.
    if (codeOf(error) === "ESRCH") return "dead";
  }
  // A zombie: it has ended, and its parent has not collected its exit code yet.
  if (statOf(pid)?.[0] === "Z") return "dead";
  const now = startOfProcess(pid);
  return start !== null && now !== null && start !== now ? "dead" : "alive";
}
