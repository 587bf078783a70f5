/** The one place that chooses an adapter; each is loaded only where it is needed. */
import type { JsonStore, JsonStoreOptions } from "./json/store.ts";

export interface OpenStoreOptions extends Omit<JsonStoreOptions, "dir"> {
  /** The data folder; null: nothing on disk. */
  readonly data: string | null;
  /** The URL of a database, which several processes share; `data` is null then. */
  readonly postgres?: string | undefined;
}

/**
 * @throws {LockedError} the data is another process's
 * @throws {DataFileError} the data cannot be read, or is not idp's
 * @throws {StorageError} the folder cannot be written
 * @throws {UnreachableError | ClockError} of the database
 */
export async function openStore({ data, postgres, ...options }: OpenStoreOptions): Promise<JsonStore> {
  if (postgres !== undefined) {
    const { firstIssuer, openPostgresStore } = await import("./postgres/store.ts");
    return {
      ...(await openPostgresStore({ ...options, url: postgres, issuer: firstIssuer })),
      updateLock: () => undefined,
    };
  }
  if (data !== null) {
    const { openJsonStore } = await import("./json/store.ts");
    return openJsonStore({ ...options, dir: data });
  }
  const { createMemoryStore } = await import("./memory.ts");
  return { ...createMemoryStore(options), updateLock: () => undefined };
}
