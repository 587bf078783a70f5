import { hintOf, type Hint } from "../../../core/base/hint.ts";

/** How long a healthy server takes to answer, in milliseconds. */
export const timeoutMs = 3000;

/** How many seconds two clocks may differ by. */
export const maxClockDifference = 2;

/** One thing that doctor looked at. */
export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  /** What to do about it; null if there is nothing to do. */
  readonly fix: Hint | null;
}

export const ok = (name: string, detail: string): Finding => ({ name, status: "ok", detail, fix: null });

const finding =
  (status: Finding["status"]) =>
  (name: string, detail: string, fix: string | Hint | null): Finding => ({
    name,
    status,
    detail,
    fix: fix === null ? null : hintOf(fix),
  });

export const warning = finding("warning");

export const problem = finding("problem");
