/** Instances on one database, for tests. */
import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import type { ReadTx, Store, Tx } from "../../src/store/store.ts";

export const newIssuer = (): string => randomBytes(6).toString("hex");

/** An instance of an issuer, until the test is over. */
export async function openInstance(url: string, issuer: string): Promise<Store> {
  const store = await openPostgresStore({ url, issuer, log: () => undefined, now: Date.now });
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
