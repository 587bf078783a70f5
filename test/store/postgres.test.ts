/** The store on a real PostgreSQL: the contract, alone and with others beside it. */
import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { createJournal, openJournal } from "../../src/store/postgres/journal.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { prepareSchema } from "../../src/store/postgres/schema.ts";
import type { Store, StoreClock, Tx } from "../../src/store/store.ts";
import { startPostgres } from "../helpers/postgres.ts";
import { runTwice } from "../helpers/run-twice.ts";
import { storeContract } from "./contract.ts";
import { journalContract } from "./journal-contract.ts";

const postgres = await startPostgres();
const url = await postgres.database();
const log = (): void => undefined;
const newIssuer = (): string => randomBytes(6).toString("hex");

const openAt = (issuer: string, clock: StoreClock = { now: Date.now }): Promise<Store> =>
  openPostgresStore({ url, issuer, log, ...clock });

journalContract("postgres", async () => {
  const database = openDatabase(url, log);
  onTestFinished(() => database.close());
  await prepareSchema(database, log);
  const issuer = newIssuer();
  await createJournal(database, issuer);
  const open = () => openJournal(database, issuer, () => undefined);
  const journal = open();
  const { place } = await journal.since({ seq: -1, id: "" });
  return { journal, start: place, again: async () => open() };
});

storeContract("postgres", (clock) => openAt(newIssuer(), clock));
storeContract("postgres, run twice", async (clock) => runTwice(await openAt(newIssuer(), clock)));

describe("three instances on one database", () => {
  const count = (tx: Tx): number => Number(tx.get("meta", "settings")?.value ?? 0);
  const increment = (tx: Tx): number => {
    const next = count(tx) + 1;
    tx.put("meta", { id: "settings", value: next });
    return next;
  };
  const open = async (): Promise<readonly Store[]> => {
    const issuer = newIssuer();
    const stores = await Promise.all([1, 2, 3].map(() => openAt(issuer)));
    onTestFinished(async () => {
      await Promise.all(stores.map((store) => store.close()));
    });
    return stores;
  };

  test("no update is lost under contention, and each answer is the one that counts", async () => {
    const stores = await open();
    const seen = await Promise.all(
      stores.flatMap((store) => Array.from({ length: 50 }, () => store.transaction(increment))),
    );
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
  });
});
