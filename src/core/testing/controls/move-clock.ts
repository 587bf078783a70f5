import type { Tx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { endPast } from "../../base/era.ts";
import { OperationError, problemText } from "../../base/errors.ts";
import { durationOf } from "../../../text/time.ts";
import { clockInWords, movedIn, showClock, timeOf, type Clock, type ClockState, type Moved } from "../../base/clock.ts";

/** How a tester moves the clock. */

/** The latest time that the clock may show. A token that lives for ten years then still ends in a year of four digits. */
const latest = Date.parse("9980-01-01T00:00:00Z");

/** @param by as it was given @throws {OperationError} usage */
function checkTime(to: number, by: number | string): number {
  if (to >= 0 && to <= latest) return to;
  const problem = {
    path: "by",
    message: `must keep the clock in the years from 1970 to 9979, not ${JSON.stringify(by)}`,
  };
  throw new OperationError("usage", `the clock was not moved: ${problemText(problem)}`, { problems: [problem] });
}

/** Moves the clock, within a transaction. If it is set back, what has ended stays ended. */
export function putMoved(tx: Tx, clock: Clock, after: Moved): void {
  const base = clock.unmoved();
  const shown = timeOf(movedIn(tx), base);
  if (timeOf(after, base) < shown) endPast(tx, Math.min(shown, clock.real()));
  tx.put("testing", { id: "clock", value: after });
}

/**
 * Moves the clock. If it is set back, what has ended stays ended.
 * @param how the new position, from the old one
 */
async function move(ctx: Context, how: (moved: Moved, base: number) => Moved): Promise<ClockState> {
  const { clock } = ctx;
  await ctx.store.transaction((tx) => {
    putMoved(tx, clock, how(movedIn(tx), clock.unmoved()));
  });
  const state = showClock(ctx);
  ctx.log(clock.isMoved() ? `the clock is ${clockInWords(state)}` : "the clock shows the real time again");
  return state;
}

/** Keeps a frozen clock frozen. */
const movedTo = (to: number, { frozenAt }: Moved, base: number): Moved =>
  frozenAt === null ? { ahead: to - base, frozenAt } : { ahead: 0, frozenAt: to };

/** @param input `by`: seconds, or a text like `31m`; below zero: back @throws {OperationError} usage for a time that no clock may show */
export async function advanceClock(ctx: Context, { by }: { readonly by: number | string }): Promise<ClockState> {
  const seconds = typeof by === "string" ? durationOf(by) : by;
  return move(ctx, (moved, base) => movedTo(checkTime(timeOf(moved, base) + seconds * 1000, by), moved, base));
}

/** @param input `to`: ISO 8601 */
export const setClock = (ctx: Context, { to }: { readonly to: string }): Promise<ClockState> =>
  move(ctx, (moved, base) => movedTo(Date.parse(to), moved, base));

/** The clock stands still; it can still be advanced and set. */
export const freezeClock = (ctx: Context): Promise<ClockState> =>
  move(ctx, (moved, base) => ({ ...moved, frozenAt: timeOf(moved, base) }));

/** The clock shows the real time again. */
export const resetClock = (ctx: Context): Promise<ClockState> => move(ctx, () => ({ ahead: 0, frozenAt: null }));
