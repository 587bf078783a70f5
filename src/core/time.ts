import type { Context } from "./context.ts";

/** Seconds since 1970, as JWT has them. */
export const seconds = (ctx: Pick<Context, "now">): number => Math.floor(ctx.now() / 1000);

/** In seconds: no life is longer, and more is a mistake of a unit. */
export const tenYears = 315_360_000;
