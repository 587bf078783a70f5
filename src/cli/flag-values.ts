import { InvalidArgumentError } from "commander";

/** What flags take, checked before a command is loaded. */

/** A whole number of seconds. @param least the smallest one that means something */
export const seconds =
  (least: number) =>
  (value: string): number => {
    if (!/^\d{1,10}$/.test(value) || Number(value) < least) {
      throw new InvalidArgumentError(`It is a whole number of seconds, at least ${least}.`);
    }
    return Number(value);
  };
