/*
 * client/app-check: `idp check client`. It asks whether an app notices a response that is wrong.
 *
 * run.ts runs the cases, with a control before, between and after. A case is a file in cases/, or a row in flaws/, where one function
 * judges all rows. browser.ts says what a browser does for a case: small-browser.ts does it without scripts, chromium.ts in Chromium, and
 * progress.ts decides for both where a visit ends.
 *
 * attempt.ts is what a case works with. It reaches the faults and the ledger through control.ts, which the command line connects to a
 * server.
 */
import type { Attempt } from "./attempt.ts";

/** A case and its result. */

export type Verdict = "noticed" | "unnoticed" | "not-required" | "not-reached" | "works";

/** What a case found. */
export interface Finding {
  readonly verdict: Verdict;
  /** What the app did, or why that is not known: "signed the user in". */
  readonly did: string;
  /** In place of the case's paragraph, where another one decides. */
  readonly paragraph?: string;
}

export interface Case {
  readonly name: string;
  /** What must not happen, or what must still work. */
  readonly mustNot: string;
  /** What the app should do. */
  readonly should: string;
  readonly paragraph: string;
  /** The usual line to change. */
  readonly fix: string;
  /** The app caches what the case spoils, so it is started again, before and after. */
  readonly restarts?: true;
  run(attempt: Attempt): Promise<Finding>;
}

/** A case that has run. */
export interface CaseResult extends Omit<Case, "run" | "restarts"> {
  readonly verdict: Verdict;
  readonly did: string;
}

export const unnoticed = (did: string): Finding => ({ verdict: "unnoticed", did });
export const noticed = (did: string): Finding => ({ verdict: "noticed", did });
export const works = (did: string): Finding => ({ verdict: "works", did });
export const notReached = (did: string): Finding => ({ verdict: "not-reached", did });
export const notRequired = (did: string, paragraph?: string): Finding => ({
  verdict: "not-required",
  did,
  ...(paragraph !== undefined && { paragraph }),
});
