import type { CollectionName, ReadTx, Store } from "../../store/store.ts";

/** A value made from the records and kept, because it is needed without a wait or is too expensive to make for each request. */
export interface Derived<T> {
  /** The value that fits the records as they are now. */
  readonly value: T;
}

/** Resolves when this process has all that others wrote before; null if there are none. */
export const catchUp = ({ store }: { readonly store: Store }): Promise<void> | null => store.catchUp?.() ?? null;

/**
 * @param from the collections that it is made from
 * @param make a function of the records, and of the value before; it may run for a change that is then not kept
 */
export async function derive<T>(
  store: Store,
  from: readonly CollectionName[],
  make: (tx: ReadTx, before: T | undefined) => T,
): Promise<Derived<T>> {
  let current: { readonly value: T } | undefined;
  store.follow((changed, read) => {
    if (!from.some((name) => changed.has(name))) return undefined;
    const value = read((tx) => make(tx, current?.value));
    return () => {
      current = { value };
    };
  });
  const first = await store.read((tx) => make(tx, undefined));
  // A change may have come first.
  const began = (current ??= { value: first });
  return {
    get value() {
      return (current ?? began).value;
    },
  };
}
