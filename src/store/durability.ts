import type { CollectionName } from "./collections.ts";
import type { Operation } from "./journal.ts";

/** Milliseconds in which a transaction runs again where another writer was faster. After that, whoever asked may try again. */
export const maxContention = 5000;

/** What makes changes durable. */
export interface Durability {
  /**
   * Queues the end of a transaction behind those that wait already.
   * @param operations none if there is nothing to write
   * @param changed the collections that it changed, also those that are not written
   * @param undo takes the transaction back in memory; called, newest transaction first, before the outcome is seen
   * @returns whether it was kept; false: another writer was faster, memory has its changes now, and the work must run again
   * @throws {StorageError} if it could not be written, or one before it could not
   */
  commit(operations: readonly Operation[], changed: ReadonlySet<CollectionName>, undo: () => void): Promise<boolean>;
  /** Undefined while all that memory holds is on disk; else whether the last change was written. */
  pending(): Promise<boolean> | undefined;
  /**
   * Present where other processes write to the same journal. Resolves when memory has all that was written before this was called. Such a
   * journal holds the volatile collections too: another process may have to answer for them.
   */
  readonly catchUp?: () => Promise<void>;
}
