import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, startIdp, storeOf, type Place, type RunningIdp } from "./cli.ts";
import { freePort } from "./port.ts";
import { newDatabase, type TestPostgres } from "./postgres.ts";
import { startRoundRobin } from "./round-robin.ts";
import { testInstances } from "./runs.ts";

/** Several `idp start` on one PostgreSQL, behind a load balancer without stickiness. */

/** One of them; its `issuer` is its own address, so that helpers send their requests to it. */
export interface Instance extends RunningIdp {
  readonly port: string;
}

export interface Instances {
  /** The issuer that all of them have: the balancer. */
  readonly issuer: string;
  /** The address of the store, with its password. */
  readonly store: string;
  readonly cwd: string;
  /** By their number, from 0 on. */
  readonly at: (index: number) => Instance;
  /** Starts one that has ended, on its port. */
  readonly restart: (index: number) => Promise<Instance>;
}

/** The admin token of all of them. */
export const adminToken = "the-admin-token-of-all-instances";

export async function startInstances(
  count: number,
  fixtures: object,
  {
    flags = [],
    atEnd,
    postgres,
  }: {
    readonly flags?: readonly string[];
    readonly atEnd?: Parameters<typeof startIdp>[2];
    /** Of the test's own, which it stops. */
    readonly postgres?: TestPostgres;
  } = {},
): Promise<Instances> {
  const store = await (postgres?.database() ?? newDatabase());
  const cwd = newFolder(atEnd);
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  const balancer = await startRoundRobin();
  const all: Instance[] = [];
  async function start(port: string): Promise<Instance> {
    const args = ["--port", port, "--issuer", balancer.url, "--quiet", ...flags];
    const env = { IDP_STORE: store, IDP_ADMIN_TOKEN: adminToken };
    return { ...(await startIdp(args, { cwd, env }, atEnd)), issuer: `http://localhost:${port}`, port };
  }
  for (let index = 0; index < count; index += 1) all.push(await start(await freePort()));
  balancer.servers = all.map(({ port }) => Number(port));
  const at = (index: number): Instance => {
    const instance = all[index % count];
    if (instance === undefined) throw new Error("there are no instances");
    return instance;
  };
  return {
    ...{ issuer: balancer.url, store, cwd, at },
    restart: async (index) => (all[index] = await start(at(index).port)),
  };
}

/** In place of one `idp start`: see `testInstances`. What is asked of its process is asked of the first one's. */
export async function startAsOne(
  args: readonly string[],
  { cwd, env = {} }: Place,
  atEnd: Parameters<typeof startIdp>[2],
): Promise<RunningIdp> {
  const store = await newDatabase();
  storeOf.set(cwd, store);
  const balancer = await startRoundRobin(Number(args[args.indexOf("--port") + 1] ?? 0) || 0);
  const kept = args.filter((word, at) => !["--memory", "--port"].includes(word) && args[at - 1] !== "--port");
  const issuer = kept.includes("--issuer") ? [] : ["--issuer", balancer.url];
  const all: RunningIdp[] = [];
  for (let count = 0; count < testInstances; count += 1) {
    const port = await freePort();
    balancer.servers = [...balancer.servers, Number(port)];
    const place = { cwd, env: { IDP_ADMIN_TOKEN: adminToken, ...env, IDP_STORE: store } };
    all.push(await startIdp([...kept, ...issuer, "--port", port], place, atEnd));
  }
  const [first] = all;
  if (first === undefined) throw new Error("there are no instances");
  return first;
}

/** An operation of the control API of one of them. */
export async function call(
  { issuer }: { readonly issuer: string },
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const response = await fetch(`${issuer}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? null : JSON.parse(text) };
}
