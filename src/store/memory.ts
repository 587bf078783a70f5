import { createEngine } from "./engine.ts";
import type { Store } from "./store.ts";

/** The store that ends with the process. @param options `now`: the time in milliseconds since 1970 */
export function createMemoryStore({ now }: { now: () => number }): Store {
  const { transaction, read } = createEngine({ now });
  return { location: "memory", transaction, read, close: () => Promise.resolve() };
}
