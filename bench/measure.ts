import { openConnection } from "./connection.ts";
import type { Prepare } from "./flows.ts";
import { usedBy, type Server } from "./servers.ts";

/** Figures of one window of time at one server. */
export interface Figures {
  /** Flows a second. */
  readonly rate: number;
  /** Milliseconds that a flow takes, its requests one after the other. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of the server's processor time a flow. */
  readonly cpu: number;
  /** Bytes that the server had written to the disk, a flow. */
  readonly disk: number;
  /** The share of its core that the load generator itself used. */
  readonly load: number;
}

/** How often each connection runs a flow at the begin of a turn, uncounted: after a rest V8 has discarded much of what it compiled for it. */
const again = 50;

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
};

/**
 * Runs a flow on several connections at once, each as fast as it goes.
 * @param options `ms`: for how long; `users`: how many there are to sign in with
 */
export async function measure(
  server: Server,
  prepare: Prepare,
  { connections, ms, users }: { readonly connections: number; readonly ms: number; readonly users: number },
): Promise<Figures> {
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(server.port)));
  // Users from all over the data, not the first ones only.
  const userOf = (index: number): number => Math.floor((index * users) / connections);
  const runs = await Promise.all(opened.map((connection, index) => prepare(connection, userOf(index))));

  await Promise.all(
    runs.map(async (run) => {
      for (let time = 0; time < again; time += 1) await run();
    }),
  );
  const spend = async (until: number, took: (ms: number) => void): Promise<void> => {
    await Promise.all(
      runs.map(async (run) => {
        for (let began = performance.now(); began < until;) {
          await run();
          const ended = performance.now();
          took(ended - began);
          began = ended;
        }
      }),
    );
  };
  const times: number[] = [];
  const before = usedBy(server.pid);
  const ownBefore = process.cpuUsage();
  const began = performance.now();
  await spend(began + ms, (time) => times.push(time));
  const elapsed = performance.now() - began;
  const own = process.cpuUsage(ownBefore);
  const after = usedBy(server.pid);
  for (const connection of opened) connection.close();

  times.sort((a, b) => a - b);
  return {
    rate: (times.length * 1000) / elapsed,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    cpu: (after.cpu - before.cpu) / times.length,
    disk: (after.disk - before.disk) / times.length,
    load: (own.user + own.system) / 1000 / elapsed,
  };
}

/** Runs a flow so many times. */
export async function repeat(server: Server, prepare: Prepare, times: number, connections: number): Promise<void> {
  let left = times;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await openConnection(server.port);
      const run = await prepare(connection, 0);
      while (left > 0) {
        left -= 1;
        await run();
      }
      connection.close();
    }),
  );
}
