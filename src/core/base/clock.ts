import type { ReadTx } from "../../store/store.ts";
import type { Derived } from "./derived.ts";
import type { Hint } from "./hint.ts";
import { duration } from "../../text/time.ts";

/** How far a tester moved the clock. It is a record, so all processes on the same records share it. */
export interface Moved {
  /** Milliseconds. Ignored while the clock is frozen. */
  readonly ahead: number;
  /** Milliseconds since 1970. */
  readonly frozenAt: number | null;
}

export const unmoved: Moved = { ahead: 0, frozenAt: null };

export const movedIn = (tx: ReadTx): Moved => (tx.get("testing", "clock")?.value ?? unmoved) as Moved;

/** The time that a moved clock shows. @param base the real time */
export const timeOf = ({ ahead, frozenAt }: Moved, base: number): number => frozenAt ?? base + ahead;

/**
 * The time that the server decides by. A tester may move it. Whatever was revoked stays
 * revoked, whichever way the clock moves (see `era.ts`). controls/move-clock.ts has the operations.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The real time: what the clock would show if nobody had moved it. */
  readonly unmoved: () => number;
  /** The real time, by a clock that nobody can set. */
  readonly real: () => number;
  /** A time that has passed by this clock and in reality. Records that expired before it may be removed. */
  readonly passed: () => number;
  readonly isMoved: () => boolean;
  readonly isFrozen: () => boolean;
  /** Shows what the records say from now on. */
  readonly follow: (moved: Derived<Moved>) => void;
}

/**
 * @param base the time, in milliseconds since 1970, which a test may set in both directions
 * @param elapsed milliseconds since some moment, by a clock that nobody can set
 */
export function createClock(base: () => number, elapsed: () => number): Clock {
  const began = base() - elapsed();
  let moved: Derived<Moved> = { value: unmoved };
  const now = (): number => timeOf(moved.value, base());
  const real = (): number => began + elapsed();
  return {
    now,
    unmoved: base,
    real,
    passed: () => Math.min(now(), real()),
    isMoved: () => moved.value.ahead !== 0 || moved.value.frozenAt !== null,
    isFrozen: () => moved.value.frozenAt !== null,
    follow(next) {
      moved = next;
    },
  };
}

/** The clock as the command line, the control API and the library show it. */
export type ClockState = ReturnType<typeof showClock>;

/** What the clock shows. */
export const showClock = ({ clock }: { readonly clock: Clock }) => ({
  /** ISO 8601. */
  now: new Date(clock.now()).toISOString(),
  /** Seconds that it is ahead; negative: behind. Not -0, which would be confusing in JSON. */
  offset: Math.round((clock.now() - clock.unmoved()) / 1000) || 0,
  frozen: clock.isFrozen(),
});

/** How far the clock is off, and what to do about that, for a refusal by time; null: nobody moved it. */
export function movedClock(ctx: { readonly clock: Clock }): { readonly note: string; readonly fix: Hint } | null {
  if (!ctx.clock.isMoved()) return null;
  const { offset, frozen } = showClock(ctx);
  const off = offset === 0 ? "is frozen" : `is ${duration(offset)} ${offset > 0 ? "ahead" : "behind"}`;
  const also = frozen && offset !== 0 ? " and frozen" : "";
  return {
    note: `the clock of this server ${off}${also}: a reset of the clock sets it right, and expire ends tokens without moving it`,
    fix: {
      text: "To set the clock right",
      command: ["idp", "clock", "reset"],
    },
  };
}

/** The clock in words, for the log. */
export function clockInWords({ now, offset, frozen }: ClockState): string {
  const distance = offset === 0 ? "" : ` (${duration(offset)} ${offset > 0 ? "ahead" : "behind"})`;
  return `${frozen ? "frozen at " : ""}${now}${distance}`;
}
