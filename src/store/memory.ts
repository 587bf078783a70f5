import { createEngine } from "./engine.ts";
import type { Store, StoreClock } from "./store.ts";

/** The store that ends with the process. */
export function createMemoryStore({ now, passed }: StoreClock): Store {
  const { transaction, read } = createEngine({ now, passed });
  return { location: "memory", transaction, read, close: () => Promise.resolve() };
}
