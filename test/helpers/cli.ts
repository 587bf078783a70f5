import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { testInstances } from "./runs.ts";

/** The built command line as a child process. */

export const bin = fileURLToPath(new URL("../../bin/idp.js", import.meta.url));

/** Takes what is to be done at the end: of the test, unless `afterAll` is handed in. */
type AtEnd = (work: () => Promise<void> | void) => void;

/** A new folder to work in, removed at the end. */
export function newFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "idp-cli-"));
  atEnd(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A folder on the PATH with `idp`, as a global installation has it. */
const commands = fileURLToPath(new URL("commands", import.meta.url));

/** The environment of a user, without variables of the test runner or of the person who runs it. */
export function environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const foreign =
    /^(IDP_|NODE_ENV$|NODE_OPTIONS$|VITEST|CI$|NO_COLOR$|npm_command$|npm_package_name$|FORCE_COLOR$|XDG_RUNTIME_DIR$)/;
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  return { ...own, PATH: `${commands}${delimiter}${process.env["PATH"] ?? ""}`, ...more };
}

export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The shared store that commands in a folder work on, where `IDP_TEST_INSTANCES` put one in place of the data folder. */
export const storeOf = new Map<string, string>();

/** A running command; the caller collects its output. */
export function launch(args: readonly string[], { cwd, env = {} }: Place, nodeArgs: readonly string[] = []) {
  const store = storeOf.get(cwd);
  const more = store === undefined ? env : { IDP_STORE: store, ...env };
  return spawn(process.execPath, [...nodeArgs, bin, ...args], { cwd, env: environment(more) });
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function collect(child: ChildProcessWithoutNullStreams): { stdout: string; stderr: string } {
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  return output;
}

/** Runs a command to its end. @param input standard input, which is empty otherwise */
export function idp(
  args: readonly string[],
  place: Place & { readonly input?: string; readonly nodeArgs?: readonly string[] },
): Promise<Ended> {
  const child = launch(args, place, place.nodeArgs);
  const output = collect(child);
  // A command that never reads its input may be gone before it is written.
  child.stdin.on("error", () => undefined);
  child.stdin.end(place.input ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, ...output });
    });
  });
}

export interface RunningIdp {
  readonly issuer: string;
  readonly pid: number;
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has printed so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Resolves once stdout holds the text. */
  readonly printed: (text: string) => Promise<void>;
  /** Resolves with the exit code, and the signal where one ended it. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Starts `idp start` on a free port and waits until it says that it is ready. It is killed at the end. */
export async function startIdp(
  args: readonly string[],
  place: Place,
  atEnd: AtEnd = onTestFinished,
  input = "",
): Promise<RunningIdp> {
  // The load balancer has no certificate.
  const isAlone = place.env?.["IDP_STORE"] !== undefined || args.includes("--data") || args.includes("--cert");
  if (testInstances > 1 && !isAlone) {
    const { startAsOne } = await import("./instances.ts");
    return startAsOne(args, place, atEnd);
  }
  const child = launch(["start", "--port", "auto", ...args], place);
  child.stdin.end(input);
  const output = collect(child);
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on("close", (code, signal) => {
      resolve({ code, signal });
    });
  });
  atEnd(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output.stdout.includes(text)) resolve();
      };
      child.stdout.on("data", look);
      look();
      void ended.then(() => {
        reject(new Error(`idp ended before it printed "${text}": ${output.stdout}${output.stderr}`));
      });
    });
  const isJson = args.includes("--json");
  await printed(isJson ? '"event":"ready"' : "idp ready ");
  const issuer = (isJson ? /"issuer":"([^"]+)"/ : /idp ready (\S+) pid/).exec(output.stdout)?.[1] ?? "";
  return { issuer, pid: child.pid ?? 0, child, output, printed, ended };
}
