import { exactJson } from "../json-digits.ts";

/** The checks of a client that signs in, each with its result. */

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Collects checks. All of them are reported, also those after one that failed. */
export interface Report {
  readonly checks: readonly Check[];
  readonly check: (name: string, ok: boolean, detail: string) => void;
}

export function newReport(): Report {
  const checks: Check[] = [];
  return {
    checks,
    check(name, ok, detail) {
      checks.push({ name, ok, detail });
    },
  };
}

/** What the other side did wrong, as a sentence: the detail of a check that fails. */
export class Problem extends Error {
  override readonly name = "Problem";
}

/** Does a piece of work; what it finds wrong becomes a failed check of this name, and the result null. */
export async function attempt<T>(report: Report, name: string, work: () => Promise<T> | T): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    report.check(name, false, error.message);
    return null;
  }
}

/** A value from outside, short enough for a sentence. */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : exactJson(value, 0);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
