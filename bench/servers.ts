import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openConnection } from "./connection.ts";
import { callback, clientSecret, idp, oidcProvider, username, type Kind } from "./sign-in.ts";

/** The servers that are measured. Each is a process pinned to one core, with its state in its own folder. */

const serverCore = 0;
const loadCore = 1;

const hasTaskset = spawnSync("taskset", ["--version"]).status === 0;

/** Keeps this process off the core of the servers. @returns false if the system cannot pin processes, which makes the figures less exact */
export function pinLoad(): boolean {
  return hasTaskset && spawnSync("taskset", ["-a", "-c", "-p", String(loadCore), String(process.pid)]).status === 0;
}

export interface Server {
  readonly port: number;
  readonly pid: number;
  readonly kind: Kind;
  stop(): Promise<void>;
}

/** How a server is started; `files` are written into its folder first. */
export interface Launch {
  readonly kind: (port: number) => Kind;
  readonly command: (port: number, folder: string) => readonly string[];
  readonly files: Readonly<Record<string, () => string>>;
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

function spawnPinned(command: readonly string[], folder: string): ChildProcess {
  const words = [process.execPath, ...command];
  const [program = "", ...rest] = hasTaskset ? ["taskset", "-c", String(serverCore), ...words] : words;
  // Node.js 20 reads extra certificates at each start of any program: README.md.
  const { NODE_ENV: _, NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
  // In its folder, so that nothing of the working folder (fixtures, .idp) counts.
  return spawn(program, rest, { stdio: ["ignore", "ignore", "inherit"], env, cwd: folder });
}

/** Resolves with the first answer, whatever it says. @throws if the process ends before it */
async function firstAnswer(port: number, hasEnded: () => boolean): Promise<void> {
  for (;;) {
    const connection = await openConnection(port).catch(() => null);
    if (connection !== null) {
      await connection.send("GET", "/.well-known/openid-configuration");
      connection.close();
      return;
    }
    if (hasEnded()) throw new Error("a server ended before it answered");
    await delay(1);
  }
}

/** The server of a process, once it answers. */
export async function answering(child: ChildProcess, port: number, kind: Launch["kind"]): Promise<Server> {
  let hasEnded = false;
  const ended = new Promise<void>((resolve) =>
    child.once("exit", () => {
      hasEnded = true;
      resolve();
    }),
  );
  await firstAnswer(port, () => hasEnded);
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  return { port, pid: child.pid ?? 0, kind: kind(port), stop };
}

/** A folder for a server, in which it can be started again with its data. */
export interface Site {
  /** @returns the server, and the milliseconds from spawn to its first answer */
  start(): Promise<{ readonly server: Server; readonly ms: number }>;
  remove(): void;
}

export function createSite({ kind, command, files }: Launch): Site {
  const folder = mkdtempSync(join(tmpdir(), "idp-bench-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content());
  return {
    start: async () => {
      const port = await freePort();
      const began = performance.now();
      const child = spawnPinned(command(port, folder), folder);
      const server = await answering(child, port, kind);
      return { server, ms: performance.now() - began };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** How many clients without a consent the full flows of a run need for this many users. */
const freshFlows = 100_000;
export const freshClients = (users: number): number => Math.ceil(freshFlows / users);

export function fixtures(users: number): string {
  const client = (client_id: string) => ({ client_id, client_secret: clientSecret, redirect_uris: [callback] });
  const names = Array.from({ length: users }, (_, index) => username(index));
  return JSON.stringify({
    users: names.map((name) => ({ username: name, email: `${name}@example.com` })),
    clients: [client("app"), ...Array.from({ length: freshClients(users) }, (_, index) => client(`app${index}`))],
    grants: names.map((user) => ({ user, client: "app", scope: "openid profile email" })),
  });
}

/** The checkout that is measured. */
export const thisVersion = fileURLToPath(new URL("..", import.meta.url));

export const idpCommand = (checkout: string, port: number, ...flags: readonly string[]): readonly string[] => [
  join(checkout, "bin/idp.js"),
  "start",
  "--quiet",
  "--port",
  String(port),
  ...flags,
];

/**
 * `idp start` with its data on disk, `users` users, and a grant for each.
 * @param checkout the folder of a built version; default: this one
 */
export const idpWith = (users: number, checkout = thisVersion): Launch => ({
  kind: idp,
  command: (port, folder) =>
    idpCommand(checkout, port, "--data", join(folder, "data"), "--fixtures", join(folder, "fixtures.json")),
  files: { "fixtures.json": () => fixtures(users) },
});

/** `idp start` with the built-in demo. */
export const idpDemo = (checkout = thisVersion): Launch => ({
  kind: idp,
  command: (port) => idpCommand(checkout, port),
  files: {},
});

/** @param users as for {@link idpWith}, for as many full flows */
export const oidcProviderWith = (users: number): Launch => ({
  kind: oidcProvider,
  command: (port) => [pathOf("peers/oidc-provider.js"), String(port), String(freshClients(users))],
  files: {},
});

/** What a process has used so far. */
export interface Used {
  /** Microseconds of processor time. */
  readonly cpu: number;
  /** Bytes that it had written to the disk. */
  readonly disk: number;
}

/** Linux only. */
export function usedBy(pid: number): Used {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
    const io = readFileSync(`/proc/${pid}/io`, "utf8");
    // Always 100 ticks a second (proc_pid_stat(5)).
    return { cpu: (user + system) * 10_000, disk: Number(/^write_bytes: (\d+)/m.exec(io)?.[1]) };
  } catch {
    return { cpu: Number.NaN, disk: Number.NaN };
  }
}

/** Resident memory in bytes. */
export function memoryOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}
