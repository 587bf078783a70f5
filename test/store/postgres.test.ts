/** The store on a real PostgreSQL: the contract, alone and with others beside it. */
import { describe, expect, onTestFinished, test } from "vitest";
import { OvertakenError } from "../../src/store/journal.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { createJournal, openJournal } from "../../src/store/postgres/journal.ts";
import { compareClocks, prepareSchema } from "../../src/store/postgres/schema.ts";
import type { Store } from "../../src/store/store.ts";
import { newDatabase } from "../helpers/postgres.ts";
import { runTwice } from "../helpers/run-twice.ts";
import { storeContract } from "./contract.ts";
import { count, increment, newIssuer, openAt, openInstance } from "./instances.ts";
import { journalContract, type OpenJournal } from "./journal-contract.ts";
import { code, session, user } from "./records.ts";

const url = await newDatabase();
const log = (): void => undefined;

async function newJournal(): Promise<OpenJournal> {
  const database = openDatabase(url, log);
  onTestFinished(() => database.close());
  await prepareSchema(database, log);
  const issuer = newIssuer();
  await createJournal(database, issuer, null);
  const open = () => openJournal(database, issuer, () => undefined);
  const journal = open();
  const { place } = await journal.since({ seq: -1, id: "" });
  return { journal, start: place, again: async () => open() };
}

journalContract("postgres", newJournal);

test("after the database was set back, another entry of the same number is not the place that a writer knows", async () => {
  const { journal, start } = await newJournal();
  const { seq } = await journal.append(start, []);
  const lost = { seq, id: "of the entry that was there before" };
  await expect(journal.append(lost, [])).rejects.toThrow(OvertakenError);
  // It reads all records again.
  expect(await journal.since(lost)).toMatchObject({ records: expect.any(Object) });
});

storeContract("postgres", (clock) => openAt(url, newIssuer(), clock));
storeContract("postgres, run twice", async (clock) => runTwice(await openAt(url, newIssuer(), clock)));

describe("three instances on one database", () => {
  const open = (): Promise<readonly Store[]> => {
    const issuer = newIssuer();
    return Promise.all([1, 2, 3].map(() => openInstance(url, issuer)));
  };
  const ofEach = <T>(stores: readonly Store[], n: number, work: (store: Store) => Promise<T>): Promise<T[]> =>
    Promise.all(stores.flatMap((store) => Array.from({ length: n }, () => work(store))));

  test("no update is lost under contention, and each answer is the one that counts", async () => {
    const seen = await ofEach(await open(), 50, (store) => store.transaction(increment()));
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
  });

  test("all of them get on, however busy the others are", async () => {
    const stores = await open();
    const end = performance.now() + 3000;
    const done = stores.map(() => 0);
    await Promise.all(
      stores.flatMap((store, which) =>
        Array.from({ length: 10 }, async () => {
          while (performance.now() < end) {
            await store.transaction(increment());
            done[which] = (done[which] ?? 0) + 1;
          }
        }),
      ),
    );
    const sum = done.reduce((a, b) => a + b);
    expect(await stores[0]?.read(count)).toBe(sum);
    expect(Math.min(...done), String(done)).toBeGreaterThan(sum / 20);
  });

  test("one of sixty that use up a record gets it", async () => {
    const stores = await open();
    await stores[0]?.transaction((tx) => tx.insert("codes", code("c", Date.now() + 60_000)));
    const got = await ofEach(stores, 20, (store) => store.transaction((tx) => tx.remove("codes", "c") !== undefined));
    expect(got.filter(Boolean)).toHaveLength(1);
  });

  test("a unique value belongs to one record, and the refusal says why", async () => {
    const stores = await open();
    const results = await ofEach(stores, 10, (store) =>
      store
        .transaction((tx) => tx.insert("users", user("alice", { id: newIssuer() })))
        .then(
          () => "made",
          (error: unknown) => (error as Error).name,
        ),
    );
    expect(results.filter((one) => one === "made")).toHaveLength(1);
    expect(new Set(results)).toEqual(new Set(["made", "ConflictError"]));
  });

  test.each(["read", "transaction"] as const)(
    "a confirmed change is seen by each later %s, at every instance",
    async (way) => {
      const [writer, ...others] = await open();
      let answered = 0;
      const write = async () => {
        while (answered < 100) answered = (await writer?.transaction(increment())) ?? NaN;
      };
      const look = async (store: Store) => {
        while (answered < 100) {
          const before = answered;
          expect(await store[way]((tx) => count(tx))).toBeGreaterThanOrEqual(before);
        }
      };
      await Promise.all([write(), ...others.flatMap((store) => Array.from({ length: 10 }, () => look(store)))]);
    },
  );

  test("what follows the records is never older than they are", async () => {
    const [one, other] = await open();
    if (one === undefined || other === undefined) throw new Error("two instances");
    const seen: unknown[] = [];
    other.follow((changed, read) => {
      const found = [[...changed.keys()], read((tx) => count(tx))];
      return () => seen.push(found);
    });
    await one.transaction(increment());
    await one.transaction((tx) => tx.insert("codes", code("c", Date.now() + 60_000)));
    expect(await other.read((tx) => count(tx))).toBe(1);
    // Each change by itself, in their order.
    expect(seen).toEqual([
      [["snapshots"], 1],
      [["codes"], 1],
    ]);
    await other.transaction(increment());
    expect(seen).toHaveLength(3);
  });

  test("an expired record that an instance has not forgotten comes back where another sets the clock back", async () => {
    const issuer = newIssuer();
    let time = 10_000;
    const clock = { now: () => time, passed: () => time };
    const stores = await Promise.all([1, 2].map(() => openAt(url, issuer, clock)));
    onTestFinished(async () => {
      await Promise.all(stores.map((store) => store.close()));
    });
    const [one, other] = stores as [Store, Store];
    await one.transaction((tx) => tx.insert("sessions", session("s", 20_000)));
    await other.read(count);
    // The other instance believes that it has expired, and is wrong: it has not heard of the change below.
    await one.transaction((tx) => tx.put("sessions", session("s", 40_000)));
    time = 30_000;
    await other.transaction(increment());
    expect(await other.read((tx) => tx.get("sessions", "s")?.expiresAt)).toBe(40_000);
  });
});

describe("the clocks are compared exactly, however late the database answers", () => {
  /** @param ahead milliseconds @param delays of the answers, in milliseconds; the last one lasts */
  const compare = (ahead: number, delays: readonly number[]): Promise<void> => {
    let time = 1e12;
    let asked = 0;
    const query = () => {
      const rows = [{ time }];
      time += delays[Math.min(asked, delays.length - 1)] ?? 0;
      asked += 1;
      return Promise.resolve({ rows, repeated: false });
    };
    return compareClocks({ location: "postgres://h/db", query }, () => time + ahead);
  };

  test.each([[[0]], [[4000, 20]], [[4000, 3000, 2500, 20]]])("answers after %j ms", async (delays) => {
    await expect(compare(6000, delays)).rejects.toThrow("the clock of this machine is 6.0 s ahead of that of");
    await expect(compare(-6000, delays)).rejects.toThrow("the clock of this machine is 6.0 s behind that of");
    await compare(4000, delays);
    await compare(-4000, delays);
  });

  test("where every answer is late, what may be right passes, and what cannot be is refused", async () => {
    await compare(4000, [4000]);
    await compare(-4000, [4000]);
    await expect(compare(12_000, [4000])).rejects.toThrow("s ahead of");
    await expect(compare(-12_000, [4000])).rejects.toThrow("s behind");
  });
});
