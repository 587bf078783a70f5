import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { flowNames, flowsOf, freshPairs } from "./flows.ts";
import { measure, median, repeat, type Figures } from "./measure.ts";
import { printReport, type LoadOptions, type Report, type Row } from "./report.ts";
import {
  createSite,
  freshClients,
  idpDemo,
  idpWith,
  memoryOf,
  oidcProviderWith,
  pinLoad,
  type Launch,
  type Server,
} from "./servers.ts";

/** `npm run bench -- load`: flows, memory and start-up, beside other servers. README.md says what each figure is. */

/** Users and grants of the `idp` that is compared with the other servers. */
const usual = 1000;
const many = 100_000;

const starts = 11;

interface Contestant {
  readonly name: string;
  readonly launch: Launch;
  readonly users: number;
}

const contestants = ({ before }: LoadOptions): readonly Contestant[] => [
  { name: `idp ${usual}`, launch: idpWith(usual), users: usual },
  { name: `idp ${many}`, launch: idpWith(many), users: many },
  ...(before === null ? [] : [{ name: "before", launch: idpWith(usual, before), users: usual }]),
  { name: "oidc-provider", launch: oidcProviderWith(usual), users: usual },
];

interface Running extends Contestant {
  readonly server: Server;
  readonly next: () => { readonly user: number; readonly client: string };
}

const progress = (text: string): void => void process.stderr.write(`${text}\n`);

async function measureFlows(running: readonly Running[], options: LoadOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const flow of options.flows) {
    const figures = new Map<string, Figures[]>(running.map(({ name }) => [name, []]));
    const { connections, seconds } = options;
    for (const { name, server, next } of running) {
      progress(`${flow}, not counted: ${name}`);
      await repeat(server, flowsOf(server.kind, next)[flow], options.warmUp, connections);
    }
    for (let round = 0; round < options.rounds; round += 1) {
      progress(`${flow}, round ${round + 1} of ${options.rounds}`);
      // Each round begins with another server.
      for (let turn = 0; turn < running.length; turn += 1) {
        const one = running[(round + turn) % running.length];
        if (one === undefined) continue;
        const prepare = flowsOf(one.server.kind, one.next)[flow];
        const window = { connections, ms: seconds * 1000, users: one.users };
        // Turns are counted by round, whichever came first in it.
        figures.get(one.name)?.push(await measure(one.server, prepare, window));
      }
    }
    for (const [name, rounds] of figures) rows.push({ flow, name, rounds });
  }
  return rows;
}

async function measureMemory(options: LoadOptions): Promise<Report["memory"]> {
  const memory: { name: string; before: number; after: number }[] = [];
  for (const { name, launch, users } of contestants(options)) {
    if (users !== usual) continue;
    progress(`memory after ${options.memoryFlows} full flows: ${name}`);
    const site = createSite(launch);
    const { server } = await site.start();
    try {
      const before = memoryOf(server.pid);
      const { full } = flowsOf(server.kind, freshPairs(users, freshClients(users)));
      await repeat(server, full, options.memoryFlows, options.connections);
      memory.push({ name, before, after: memoryOf(server.pid) });
    } finally {
      await server.stop();
      site.remove();
    }
  }
  return memory;
}

/** Milliseconds: a server that has just started still writes what the next start finds. */
const firstRun = 2000;

/** From spawn to the first answer; the first start, which makes keys, is not counted. */
async function measureStarts({ before }: LoadOptions): Promise<Report["starts"]> {
  const entered = [
    { name: "idp", launch: idpDemo() },
    ...(before === null ? [] : [{ name: "before", launch: idpDemo(before) }]),
    { name: "oidc-provider", launch: oidcProviderWith(usual) },
  ].map(({ name, launch }) => ({ name, site: createSite(launch), times: [] as number[] }));
  for (let turn = -1; turn < starts; turn += 1) {
    progress(`start ${turn + 1} of ${starts}`);
    for (const { site, times } of entered) {
      const { server, ms } = await site.start();
      if (turn < 0) await delay(firstRun);
      await server.stop();
      if (turn >= 0) times.push(ms);
    }
  }
  for (const { site } of entered) site.remove();
  return entered.map(({ name, times }) => ({ name, ms: median(times), times }));
}

export async function load(options: LoadOptions): Promise<void> {
  const pinned = pinLoad();
  const withRest = options.memoryFlows > 0;
  const startTimes = withRest ? await measureStarts(options) : [];
  const memory = withRest ? await measureMemory(options) : [];
  const running: Running[] = [];
  const sites: { remove: () => void }[] = [];
  try {
    for (const contestant of contestants(options)) {
      progress(`starting ${contestant.name}`);
      const site = createSite(contestant.launch);
      sites.push(site);
      const { server } = await site.start();
      const { users } = contestant;
      running.push({ ...contestant, server, next: freshPairs(users, freshClients(users)) });
    }
    const rows = await measureFlows(running, options);
    const machine = `Node.js ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "?"}`;
    printReport({ machine, pinned, options, rows, memory, starts: startTimes });
  } finally {
    for (const { server } of running) await server.stop();
    for (const site of sites) site.remove();
  }
}

export const defaults: LoadOptions = {
  rounds: 5,
  seconds: 1.2,
  connections: 8,
  // A server is level after some 4,000 sign-ins: V8 compiles a flow's code while it runs.
  warmUp: 4000,
  flows: flowNames,
  memoryFlows: 20_000,
  before: null,
  json: false,
};
