import type { Changed, ChangeListener, ReadTx } from "./store.ts";

export interface Feed {
  follow(listener: ChangeListener): void;
  /** Call it while memory holds what is on disk and the change, and what it returns once the change is on disk too. */
  prepare(changed: Changed): () => void;
}

/** The listeners of a store. */
export function createFeed(read: <T>(work: (tx: ReadTx) => T) => T): Feed {
  const listeners: ChangeListener[] = [];
  return {
    follow: (listener) => void listeners.push(listener),
    prepare(changed) {
      const prepared = changed.size === 0 ? [] : listeners.map((listener) => listener(changed, read));
      return () => {
        for (const takeOver of prepared) takeOver?.();
      };
    },
  };
}
