import { expect, test } from "vitest";
import { normalizeClient, normalizeUser } from "../../src/core/admin/fixtures/normalize.ts";
import { look, newsOf } from "../../src/core/scim/live-changes.ts";
import { createMemoryStore } from "../../src/store/memory.ts";
import type { ReadTx, Tx } from "../../src/store/store.ts";

/** What a change is for apps with `live: on`, and what finding that out costs. */

const scim = { url: "http://localhost:1/scim", live: "on" as const };
const at = { at: "2026-01-01T00:00:00.000Z", epoch: "e" };
const userOf = (username: string, displayName = username) =>
  normalizeUser({ username, displayName }, null, () => false);

/** Counts the records that are handed out. */
function counting(tx: ReadTx): { readonly tx: ReadTx; readonly count: () => number } {
  let count = 0;
  return {
    count: () => count,
    tx: {
      ...tx,
      get: (...given) => (count++, tx.get(...given)),
      find: (...given) => (count++, tx.find(...given)),
      findAll: (...given) => {
        const found = tx.findAll(...given);
        count += found.length;
        return found;
      },
      *all(collection) {
        for (const one of tx.all(collection)) {
          count++;
          yield one;
        }
      },
    },
  };
}

/** @returns how many records are read because one of so many users was changed */
async function priceOf(users: number): Promise<number> {
  const store = createMemoryStore({ now: () => 0 });
  const put = (work: (tx: Tx) => void): Promise<void> => store.transaction(work);
  await put((tx) => {
    for (const users_ of ["all", "granted"] as const)
      tx.put("clients", normalizeClient({ client_id: users_, scim: { ...scim, users: users_ } }, null, at));
    for (let index = 0; index < users; index++) tx.put("users", userOf(`user${index}`));
  });
  const seen = await store.read(look);
  let price = -1;
  store.follow((changed, read) => {
    read((tx) => {
      const counted = counting(tx);
      expect(newsOf(counted.tx, seen, changed).changes.map(({ clientId }) => clientId)).toEqual(["all"]);
      price = counted.count();
    });
    return undefined;
  });
  await put((tx) => {
    const user = tx.find("users", "username", "user0");
    if (user !== undefined) tx.put("users", { ...user, displayName: "Other" });
  });
  return price;
}

test("the price of a change does not grow with the users", async () => {
  const few = await priceOf(10);
  expect(few).toBeGreaterThan(0);
  expect(await priceOf(500)).toBe(few);
});
