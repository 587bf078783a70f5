import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A spawned `idp start` over a folder of its own, with as many users and grants as asked for. */

const bin = fileURLToPath(new URL("../bin/idp.js", import.meta.url));

export interface Server {
  readonly issuer: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export const clientId = "bench-app";
export const clientSecret = "bench-secret";
export const callback = "http://localhost:3000/callback";
export const username = (index: number): string => `user${index}`;

export async function startServer(count: number, flags: readonly string[] = []): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "idp-bench-"));
  const fixtures = join(folder, "fixtures.json");
  const users = Array.from({ length: count }, (_, index) => ({ username: username(index) }));
  const grants = users.map((user) => ({ user: user.username, client: clientId, scope: "openid profile email" }));
  const clients = [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [callback] }];
  writeFileSync(fixtures, JSON.stringify({ users, clients, grants }));

  const command = [
    bin,
    "start",
    "--data",
    join(folder, "data"),
    "--fixtures",
    fixtures,
    "--port",
    "auto",
    "--quiet",
    ...flags,
  ];
  const { NODE_ENV: _, ...env } = process.env;
  const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"], env });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const issuer = await new Promise<string>((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      const ready = /^idp ready (\S+) pid \d+$/m.exec(printed)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    void ended.then(() => {
      reject(new Error("idp start ended before it was ready"));
    });
  });
  return {
    issuer,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
