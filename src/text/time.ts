/** Seconds since 1970, as JWT has them. */
export const seconds = ({ now }: { readonly now: () => number }): number => Math.floor(now() / 1000);

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

/** The longest lifetime that can be set, in seconds. More is probably milliseconds by mistake. */
export const tenYears = 315_360_000;

/** Times in words. All numbers are seconds. */

type Unit = "second" | "minute" | "hour" | "day" | "year";

/** Shorter than `until`, a length of time is counted in `unit` and the rest of it in the smaller unit before, to the nearest one. */
const scales = [
  { unit: "second", rest: null, until: 90 },
  { unit: "minute", rest: null, until: 3600 - 30 },
  { unit: "hour", rest: "minute", until: 36 * 3600 },
  { unit: "day", rest: "hour", until: 7 * 86_400 },
  { unit: "day", rest: null, until: 730 * 86_400 },
  { unit: "year", rest: null, until: Infinity },
] as const;

const lengths = { second: 1, minute: 60, hour: 3600, day: 86_400, year: 31_557_600 } as const;

/** A length of time in words: 9,000 s are 2 hours and 30 minutes, 9,010 s too. */
export function durationParts(seconds: number): readonly { readonly count: number; readonly unit: Unit }[] {
  const length = Math.abs(seconds);
  const { unit, rest } = scales.find(({ until }) => length < until) ?? scales[0];
  if (rest === null) return [{ count: Math.round(length / lengths[unit]), unit }];
  const smaller = Math.round(length / lengths[rest]);
  const perUnit = lengths[unit] / lengths[rest];
  const parts = [
    { count: Math.floor(smaller / perUnit), unit },
    { count: smaller % perUnit, unit: rest },
  ];
  return parts.filter(({ count }) => count > 0);
}

const short = { second: "s", minute: "min", hour: "h", day: "days", year: "years" } as const;

/** A length of time: "45 s", "12 min", "2 h 30 min", "7 days". */
export const duration = (seconds: number): string =>
  durationParts(seconds)
    .map(({ count, unit }) => `${count} ${count === 1 && unit === "day" ? "day" : short[unit]}`)
    .join(" ");

/** `2023-11-14 22:13:20 UTC`; null if the number is beyond the range of dates. */
export function utcTime(seconds: number): string | null {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? null : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** "2 min ago", "in 3 days", "now". @param seconds from now; negative: past */
export function relative(seconds: number): string {
  if (Math.abs(seconds) < 1) return "now";
  return seconds < 0 ? `${duration(seconds)} ago` : `in ${duration(seconds)}`;
}
