import type { Response } from "express";
import { showClock } from "../../core/testing/clock.ts";
import type { Web } from "../web.ts";

/** Shows in a response that the clock was moved, so that a forgotten clock is easy to notice. */
export function showInResponse({ ctx }: Pick<Web, "ctx">, res: Response): void {
  if (!ctx.clock.isMoved()) {
    res.removeHeader("Idp-Clock");
    return;
  }
  const { now, offset } = showClock(ctx);
  res.setHeader("Idp-Clock", `${now}; offset=${offset}`);
}
