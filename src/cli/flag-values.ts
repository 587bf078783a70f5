import { InvalidArgumentError } from "commander";

/** What flags take, checked before a command is loaded. */

/** Over 300 years: what comes of more is no date any more. */
const most = 9_999_999_999;

/** A whole number of seconds. @param least the smallest one that means something */
export const seconds =
  (least: number) =>
  (value: string): number => {
    if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most) {
      throw new InvalidArgumentError(`It is a whole number of seconds, at least ${least} and at most ${most}.`);
    }
    return Number(value);
  };

/** A folder that is named: of an empty variable in a script the files would go into the working folder. */
export const folder = (value: string): string => {
  if (value === "") throw new InvalidArgumentError("It is empty, and names a folder.");
  return value;
};

/** Collects a flag that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
