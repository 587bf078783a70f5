import { createEngine } from "./engine.ts";
import type { Store, StoreClock } from "./store.ts";
import type { IssuerStores } from "./issuer-stores.ts";

/** The store that ends with the process. */
export function createMemoryStore({ now, passed }: StoreClock): Store {
  const { transaction, read, follow } = createEngine({ now, passed });
  return { location: "memory", transaction, read, follow, close: () => Promise.resolve() };
}

/** Nothing is kept: no issuer has data at a start. */
export const createMemoryStores = (): IssuerStores => ({
  names: () => Promise.resolve([]),
  claim: () => Promise.resolve(true),
  confirm: () => Promise.resolve(),
  open: (_name, clock) => Promise.resolve(createMemoryStore(clock)),
  remove: () => Promise.resolve(),
  updateLock: () => undefined,
  close: () => Promise.resolve(),
});
