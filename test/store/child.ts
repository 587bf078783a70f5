/** Separate processes that work on a store: one process cannot show the effects of a crash, a limit or a second process. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { built } from "../helpers/built.ts";

export interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly lines: Interface;
  /** The next line it prints; rejects where it ends first. */
  readonly line: () => Promise<string>;
  /** All that it printed, once it has ended. */
  readonly end: () => Promise<{ readonly code: number | null; readonly lines: readonly string[] }>;
}

/** A program of `test/store/children`, ready to run. */
export const program = (name: string): Promise<string> =>
  built(fileURLToPath(new URL(`children/${name}.ts`, import.meta.url)));

/**
 * @param path of the program
 * @param fileLimit the largest file it may write, in kilobytes
 */
export function startChild(path: string, args: readonly string[], fileLimit?: number): Child {
  const node = [process.execPath, path, ...args];
  const { NODE_ENV: _, VITEST: __, ...env } = process.env;
  // POSIX: `ulimit -f` counts blocks of 512 bytes.
  const limited = ["sh", "-c", `ulimit -f ${(fileLimit ?? 0) * 2} && exec "$@"`, "limited", ...node];
  const [command = "", ...rest] = fileLimit === undefined ? node : limited;
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"], env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout);
  const printed: string[] = [];
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  let taken = 0;
  let wake: () => void = () => undefined;
  lines.on("line", (line) => {
    printed.push(line);
    wake();
  });
  void ended.then(() => wake());
  return {
    process: child,
    lines,
    async line() {
      while (printed.length <= taken) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${path} ended too early`);
        await new Promise<void>((resolve) => (wake = resolve));
      }
      return printed[taken++] ?? "";
    },
    end: async () => ({ code: await ended, lines: printed }),
  };
}
