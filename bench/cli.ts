import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./measure.ts";

/** How long commands take from a cold start, beside Node.js that does nothing, and how many files they load. */

const bin = fileURLToPath(new URL("../bin/idp.js", import.meta.url));

/** One after the other in each round, so that a busy moment of the machine meets all of them. */
interface Candidate {
  readonly name: string;
  /** Arguments of node. */
  readonly args: readonly string[];
  /** What is on stdout once it is there; absent: it ends by itself. */
  readonly until?: string;
}

function environment(): NodeJS.ProcessEnv {
  const { NODE_ENV: _node, NODE_OPTIONS: _options, ...env } = process.env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("IDP_")));
}

/** Starts it in the folder. @returns how many milliseconds passed until it had ended, or said that it is ready */
async function time({ name, args, until }: Candidate, cwd: string): Promise<number> {
  const began = performance.now();
  if (until === undefined) {
    const { status, stderr } = spawnSync(process.execPath, args, { cwd, env: environment(), encoding: "utf8" });
    if (status !== 0) throw new Error(`${name}: ${stderr}`);
    return performance.now() - began;
  }
  const { child, ready } = startUntil(args, until, cwd);
  await ready;
  const took = performance.now() - began;
  await stop(child);
  return took;
}

function startUntil(args: readonly string[], until: string, cwd: string) {
  const child = spawn(process.execPath, args, { cwd, env: environment(), stdio: ["ignore", "pipe", "inherit"] });
  const ready = new Promise<void>((resolve, reject) => {
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.includes(until)) resolve();
    });
    child.on("exit", () => {
      reject(new Error(`ended before it printed "${until}": ${printed}`));
    });
  });
  return { child, ready };
}

async function stop(child: ReturnType<typeof spawn>): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

/** How many files it loads, and their size together: all of the command line is loaded by require. */
async function filesOf(candidate: Candidate, cwd: string): Promise<{ readonly count: number; readonly bytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), "idp-bench-"));
  const [list, hook] = [join(folder, "loaded.json"), join(folder, "hook.cjs")];
  writeFileSync(
    hook,
    `process.on("exit", () => {
       const files = Object.keys(require.cache).filter((file) => file !== __filename);
       require("node:fs").writeFileSync(${JSON.stringify(list)}, JSON.stringify(files));
     });`,
  );
  await time({ ...candidate, args: ["--require", hook, ...candidate.args] }, cwd);
  const files = JSON.parse(readFileSync(list, "utf8")) as readonly string[];
  rmSync(folder, { recursive: true });
  return { count: files.length, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
}

export async function cli(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "idp-bench-"));
  const start = (data: string): readonly string[] => [bin, "start", "--data", data, "--port", "auto"];
  const running = startUntil(start("running"), "idp ready", folder);
  try {
    await running.ready;
    const issue = "token issue --user alice --client demo-app --data running".split(" ");
    const issued = spawnSync(process.execPath, [bin, ...issue], { cwd: folder, encoding: "utf8", env: environment() });
    const commands: readonly Candidate[] = [
      { name: "idp --version", args: [bin, "--version"] },
      { name: "idp token decode", args: [bin, "token", "decode", issued.stdout.trim()] },
      { name: "idp users list", args: [bin, "users", "list", "--data", "running"] },
      { name: "idp start", args: start("own"), until: "idp ready" },
    ];
    const node: Candidate = { name: "node -e 0", args: ["-e", "0"] };
    const files = new Map<string, Awaited<ReturnType<typeof filesOf>>>();
    // Also makes keys and data, which a start then finds.
    for (const command of commands) files.set(command.name, await filesOf(command, folder));
    const times = new Map<string, number[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const candidate of [node, ...commands]) {
        times.set(candidate.name, [...(times.get(candidate.name) ?? []), await time(candidate, folder)]);
      }
    }
    const of = (name: string): number => median(times.get(name) ?? []);
    console.log(
      `milliseconds from spawn to the end (start: to ready), medians of ${rounds} rounds, Node.js ${process.version}\n`,
    );
    console.log("                    all   beyond node   files     kB");
    const empty = of(node.name);
    console.log(`${node.name.padEnd(16)} ${empty.toFixed(0).padStart(6)}`);
    for (const { name } of commands) {
      const { count = 0, bytes = 0 } = files.get(name) ?? {};
      const [all, kilobytes] = [of(name), bytes / 1000];
      console.log(
        `${name.padEnd(16)} ${all.toFixed(0).padStart(6)} ${(all - empty).toFixed(0).padStart(13)} ${String(count).padStart(7)} ${kilobytes.toFixed(0).padStart(6)}`,
      );
    }
  } finally {
    await stop(running.child);
    rmSync(folder, { recursive: true, force: true });
  }
}
