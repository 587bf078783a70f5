import { setTimeout } from "node:timers/promises";
import type { Operation } from "./journal.ts";
import type { ChangedKeys } from "./changed.ts";

/** Milliseconds in which a transaction runs again where another writer was faster. After that, whoever asked may try again. */
export const maxContention = 5000;

/** What makes changes durable. */
export interface Durability {
  /**
   * Queues the end of a transaction behind those that wait already.
   * @param operations none if there is nothing to write
   * @param changed what it changed, also what is not written
   * @param undo takes the transaction back in memory; called, newest transaction first, before the outcome is seen
   * @returns whether it was kept; false: another writer was faster, memory has its changes now, and the work must run again
   * @throws {StorageError} if it could not be written, or one before it could not
   */
  commit(operations: readonly Operation[], changed: ChangedKeys, undo: () => void): Promise<boolean>;
  /** Undefined while all that memory holds is on disk; else whether the last change was written. */
  pending(): Promise<boolean> | undefined;
  /**
   * Present where other processes write to the same journal. Resolves when memory has all that was written before this was called. Such a
   * journal holds the volatile collections too: another process may have to answer for them.
   */
  readonly catchUp?: () => Promise<void>;
}

/** How a writer shares a journal with other writers: the one who is faster must not be so each time. */
interface Contention {
  /** Waits, after several writes in a row, for as long as a writer that lost needs to wait, to read and to write. */
  makeWay(): Promise<void>;
  /** @param took milliseconds of the write */
  wrote(took: number): void;
  /** Another writer was faster. Waits at random, so that the losers do not all come back at once. */
  lost(): Promise<void>;
}

/** Milliseconds. With more, a writer that has not lost would win each time, since it does not wait. */
const maxWait = 2;
/** A writer that has just written need not read first, so it would win again and again. */
const maxInARow = 4;
/** Milliseconds after a loss, in which a writer assumes that others still write. */
const contestedFor = 1000;

export function createContention(): Contention {
  let writesInARow = 0;
  let lostAt = -Infinity;
  let lastTook = 0;
  return {
    async makeWay() {
      if (writesInARow < maxInARow || performance.now() - lostAt > contestedFor) return;
      writesInARow = 0;
      await setTimeout(maxWait + 2 * lastTook);
    },
    wrote(took) {
      lastTook = took;
      writesInARow += 1;
    },
    async lost() {
      lostAt = performance.now();
      writesInARow = 0;
      await setTimeout(Math.random() * maxWait);
    },
  };
}

/** The outcome of some work, kept until it is on disk and may be reported. */
export type WorkOutcome<T> = { readonly value: T } | { readonly error: unknown };

export function outcomeOf<T>(work: () => T): WorkOutcome<T> {
  try {
    const value = work();
    if (value instanceof Promise) throw new Error("the work of a transaction must not be async");
    return { value };
  } catch (error) {
    return { error };
  }
}

export function resultOf<T>(outcome: WorkOutcome<T>): T {
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}
