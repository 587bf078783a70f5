import { InvalidArgumentError } from "commander";
import { durationOf } from "../../core/time.ts";

/** What flags take, checked before a command is loaded. */

/** Over 300 years: a longer duration may lead to an invalid date. */
const most = 9_999_999_999;

/** A whole number of seconds; also of minutes, hours or days, with the unit after it. @param least the smallest one that means something */
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

/** A folder that is named: of an empty variable in a script the files would go into the working folder. */
export const folder = (value: string): string => {
  if (value === "") throw new InvalidArgumentError("It is empty, and names a folder.");
  return value;
};

/** Collects a flag that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Collects a flag that may be repeated, or have several values with commas between them. */
export const collectList = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value.split(",").map((one) => one.trim()),
];
