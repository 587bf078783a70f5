import type { Context } from "./context.ts";

/** Seconds since 1970, as JWT has them. */
export const seconds = (ctx: Pick<Context, "now">): number => Math.floor(ctx.now() / 1000);

const units: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** A length of time as people write it: a whole number of seconds, or one with a unit: `90`, `31m`, `2h`, `7d`. */
export const durationForm = /^(\d+)([smhd]?)$/;

/** Seconds; NaN if the text is not a duration. */
export function durationOf(text: string): number {
  const [, number, unit = ""] = durationForm.exec(text) ?? [];
  return Number(number) * (units[unit] ?? 1);
}

/** In seconds: the longest lifetime that can be set. More is probably milliseconds by mistake. */
export const tenYears = 315_360_000;
