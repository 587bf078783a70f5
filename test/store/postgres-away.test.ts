/** Changes and reads when the database goes away, hangs, or loses data. */
import { Client } from "pg";
import { expect, test } from "vitest";
import { StorageError, type Store } from "../../src/store/store.ts";
import { openLink } from "../helpers/link.ts";
import { startPostgres } from "../helpers/postgres.ts";
import { count, increment, newIssuer, openInstance } from "./instances.ts";

const postgres = await startPostgres();
const url = await postgres.database();

async function query(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

const numberIn = (store: Store): Promise<number> => store.read((tx) => count(tx));

/** It fails because the database is away, and soon enough for an answer within 5 s. */
async function expectAway(work: Promise<unknown>): Promise<void> {
  const began = performance.now();
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StorageError);
  expect((error as StorageError).away).toBe(true);
  expect(performance.now() - began).toBeLessThan(5000);
}

test("a change whose answer was lost is made once, and answered as made", async () => {
  const issuer = newIssuer();
  const link = await openLink(postgres.port);
  const store = await openInstance(link.through(url), issuer);
  const other = await openInstance(url, issuer);
  await store.transaction(increment());
  link.holdAnswers();
  const change = store.transaction(increment());
  await expect.poll(() => numberIn(other)).toBe(2);
  link.cut();
  expect(await change).toBe(2);
  expect(await numberIn(store)).toBe(2);
  expect(await numberIn(other)).toBe(2);
});

test("a change whose answer was lost, and behind which another instance went on, is made once", async () => {
  const issuer = newIssuer();
  const link = await openLink(postgres.port);
  const store = await openInstance(link.through(url), issuer);
  const other = await openInstance(url, issuer);
  link.holdAnswers();
  const change = store.transaction(increment());
  await expect.poll(() => numberIn(other)).toBe(1);
  expect(await other.transaction(increment())).toBe(2);
  link.cut();
  expect(await change).toBe(1);
  expect(await numberIn(store)).toBe(2);
});

test("a database that hangs: reads and changes fail within 5 s, and work again after it", async () => {
  const store = await openInstance(url, newIssuer());
  await store.transaction(increment());
  postgres.pause();
  try {
    await Promise.all([
      expectAway(numberIn(store)),
      expectAway(store.transaction(increment())),
      expectAway(store.transaction((tx) => count(tx))),
    ]);
  } finally {
    postgres.resume();
  }
  // Whether the change was made is not known, but no more than once.
  const seen = await store.transaction(increment());
  expect([2, 3]).toContain(seen);
  expect(await numberIn(store)).toBeLessThanOrEqual(3);
});

test("an instance that is cut off serves no old data, and all of it when it is back", async () => {
  const issuer = newIssuer();
  const link = await openLink(postgres.port);
  const store = await openInstance(link.through(url), issuer);
  const other = await openInstance(url, issuer);
  await store.transaction(increment());
  link.refuse();
  await other.transaction(increment());
  await expectAway(numberIn(store));
  await expectAway(store.transaction((tx) => count(tx)));
  link.allow();
  expect(await numberIn(store)).toBe(2);
});

test("confirmed changes are there after the database was killed under load", async () => {
  const issuer = newIssuer();
  const stores = await Promise.all([1, 2].map(() => openInstance(url, issuer)));
  for (let round = 0; round < 5; round++) {
    let answered = await numberIn(stores[0] as Store);
    let failed = 0;
    const load = Array.from({ length: 10 }, async (_, i) => {
      for (let n = 0; n < 20; n++) {
        await (stores[i % 2] as Store).transaction(increment()).then(
          (value) => (answered = Math.max(answered, value)),
          () => (failed += 1),
        );
      }
    });
    await postgres.kill();
    await postgres.start();
    await Promise.all(load);
    for (const store of stores) {
      await expect.poll(() => numberIn(store).catch(() => null)).not.toBeNull();
      expect(await numberIn(store)).toBeGreaterThanOrEqual(answered);
      expect(await numberIn(store)).toBeLessThanOrEqual(answered + failed);
    }
  }
});

test("an instance that is far behind reads the snapshot, and appends nothing at a number that is free again", async () => {
  const issuer = newIssuer();
  const [store, other, third] = await Promise.all([1, 2, 3].map(() => openInstance(url, issuer)));
  if (store === undefined || other === undefined || third === undefined) throw new Error("three instances");
  await other.transaction(increment());
  const first = async () =>
    Number((await query("select min(seq) as seq from idp_journal where issuer = $1", [issuer]))[0]?.["seq"]);
  const text = "x".repeat(100_000);
  // The second snapshot drops what the first one held.
  for (let i = 0; i < 200 && (await first()) < 5; i++) await store.transaction(increment("big", text));
  expect(await first()).toBeGreaterThan(5);
  // The position of `other` is gone. Its work runs again on the current data.
  expect(await other.transaction(increment())).toBe(2);
  expect(await numberIn(third)).toBe(2);
  const big = await store.read((tx) => count(tx, "big"));
  for (const one of [other, third]) expect(await one.read((tx) => count(tx, "big"))).toBe(big);
  // A start reads the snapshot too.
  const late = await openInstance(url, issuer);
  expect(await late.read((tx) => [count(tx), count(tx, "big")])).toEqual([2, big]);
});

test("a database that was set back to an earlier state is believed", async () => {
  const issuer = newIssuer();
  const store = await openInstance(url, issuer);
  for (let i = 0; i < 3; i++) await store.transaction(increment());
  // As after a failover that lost the last entry, in whose place another instance wrote.
  const other = newIssuer();
  await query(
    `with journal as (
       update idp_journal set id = $2, entry = replace(entry, '"content":3', '"content":30') where issuer = $1 and seq = 3
     )
     update idp_issuers set head_id = $2 where name = $1`,
    [issuer, other],
  );
  expect(await numberIn(store)).toBe(30);
  expect(await store.transaction(increment())).toBe(31);
});
