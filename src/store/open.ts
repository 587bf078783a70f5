/** The one place that chooses an adapter; each is loaded only where it is needed. */
import type { FolderOptions } from "./json/issuer-stores.ts";
import type { IssuerStores } from "./issuer-stores.ts";

export interface OpenStoresOptions extends Omit<FolderOptions, "dir"> {
  /** The data folder; null: nothing on disk. */
  readonly data: string | null;
  /** The URL of a database, which several processes share; `data` is null then. */
  readonly postgres?: string | undefined;
}

/**
 * @throws {LockedError} the data is another process's
 * @throws {DataFileError} the path is not that of a folder
 * @throws {StorageError} the folder cannot be written
 * @throws {UnreachableError | ClockError} of the database
 */
export async function openStores({ data, postgres, ...options }: OpenStoresOptions): Promise<IssuerStores> {
  if (postgres !== undefined) {
    const { openPostgresStores } = await import("./postgres/store.ts");
    return openPostgresStores({ ...options, url: postgres });
  }
  if (data !== null) {
    const { openFolder } = await import("./json/issuer-stores.ts");
    return openFolder({ ...options, dir: data });
  }
  const { createMemoryStores } = await import("./memory.ts");
  return createMemoryStores();
}
