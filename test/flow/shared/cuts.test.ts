import { expect, onTestFinished, test } from "vitest";
import { createPeople } from "../../helpers/people.ts";
import { adminToken, call, startInstances, type Instance } from "../../helpers/instances.ts";
import { idp, newFolder } from "../../helpers/cli.ts";
import { openLink } from "../../helpers/link.ts";
import { newDatabase, startPostgres } from "../../helpers/postgres.ts";
import { timeLimit } from "../../helpers/runs.ts";

/** Connections to the database break in the middle of what instances and commands do there. */

/** A statement of each thing that happens on a connection of its own: a start, an issuer, a snapshot of the records, the removal of an issuer. */
const moments = [
  "begin isolation level repeatable read",
  "select part, content from idp_snapshots",
  "pg_try_advisory_xact_lock",
  "insert into idp_snapshots",
  "update idp_issuers set snapshot",
  "delete from idp_ledgers",
  "insert into idp_journal",
  "insert into idp_requests",
  "from idp_journal where issuer",
];

interface Load {
  /** The last change of each kind that was answered. */
  readonly answered: { number: number; readonly issuers: Set<string>; readonly removed: Set<string> };
  readonly statuses: Map<number, number>;
  readonly stop: () => Promise<void>;
}

/** Changes and reads at each instance, which grow the journal until snapshots are due. */
function startLoad(instances: readonly Instance[], people: ReturnType<typeof createPeople>): Load {
  const answered: Load["answered"] = { number: 0, issuers: new Set(), removed: new Set() };
  const statuses: Load["statuses"] = new Map();
  let isOver = false;
  let next = 0;
  async function ask(...[at, method, path, body]: Parameters<typeof call>): Promise<boolean> {
    const { status } = await call(at, method, path, body);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    return status < 300;
  }
  const text = "x".repeat(60_000);
  const work = instances.flatMap((instance, index) => [
    async () => {
      const number = (next += 1);
      const claims = { number, text };
      if (await ask(instance, "PATCH", `/users/load-${index}`, { claims }))
        answered.number = Math.max(answered.number, number);
    },
    async () => {
      const name = `made-${(next += 1)}`;
      if (!(await ask(instance, "POST", "/issuers", { name, fixtures: { users: [{ username: "eve" }] } }))) return;
      answered.issuers.add(name);
      if (next % 2 === 0) return;
      // Whether it is gone is not known until the answer.
      answered.issuers.delete(name);
      if (await ask(instance, "DELETE", `/issuers/${name}`)) answered.removed.add(name);
    },
    ...people.all
      .filter((_person, at) => at % instances.length === index)
      .map((person) => () => people.act(instance, person).catch(() => undefined)),
  ]);
  const running = work.map(async (one) => {
    while (!isOver) await one();
  });
  return {
    answered,
    statuses,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

test(
  "two instances survive twenty cuts and a killed database, and nothing that was answered is lost",
  { timeout: timeLimit },
  async () => {
    const people = createPeople(6, adminToken);
    const postgres = await startPostgres();
    const link = await openLink(postgres.port);
    const through = { ...postgres, database: async () => link.through(await postgres.database()) };
    const users = [...people.fixtures.users, { username: "load-0" }, { username: "load-1" }];
    const { at } = await startInstances(
      2,
      { ...people.fixtures, users },
      { postgres: through, flags: ["--issuers", "1"] },
    );
    const both = [at(0), at(1)];
    const load = startLoad(both, people);
    onTestFinished(load.stop);
    const healthy = async (instance: Instance): Promise<void> => {
      expect([instance.child.exitCode, instance.output.stderr]).toEqual([null, expect.anything()]);
      await expect.poll(async () => (await fetch(`${instance.issuer}/_idp/health`)).status, { interval: 50 }).toBe(200);
    };
    for (let round = 0; round < 20; round += 1) {
      await link.cutAt(moments[round % moments.length] ?? "");
      await Promise.all(both.map(healthy));
    }
    await postgres.kill();
    await postgres.start();
    await Promise.all(both.map(healthy));
    await load.stop();
    expect([...load.statuses.keys()].filter((status) => status >= 300)).toEqual([503]);
    const list = (await call(at(0), "GET", "/issuers")).json as readonly { readonly name: string }[];
    const names = new Set(list.map(({ name }) => name));
    expect([...load.answered.issuers].filter((name) => !names.has(name))).toEqual([]);
    expect([...load.answered.removed].filter((name) => names.has(name))).toEqual([]);
    const changed = await Promise.all(
      [0, 1].map(
        async (index) => (await call(at(1), "GET", `/users/load-${index}`)).json as { claims: { number: number } },
      ),
    );
    expect(Math.max(...changed.map(({ claims }) => claims.number))).toBeGreaterThanOrEqual(load.answered.number);
    await people.check(() => at(0));
  },
);

test("an issuer whose making was interrupted is nowhere, and its name is free", async () => {
  const postgres = await startPostgres();
  const link = await openLink(postgres.port);
  const through = { ...postgres, database: async () => link.through(await postgres.database()) };
  const { at } = await startInstances(1, {}, { postgres: through, flags: ["--issuers", "1"] });
  const names = async () =>
    ((await call(at(0), "GET", "/issuers")).json as readonly { readonly name: string }[]).map(({ name }) => name);
  const before = await names();
  // Its name is claimed, and nothing else of it is written.
  const cut = link.cutAt("begin isolation level repeatable read").then(() => link.refuse());
  const made = await call(at(0), "POST", "/issuers", { name: "half", fixtures: { users: [{ username: "eve" }] } });
  await cut;
  expect(made.status).toBe(503);
  link.allow();
  await expect.poll(names).toEqual(before);
  expect((await call(at(0), "POST", "/issuers", { name: "half", fixtures: {} })).status).toBe(201);
  expect((await call({ issuer: `${at(0).issuer}/i/half` }, "GET", "/users")).json).toEqual([]);
});

test("a command whose connection breaks ends with 5, and names the database", async () => {
  const link = await openLink(Number(new URL(await newDatabase()).port));
  const cwd = newFolder();
  for (const moment of ["pg_advisory_xact_lock", "begin isolation level repeatable read", "insert into idp_journal"]) {
    const store = link.through(await newDatabase());
    let isOver = false;
    // Each time: a statement may be sent again.
    const again = (): void => void link.cutAt(moment).then(() => isOver || again());
    again();
    const ended = await idp(["users", "add", "erin"], { cwd, env: { IDP_STORE: store } });
    isOver = true;
    expect([moment, ended.code, ended.stderr]).toEqual([
      moment,
      5,
      expect.stringContaining("postgres://idp@127.0.0.1"),
    ]);
  }
});
