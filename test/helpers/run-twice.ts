/**
 * A store that runs each transaction and each read twice, as a store that several processes share does when another one
 * was faster (guarantee 5 of `src/store/store.ts`). The first run is taken back; nothing comes between the two.
 */
import type { Store } from "../../src/store/store.ts";

export function runTwice<S extends Store>(store: S): S {
  const takenBack = new Error("the first run is taken back");
  return {
    ...store,
    transaction<T>(work: Parameters<typeof store.transaction<T>>[0]): Promise<T> {
      store
        .transaction((tx) => {
          work(tx);
          throw takenBack;
        })
        // What the work throws it throws again below.
        .catch(() => undefined);
      return store.transaction(work);
    },
    read<T>(work: Parameters<typeof store.read<T>>[0]): Promise<T> {
      store.read(work).catch(() => undefined);
      return store.read(work);
    },
  };
}
