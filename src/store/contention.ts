import { setTimeout } from "node:timers/promises";

/** How a writer shares a journal with other writers: the one who is faster must not be so each time. */
export interface Contention {
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
