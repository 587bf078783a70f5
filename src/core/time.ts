import type { Context } from "./context.ts";

/** Seconds since 1970, as JWT has them. */
export const seconds = (ctx: Pick<Context, "now">): number => Math.floor(ctx.now() / 1000);

const units = { d: 86_400, h: 3600, m: 60, s: 1 } as const;

/** A length of time as people write it: a whole number of seconds, or numbers with units: `90`, `31m`, `2h30m`, `7d`. */
export const durationForm = /^(?:\d+|(?=\d)(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?)$/;

/** Seconds, below zero with a minus in front; NaN if the text is not a duration. */
export function durationOf(text: string): number {
  const isBack = text.startsWith("-");
  const length = isBack ? text.slice(1) : text;
  if (!durationForm.test(length)) return Number.NaN;
  const parts = [...length.matchAll(/(\d+)([dhms]?)/g)];
  const seconds = parts.reduce(
    (sum, [, number, unit]) => sum + Number(number) * units[(unit || "s") as keyof typeof units],
    0,
  );
  return isBack ? -seconds : seconds;
}

/** In seconds: the longest lifetime that can be set. More is probably milliseconds by mistake. */
export const tenYears = 315_360_000;
