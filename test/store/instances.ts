/** Instances on one database, for tests. */
import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { openPostgresStores } from "../../src/store/postgres/store.ts";
import { openOne } from "../../src/store/issuer-stores.ts";
import type { ReadTx, Store, StoreClock, Tx } from "../../src/store/store.ts";

export const newIssuer = (): string => randomBytes(6).toString("hex");

export const openAt = async (url: string, issuer: string, clock: StoreClock = { now: Date.now }): Promise<Store> =>
  openOne(await openPostgresStores({ url, kind: "server", log: () => undefined }), issuer, clock);

/** An instance of an issuer, until the test is over. */
export async function openInstance(url: string, issuer: string): Promise<Store> {
  const store = await openAt(url, issuer);
  onTestFinished(() => store.close());
  return store;
}

export const count = (tx: ReadTx, name = "n"): number => Number(tx.get("snapshots", name)?.content ?? 0);

/** @returns what the counter is then */
export const increment =
  (name = "n", more?: string) =>
  (tx: Tx): number => {
    const next = count(tx, name) + 1;
    tx.put("snapshots", { name, savedAt: more ?? "", content: next });
    return next;
  };
