/** The one place that chooses an adapter; each is loaded only where it is needed. */
import type { JsonStore, JsonStoreOptions } from "./json/store.ts";

export interface OpenStoreOptions extends Omit<JsonStoreOptions, "dir"> {
  /** The data folder; null: nothing on disk. */
  readonly data: string | null;
}

/**
 * @throws {LockedError} the data is another process's
 * @throws {DataFileError} the data cannot be read, or is not idp's
 * @throws {StorageError} the folder cannot be written
 */
export async function openStore({ data, ...options }: OpenStoreOptions): Promise<JsonStore> {
  if (data !== null) {
    const { openJsonStore } = await import("./json/store.ts");
    return openJsonStore({ ...options, dir: data });
  }
  const { createMemoryStore } = await import("./memory.ts");
  return { ...createMemoryStore(options), updateLock: () => undefined };
}
