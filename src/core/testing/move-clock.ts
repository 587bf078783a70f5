import type { Context } from "../context.ts";
import { endPast } from "../era.ts";
import { OperationError } from "../errors.ts";
import { timeText } from "../fixtures/schema/fields.ts";
import { durationOf } from "../time.ts";
import { clockInWords, showClock, type ClockState } from "./clock.ts";

/** How a tester moves the clock. */

/** No time is later: a token that lives for ten years still ends in a year of four digits. */
const latest = Date.parse("9980-01-01T00:00:00Z");

/** @throws {OperationError} usage */
function checkTime(to: number): number {
  if (to >= 0 && to <= latest) return to;
  throw new OperationError("usage", "the clock can show the years from 1970 to 9979");
}

/** Moves the clock; if it is set back, what is over by then stays over. */
async function move(ctx: Context, to: () => number, how: (to: number) => void): Promise<ClockState> {
  await ctx.clock.inTurn(async () => {
    const target = to();
    if (target < ctx.clock.now()) await ctx.store.transaction((tx) => endPast(tx, ctx.clock.passed()));
    how(target);
    // A retired key may be published again, or no more.
    await ctx.keys.reload();
  });
  const state = showClock(ctx);
  const { clock } = ctx;
  ctx.log(clock.isMoved() ? `the clock is ${clockInWords(state)}` : "the clock shows the real time again");
  return state;
}

/** @param input `by`: seconds, or a text like `31m` @throws {OperationError} usage */
export async function advanceClock(ctx: Context, { by }: { readonly by?: unknown }): Promise<ClockState> {
  const seconds = typeof by === "string" ? durationOf(by) : by;
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < 0) {
    throw new OperationError("usage", `by must be a duration, not ${String(by)}`, {
      hint: "A whole number of seconds, or a text with a unit: 30s, 31m, 2h, 7d. To set the clock back: set, or reset",
    });
  }
  return move(
    ctx,
    () => checkTime(ctx.clock.now() + seconds * 1000),
    () => ctx.clock.advance(seconds * 1000),
  );
}

/** @param input `to`: ISO 8601 @throws {OperationError} usage */
export async function setClock(ctx: Context, { to }: { readonly to: string }): Promise<ClockState> {
  if (!timeText.safeParse(to).success) {
    throw new OperationError("usage", `to must be an ISO 8601 time, not "${to}"`, {
      hint: "For example: 2027-01-01T00:00:00Z",
    });
  }
  const time = checkTime(Date.parse(to));
  return move(ctx, () => time, ctx.clock.set);
}

/** The clock stands still; it can still be advanced and set. */
export const freezeClock = (ctx: Context): Promise<ClockState> => move(ctx, ctx.clock.now, ctx.clock.freeze);

/** The clock shows the real time again. */
export const resetClock = (ctx: Context): Promise<ClockState> => move(ctx, ctx.clock.unmoved, ctx.clock.reset);
