/** Stores that share a journal, as those of several processes do: the slower one reads what it lacks and runs again. */
import { describe, expect, test } from "vitest";
import { createCommitQueue } from "../../src/store/commit-queue.ts";
import { createEngine } from "../../src/store/engine.ts";
import { OvertakenError, type Journal, type JournalEntry, type JournalPlace } from "../../src/store/journal.ts";
import { StorageError, type Store, type StoreClock, type Tx } from "../../src/store/store.ts";
import { runTwice } from "../helpers/run-twice.ts";
import { storeContract } from "./contract.ts";
import { journalContract } from "./journal-contract.ts";
import { session } from "./records.ts";

const start: JournalPlace = { seq: 0, id: "" };

/** Entries as text, so that no store is handed the records of another. */
function memoryJournal(): Journal {
  const entries: string[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    async since({ seq }) {
      await turn();
      const missed = entries.slice(seq).map((text) => JSON.parse(text) as JournalEntry);
      return { entries: missed, place: { seq: entries.length, id: "" } };
    },
    async append({ seq }, entry) {
      await turn();
      if (seq !== entries.length) throw new OvertakenError(`${entries.length}`);
      entries.push(JSON.stringify(entry));
      return { seq: entries.length, id: "" };
    },
  };
}

async function openOn(journal: Journal, clock: StoreClock = { now: Date.now }): Promise<Store> {
  const queue = createCommitQueue(
    { journal, place: start },
    {
      replay: (operation) => engine.replay(operation),
      reset: (records) => engine.reset(records),
      prepare: (changed) => engine.prepare(changed),
    },
    new StorageError("closed"),
  );
  const engine = createEngine({ ...clock, durability: queue });
  await queue.readMissed();
  const { transaction, read, follow } = engine;
  return { location: "shared", transaction, read, follow, close: () => queue.close() };
}

journalContract("memory", async () => {
  const journal = memoryJournal();
  return { journal, start, again: async () => journal };
});
storeContract("on a journal", (clock) => openOn(memoryJournal(), clock));

/** A journal whose appends lose so many times. */
function losing(times: number): Journal {
  const journal = memoryJournal();
  let left = times;
  return {
    since: (place) => journal.since(place),
    append(place, entry) {
      left -= 1;
      if (left < 0) return journal.append(place, entry);
      return Promise.reject(new OvertakenError("somebody else was faster"));
    },
  };
}

test("the loser runs again until it wins, and gives up in the end, with nothing changed", async () => {
  const put = (tx: Tx): void => tx.put("meta", { id: "issuer", value: "x" });
  const read = (store: Store): Promise<unknown> => store.read((tx) => tx.get("meta", "issuer")?.value);
  const lucky = await openOn(losing(20));
  await lucky.transaction(put);
  expect(await read(lucky)).toBe("x");
  const unlucky = await openOn(losing(Infinity));
  await expect(unlucky.transaction(put)).rejects.toThrow(StorageError);
  expect(await read(unlucky)).toBeUndefined();
});

describe.each([
  ["two stores on one journal", (store: Store) => store],
  ["two stores on one journal, run twice", runTwice],
])("%s", (_, adapt) => {
  const open = async (): Promise<readonly [Store, Store]> => {
    const journal = memoryJournal();
    return [adapt(await openOn(journal)), adapt(await openOn(journal))];
  };
  const count = (tx: Tx): number => Number(tx.get("meta", "settings")?.value ?? 0);
  const increment = (tx: Tx): number => {
    const next = count(tx) + 1;
    tx.put("meta", { id: "settings", value: next });
    return next;
  };

  test("no update is lost under contention, and each answer is the one that counts", async () => {
    const stores = await open();
    const seen = await Promise.all(
      stores.flatMap((store) => Array.from({ length: 50 }, () => store.transaction(increment))),
    );
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    for (const store of stores) expect(await store.transaction(increment)).toBeGreaterThan(100);
  });

  test("one of many removers wins", async () => {
    const stores = await open();
    await stores[0].transaction((tx) => tx.insert("sessions", session("s", Infinity)));
    await stores[1].transaction(increment);
    const remove = (tx: Tx): boolean => tx.remove("sessions", "s") !== undefined;
    const won = await Promise.all(
      stores.flatMap((store) => Array.from({ length: 10 }, () => store.transaction(remove))),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test("a unique value belongs to one record", async () => {
    const stores = await open();
    const insert = (id: string) => (tx: Tx) => tx.insert("sessions", session(id, Infinity, { sid: "same" }));
    const results = await Promise.allSettled(stores.map((store, i) => store.transaction(insert(`${i}`))));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("a version is another one after a change of the other store", async () => {
    const [one, other] = await open();
    await one.transaction(increment);
    const before = await one.read((tx) => tx.version("meta", "settings"));
    await other.transaction((tx) => {
      tx.put("meta", { id: "issuer", value: "x" });
      increment(tx);
    });
    const after = await one.transaction((tx) => {
      tx.put("meta", { id: "issuer", value: "y" });
      return tx.version("meta", "settings");
    });
    expect(after).not.toBe(before);
  });
});
