import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median } from "./measure.ts";

/** How long commands take from a cold start, beside Node.js that does nothing, and how much of it the loading of modules is. */

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

/** The files that it loads, in their order, as Node's own loader tells. */
async function modulesOf(candidate: Candidate, cwd: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "idp-bench-"));
  writeFileSync(
    join(folder, "hooks.mjs"),
    `import { appendFileSync } from "node:fs";
     export async function load(url, context, next) {
       if (url.startsWith("file:")) appendFileSync(new URL("loaded.txt", import.meta.url), url + "\\n");
       return next(url, context);
     }`,
  );
  const register = `import { register } from "node:module"; register("./hooks.mjs", import.meta.url);`;
  writeFileSync(join(folder, "register.mjs"), register);
  const hooked = ["--import", pathToFileURL(join(folder, "register.mjs")).href, ...candidate.args];
  await time({ ...candidate, args: hooked }, cwd);
  const loaded = readFileSync(join(folder, "loaded.txt"), "utf8").trim().split("\n");
  rmSync(folder, { recursive: true });
  return [...new Set(loaded)];
}

/** Loads the same files and does nothing with them: all but the one that runs the command. */
function loading(name: string, modules: readonly string[], folder: string): Candidate {
  const file = join(folder, `${name.replaceAll(/\W+/g, "-")}.mjs`);
  const loaded = modules.filter((url) => !/\/(bin\/idp|dist\/cli\/main)\.js$/.test(url));
  writeFileSync(file, loaded.map((url) => `import ${JSON.stringify(url)};\n`).join(""));
  return { name: `${name}, modules`, args: [file] };
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
    const modules = new Map<string, readonly string[]>();
    // Also makes keys and data, which a start then finds.
    for (const command of commands) modules.set(command.name, await modulesOf(command, folder));
    const bare = commands.map(({ name }) => loading(name, modules.get(name) ?? [], folder));
    const times = new Map<string, number[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const candidate of [node, ...commands, ...bare]) {
        times.set(candidate.name, [...(times.get(candidate.name) ?? []), await time(candidate, folder)]);
      }
    }
    const of = (name: string): number => median(times.get(name) ?? []);
    console.log(
      `milliseconds from spawn to the end (start: to ready), medians of ${rounds} rounds, Node.js ${process.version}\n`,
    );
    console.log("                    all   beyond node   of it modules   files");
    const empty = of(node.name);
    console.log(`${node.name.padEnd(16)} ${empty.toFixed(0).padStart(6)}`);
    for (const { name } of commands) {
      const [all, loaded] = [of(name), of(`${name}, modules`)];
      const share = `${(loaded - empty).toFixed(0)} (${Math.round(((loaded - empty) / (all - empty)) * 100)} %)`;
      const files = String(modules.get(name)?.length ?? 0);
      console.log(
        `${name.padEnd(16)} ${all.toFixed(0).padStart(6)} ${(all - empty).toFixed(0).padStart(13)} ${share.padStart(15)} ${files.padStart(7)}`,
      );
    }
  } finally {
    await stop(running.child);
    rmSync(folder, { recursive: true, force: true });
  }
}
