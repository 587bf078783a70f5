/** Times in words. All numbers are seconds. */

const units = [
  { name: "s", seconds: 1, until: 90 },
  { name: "min", seconds: 60, until: 90 * 60 },
  { name: "h", seconds: 3600, until: 36 * 3600 },
  { name: "days", seconds: 86_400, until: 730 * 86_400 },
  { name: "years", seconds: 31_557_600, until: Infinity },
] as const;

/** A length of time in its largest fitting unit: "45 s", "12 min", "3 days". */
export function duration(seconds: number): string {
  const length = Math.abs(seconds);
  const unit = units.find((candidate) => length < candidate.until) ?? units[0];
  return `${Math.round(length / unit.seconds)} ${unit.name}`;
}

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
