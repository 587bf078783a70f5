import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../client/check.ts";
import {
  isOpen,
  notReached,
  works,
  type Case,
  type CaseResult,
  type CaseText,
  type Finding,
  type Verdict,
} from "./verdict.ts";

/**
 * Runs the cases. What was noticed, or works, counts only where the control works before and after it: an app that is down notices
 * everything. What went unnoticed stays, whatever the control does afterwards.
 */

/** The verdicts so far, by the names of the cases. */
export type Verdicts = ReadonlyMap<string, Verdict>;

/** What every check gets, whatever it checks. */
export interface CheckRun {
  /** Why a case may go unnoticed, by its name. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Gets each case that ran. After a failed control, the cases that are left do not run and are not handed over. */
  readonly onResult: (result: CaseResult) => void;
  /** Starts the app or the API again: why it does not answer, or null. Null: it was not started by this command. */
  readonly restart: (() => Promise<string | null>) | null;
  /** Milliseconds that it may take to start. */
  readonly startLimit: number;
  /** Milliseconds that a case may take, beside what it has to wait for. */
  readonly caseLimit: number;
  /** When the whole check ends, as `now` counts: what is left then is not reached. */
  readonly until: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly random: (bytes: number) => string;
  /** Notes what the check leaves in the app, which is said at the end. @param key what it replaces */
  readonly leaves: (key: string, what: string) => void;
}

/** What each kind of check adds to {@link CheckRun}. */
interface Cases<A> {
  /** The case that must work first and between. */
  readonly control: Case<A>;
  /** Others that must work once, after it. */
  readonly alsoFirst?: readonly Case<A>[];
  /** The texts of the control that is reported last. */
  readonly last: CaseText;
  readonly cases: readonly Case<A>[];
  /** "the app does not sign in any more". */
  readonly broken: string;
  /** What the control did at the end: "signed in at the end too". */
  readonly didLast: string;
  /** What a case works with. @param over aborted when the time of the case is up: from then on it must change nothing */
  readonly begin: (one: Case<A>, verdicts: Verdicts, over: AbortSignal) => A | Promise<A>;
  /** Changes what is said of a case. */
  readonly reword?: (finding: Finding) => Finding;
  /** Removes what a case left behind. @returns why the app or the API does not answer any more, or null */
  readonly tidy: (one: Case<A>) => Promise<string | null>;
}

export interface RunResult {
  readonly passed: boolean;
  readonly cases: readonly CaseResult[];
  /** Accepted names of cases that are noticed now. */
  readonly stale: readonly string[];
}

export async function runCases<A>(check: CheckRun, run: Cases<A>): Promise<RunResult> {
  const { accepted, onResult } = check;
  const { control, last, cases } = run;
  const results: CaseResult[] = [];
  const verdicts = new Map<string, Verdict>();
  const add = ({ name, mustNot, should, paragraph, fix }: CaseText, finding: Finding): CaseResult => {
    const reason = finding.verdict === "unnoticed" ? accepted.get(name) : undefined;
    const result = {
      ...{ name, mustNot, should, paragraph, fix, ...finding },
      ...(reason !== undefined && { accepted: reason }),
    };
    results.push(result);
    verdicts.set(name, finding.verdict);
    return result;
  };
  const isOver = (): boolean => check.now() >= check.until;
  const tidy = (one: Case<A>): Promise<string | null> => beforeEnd(check, run.tidy(one), null);
  const first = await inTime(check, run, control, verdicts);
  onResult(add(control, first));
  let failure = (await tidy(control)) ?? whyBroken(first);
  let failedAt = control.name;
  for (const one of run.alsoFirst ?? []) {
    if (failure !== null) break;
    const finding = await inTime(check, run, one, verdicts);
    onResult(add(one, finding));
    failure = (await tidy(one)) ?? whyBroken(finding);
    failedAt = one.name;
  }
  let isCut = false;
  for (const one of cases) {
    if (failure !== null) {
      add(one, notReached(`not run: see ${failedAt}`));
      continue;
    }
    isCut ||= isOver();
    if (isCut) {
      onResult(add(one, notReached(ended)));
      continue;
    }
    const finding = await inTime(check, run, one, verdicts);
    failure = (await tidy(one)) ?? whyBroken(await inTime(check, run, control, verdicts)) ?? (await tidy(control));
    if (failure !== null && isOver()) {
      // The control had no time, so it says nothing of the app.
      [failure, isCut] = [null, true];
      onResult(add(one, needsControl(finding) ? notReached(ended) : finding));
      continue;
    }
    failedAt = one.name;
    const isProven = failure === null || !needsControl(finding);
    onResult(add(one, isProven ? finding : notReached(`${run.broken} after this case: ${String(failure)}`)));
  }
  if (cases.length > 0 && !isCut) {
    const result = add(last, failure === null ? works(run.didLast) : notReached(failure));
    const firstOnes = [control, ...(run.alsoFirst ?? [])];
    if (failure === null || firstOnes.every(({ name }) => name !== failedAt)) onResult(result);
  }
  return {
    passed: failure === null && !results.some(isOpen),
    cases: results,
    stale: [...accepted.keys()].filter((name) => ["noticed", "works"].includes(verdicts.get(name) ?? "")),
  };
}

/** A control that did not work. */
export const isFailedControl = ({ name, verdict }: CaseResult): boolean =>
  name.startsWith("control") && verdict === "not-reached";

/** Makes a finding of a {@link Problem} that a case threw: it says nothing. */
export function findingOf(error: unknown): Finding {
  if (error instanceof Problem) return notReached(error.message);
  throw error;
}

/** An app that is down refuses everything, and a good response has to work with the control. */
const needsControl = ({ verdict }: Finding): boolean => verdict === "noticed" || verdict === "works";

const whyBroken = ({ verdict, did }: Finding): string | null => (verdict === "works" ? null : did);

/** Why a case did not run, or not to its end. */
const ended = "the whole check may take no longer: see --total-timeout";

/** Waits for some work until the check ends, and no longer. */
async function beforeEnd<T>({ until, now }: CheckRun, work: Promise<T>, late: T): Promise<T> {
  if (until === Infinity) return work;
  const done = new AbortController();
  const end = delay(Math.max(0, until - now()), late, { signal: done.signal });
  try {
    return await Promise.race([work, end]);
  } finally {
    done.abort();
    for (const rest of [work, end]) rest.catch(() => undefined);
  }
}

/** @throws {Problem} the case says nothing */
async function tryOne<A>(run: Cases<A>, one: Case<A>, verdicts: Verdicts, over: AbortSignal): Promise<Finding> {
  return one.run(await run.begin(one, verdicts, over));
}

/** Runs a case within its time. One that hangs goes on alone, and can change nothing any more. */
async function inTime<A>(check: CheckRun, run: Cases<A>, one: Case<A>, verdicts: Verdicts): Promise<Finding> {
  const own = check.caseLimit + (one.waits ?? 0) + (one.restarts === true ? check.startLimit : 0);
  const left = Math.max(0, check.until - check.now());
  const limit = Math.min(own, left);
  const over = new AbortController();
  const done = new AbortController();
  const tried = tryOne(run, one, verdicts, over.signal).catch(findingOf).then(run.reword);
  const late = delay(limit, null, { signal: done.signal }).then(() => {
    over.abort();
    return notReached(left < own ? ended : `the case did not end within ${Math.ceil(limit / 1000)} s`);
  });
  try {
    return await Promise.race([tried, late]);
  } finally {
    done.abort();
    for (const rest of [tried, late]) rest.catch(() => undefined);
  }
}
