import { duration } from "../time-words.ts";
import { createTurns, type Turns } from "../turns.ts";

/**
 * The time that the server decides by. A tester moves it, until the server ends. Tokens stay what they were: whatever was revoked stays
 * revoked, whichever way the clock moves (see `era.ts`). move-clock.ts has the operations.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The same, if nobody had moved it. */
  readonly unmoved: () => number;
  /** A time that has passed for good, by this clock and in reality: up to here expired records may be forgotten. */
  readonly passed: () => number;
  readonly isMoved: () => boolean;
  readonly isFrozen: () => boolean;
  /** @param ms how far it goes on from where it is */
  readonly advance: (ms: number) => void;
  readonly set: (to: number) => void;
  readonly freeze: () => void;
  readonly reset: () => void;
  /** Runs moves one after the other. */
  readonly inTurn: Turns;
}

/**
 * @param base the time, in milliseconds since 1970, which a test may set in both directions
 * @param elapsed milliseconds since any moment: nobody can set it
 */
export function createClock(base: () => number, elapsed: () => number): Clock {
  const began = base() - elapsed();
  let ahead = 0;
  let frozenAt: number | null = null;
  const now = (): number => frozenAt ?? base() + ahead;
  return {
    now,
    unmoved: base,
    passed: () => Math.min(now(), began + elapsed()),
    isMoved: () => ahead !== 0 || frozenAt !== null,
    isFrozen: () => frozenAt !== null,
    advance(ms) {
      if (frozenAt === null) ahead += ms;
      else frozenAt += ms;
    },
    set(to) {
      if (frozenAt === null) ahead = to - base();
      else frozenAt = to;
    },
    freeze() {
      frozenAt = now();
    },
    reset() {
      ahead = 0;
      frozenAt = null;
    },
    inTurn: createTurns(),
  };
}

/** The clock as the command line, the control API and the library show it (CONTRACT 10). */
export interface ClockState {
  /** ISO 8601. */
  readonly now: string;
  /** Seconds that it is ahead; negative: behind. */
  readonly offset: number;
  readonly frozen: boolean;
}

/** What the clock shows. */
export const showClock = ({ clock }: { readonly clock: Clock }): ClockState => ({
  now: new Date(clock.now()).toISOString(),
  // Not -0, which would be confusing in JSON.
  offset: Math.round((clock.now() - clock.unmoved()) / 1000) || 0,
  frozen: clock.isFrozen(),
});

/** The clock in words, for the log. */
export function clockInWords({ now, offset, frozen }: ClockState): string {
  const distance = offset === 0 ? "" : ` (${duration(offset)} ${offset > 0 ? "ahead" : "behind"})`;
  return `${frozen ? "frozen at " : ""}${now}${distance}`;
}
