import type { Response } from "express";
import type { Context } from "../../core/context.ts";
import { showClock } from "../../core/clock.ts";

/** Says in a response whether the clock was moved, so that a forgotten clock is easy to notice. */
export function setClockHeader(ctx: Context, res: Response): void {
  if (!ctx.clock.isMoved()) {
    res.removeHeader("Idp-Clock");
    return;
  }
  const { now, offset } = showClock(ctx);
  res.setHeader("Idp-Clock", `${now}; offset=${offset}`);
}
