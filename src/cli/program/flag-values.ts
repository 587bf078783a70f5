import { InvalidArgumentError } from "commander";
import { durationOf } from "../../core/time.ts";

/** Values of flags, checked before a command is loaded. */

/** Over 300 years: a longer duration may lead to an invalid date. */
const most = 9_999_999_999;

/** A whole number of seconds, or with the unit after it of minutes, hours or days. @param least the smallest one that makes sense */
export const seconds =
  (least: number, atMost = most) =>
  (value: string): number => {
    const given = durationOf(value);
    if (!(given >= least && given <= atMost)) {
      throw new InvalidArgumentError(
        `It is a whole number of seconds, at least ${least} and at most ${atMost}, or one with a unit: 30s, 5m, 2h, 7d.`,
      );
    }
    return given;
  };

export function wholeNumber(value: string): number {
  if (!/^\d{1,7}$/.test(value)) throw new InvalidArgumentError("It is a whole number.");
  return Number(value);
}

/** A folder. It must not be empty: an unset variable in a script would put the files into the working folder. */
export const folder = (value: string): string => {
  if (value === "") throw new InvalidArgumentError("It is empty, and names a folder.");
  return value;
};

/** Collects a flag that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Collects a flag that may be repeated, or may have several values with commas between them. */
export const collectList = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value.split(",").map((one) => one.trim()),
];
