import type { Context } from "./context.ts";

/** Seconds since 1970, as JWT has them. */
export const seconds = (ctx: Pick<Context, "now">): number => Math.floor(ctx.now() / 1000);
