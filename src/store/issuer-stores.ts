import type { Store, StoreClock } from "./store.ts";

/**
 * The port of the stores of a process: one for each issuer, which share nothing but the lock. The first issuer has no name.
 *
 * Guarantees (each is a test of `test/store/issuer-stores.test.ts`, run against every adapter that keeps data):
 *
 * 1. **Separate.** A record of one store is in no other store.
 * 2. **Kept.** `names` has every issuer that was opened and not removed, also after the process was killed.
 * 3. **One maker.** Of callers that claim a name at once on a store that several processes share, exactly one gets it.
 * 4. **Gone.** After `remove` nothing of the issuer is left, and the same name opened again is empty.
 */
export interface IssuerStores {
  /** The names of the issuers that have data, without the first one. */
  names(): Promise<readonly string[]>;
  /** Claims a name for an issuer to be opened. @returns false where it is there: of several processes that ask at once, one gets it */
  claim(name: string): Promise<boolean>;
  /** The issuer of a claimed name is complete. One that was not when its process ended is in no list, and its name can be claimed again. */
  confirm(name: string): Promise<void>;
  /**
   * Opens the store of an issuer, and makes it if there is none.
   * @param name null: the first issuer
   * @param isFound another process made it: if it was removed since, it stays away (a store that several processes share)
   * @throws {DataFileError} the data cannot be read, or is not idp's; the other issuers can still be opened
   * @throws {StorageError} the data cannot be written
   */
  open(name: string | null, clock: StoreClock, isFound?: boolean): Promise<Store>;
  /** Removes the data of an issuer whose store is closed, or could not be opened. @throws {StorageError} */
  remove(name: string): Promise<void>;
  /** Present where several servers use the records: whether this is the only one now. @throws {StorageError} */
  readonly isLast?: () => Promise<boolean>;
  /** Adds the server's address and admin token to the lock. */
  updateLock(server: { readonly url: string; readonly adminToken: string; readonly caFile?: string | undefined }): void;
  /** Releases the lock. Every store is closed before. */
  close(): Promise<void>;
}

/** Opens the store of one issuer; closing it also closes `stores`, with their lock. */
export async function openOne(stores: IssuerStores, name: string | null, clock: StoreClock): Promise<Store> {
  try {
    const store = await stores.open(name, clock);
    return {
      ...store,
      close: async () => {
        try {
          await store.close();
        } finally {
          await stores.close();
        }
      },
    };
  } catch (error) {
    await stores.close();
    throw error;
  }
}
