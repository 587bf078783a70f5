import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { runPostgres } from "../test/helpers/postgres-server.ts";
import { flowsOf, freshPairs, type FlowName } from "./flows.ts";
import { measure, median, type Figures } from "./measure.ts";
import { answering, fixtures, freePort, freshClients, idpCommand, thisVersion, type Server } from "./servers.ts";
import { idp } from "./sign-in.ts";

/** `npm run bench -- shared`: instances on one PostgreSQL beside one server on a data folder, as a table for docs/performance.md. */

const users = 1000;
const connections = 12;
const flows: readonly FlowName[] = ["full", "refresh", "userinfo"];

interface Group {
  readonly name: string;
  readonly servers: readonly Server[];
}

interface Options {
  readonly rounds: number;
  readonly seconds: number;
}

async function startOne(folder: string, issuer: number | null, store: string | null): Promise<Server> {
  const port = await freePort();
  const place = store === null ? ["--data", join(folder, "data")] : ["--issuer", `http://localhost:${issuer ?? port}`];
  const words = idpCommand(thisVersion, port, ...place, "--fixtures", join(folder, "fixtures.json"));
  const { NODE_ENV: _, ...env } = process.env;
  const more = store === null ? {} : { IDP_STORE: store };
  const child = spawn(process.execPath, words, {
    ...{ stdio: ["ignore", "ignore", "inherit"], env: { ...env, ...more }, cwd: folder },
  });
  return answering(child, port, idp);
}

/** All instances at once, each with its share of the connections. */
async function together({ servers }: Group, flow: FlowName, next: ReturnType<typeof freshPairs>, ms: number) {
  const share = { connections: connections / servers.length, ms, users };
  const all = await Promise.all(servers.map((server) => measure(server, flowsOf(server.kind, next)[flow], share)));
  const of = (figure: keyof Figures): readonly number[] => all.map((figures) => figures[figure]);
  return { rate: of("rate").reduce((sum, rate) => sum + rate, 0), p50: median(of("p50")), cpu: median(of("cpu")) };
}

export async function shared({ rounds, seconds }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `idp-bench-${randomUUID().slice(0, 8)}-`));
  writeFileSync(join(folder, "fixtures.json"), fixtures(users));
  const postgres = await runPostgres();
  const started: Server[] = [];
  const start = async (issuer: number | null, store: string | null): Promise<Server> => {
    const server = await startOne(folder, issuer, store);
    started.push(server);
    return server;
  };
  try {
    const groups: Group[] = [{ name: "data folder", servers: [await start(null, null)] }];
    for (const count of [1, 2, 3]) {
      const store = await postgres.database();
      const servers = [await start(null, store)];
      while (servers.length < count) servers.push(await start(servers[0]?.port ?? null, store));
      groups.push({ name: count === 1 ? "1 instance" : `${count} instances`, servers });
    }
    const pairs = new Map(groups.map(({ name }) => [name, freshPairs(users, freshClients(users))]));
    const lines: string[] = [];
    for (const flow of flows) {
      const figures = new Map(groups.map(({ name }) => [name, [] as Awaited<ReturnType<typeof together>>[]]));
      for (let round = -1; round < rounds; round += 1) {
        process.stderr.write(`${flow}, round ${round + 1} of ${rounds}\n`);
        for (const group of groups) {
          const next = pairs.get(group.name);
          if (next === undefined) continue;
          const measured = await together(group, flow, next, seconds * 1000);
          // The first round is not counted: V8 is still compiling.
          if (round >= 0) figures.get(group.name)?.push(measured);
        }
      }
      for (const [name, measured] of figures) {
        const of = (figure: "rate" | "p50" | "cpu"): number => median(measured.map((one) => one[figure]));
        lines.push(
          `| ${flow} | ${name} | ${Math.round(of("rate"))} | ${of("p50").toFixed(2)} | ${Math.round(of("cpu"))} |`,
        );
      }
    }
    const machine = `${cpus().length} cores, shared by the instances, PostgreSQL and the load; ${connections} connections; Node.js ${process.version}.`;
    const head = ["| Flow | Records in | flows/s | p50 ms | CPU µs |", "| --- | --- | --- | --- | --- |"];
    process.stdout.write(`${[machine, "", ...head, ...lines].join("\n")}\n`);
  } finally {
    for (const server of started) await server.stop();
    await postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
