import type { CollectionName, ReadTx, Store } from "../store/store.ts";

/** A value made from the records and kept, because it is needed without a wait or is too expensive to make for each request. */
export interface Derived<T> {
  readonly value: T;
  /** Makes it again, after this process changed the records. It follows the changes of other processes by itself. */
  reload(): Promise<void>;
}

/** Resolves when this process has all that others wrote before; null if there are none. */
export const catchUp = ({ store }: { readonly store: Store }): Promise<void> | null => store.others?.catchUp() ?? null;

/** @param from the collections that it is made from */
export async function derive<T>(
  store: Store,
  from: readonly CollectionName[],
  make: (tx: ReadTx) => T,
): Promise<Derived<T>> {
  let followed = 0;
  let value: T = await store.read<T>(make);
  store.others?.follow((changed, read) => {
    if (!from.some((name) => changed.has(name))) return;
    followed += 1;
    value = read(make);
  });
  return {
    get value() {
      return value;
    },
    async reload() {
      for (;;) {
        const before = followed;
        const next = await store.read(make);
        // A later change of another process came in meanwhile: read again.
        if (before !== followed) continue;
        value = next;
        return;
      }
    },
  };
}
