import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../client/check.ts";
import { redacted } from "../../text/redacted.ts";
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
  /** Shows on a terminal what runs, until the next result. @param what in a few words @param done how much of it, or of the check */
  readonly progress: (what: string, done: number, total: number) => void;
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
  /** Notes what the check leaves in the app, which is said at the end. @param key what it replaces @param inReport the same without a mark */
  readonly leaves: (key: string, what: string, inReport?: string) => void;
}

/** What each kind of check adds to {@link CheckRun}: its controls and its cases. */
interface Suite<A> {
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
  /** Takes out of a text the secrets that the app knows: it may repeat them wherever it likes. */
  readonly clean?: (text: string) => string;
  /** Removes what a case left behind. @returns why the app or the API does not answer any more, or null */
  readonly tidy: (one: Case<A>) => Promise<string | null>;
}

export interface RunResult {
  readonly passed: boolean;
  readonly cases: readonly CaseResult[];
  /** Accepted names of cases that are noticed now. */
  readonly stale: readonly string[];
  /** The time was over before all cases had run. */
  readonly isCutOff: boolean;
}

/** Why the cases that are left do not run. */
interface Stop {
  readonly why: string;
  /** What is said of them. */
  readonly rest: string;
}

const ended = "the check reached --total-timeout";
/** It says nothing of the app. */
const timeIsUp: Stop = { why: ended, rest: `not run: ${ended}` };

export async function runCases<A>(run: CheckRun, suite: Suite<A>): Promise<RunResult> {
  const { control, alsoFirst = [], cases, last, clean = (text) => text } = suite;
  const results: CaseResult[] = [];
  const verdicts = new Map<string, Verdict>();
  const isOver = (): boolean => run.now() >= run.until;

  let stop: Stop | null = null;
  for (const one of [control, ...alsoFirst]) stop ??= await runFirst(one);
  const hasBegun = stop === null;
  for (const one of cases) {
    if (stop === null && isOver()) stop = timeIsUp;
    if (stop === null) stop = await runCase(one);
    else if (stop === timeIsUp) show(one, notReached(stop.rest));
    else add(one, notReached(stop.rest));
  }
  if (cases.length > 0 && stop !== timeIsUp) {
    const finding = stop === null ? works(suite.didLast) : notReached(stop.why);
    if (hasBegun) show(last, finding);
    else add(last, finding);
  }
  return {
    passed: (stop === null || stop === timeIsUp) && !results.some(isOpen),
    cases: results,
    stale: [...run.accepted.keys()].filter((name) => ["noticed", "works"].includes(verdicts.get(name) ?? "")),
    isCutOff: stop === timeIsUp,
  };

  /** A control before all cases. It is tried once: what was typed may be wrong. */
  async function runFirst(one: Case<A>): Promise<Stop | null> {
    run.progress(one.name, 0, cases.length);
    const finding = await inTime(run, suite, one, verdicts);
    show(one, finding);
    const why = (await tidy(one)) ?? whyBroken(finding);
    return why === null ? null : { why, rest: `not run: see ${one.name}` };
  }

  /** A case, and the control behind it. One slow answer of a busy machine ends no run, but it proves no case, so the case runs again. */
  async function runCase(one: Case<A>): Promise<Stop | null> {
    run.progress(one.name, cases.indexOf(one), cases.length);
    let { finding, why } = await withControl(one);
    if (why !== null && !isOver() && (await tryControl()) === null) {
      if (finding.verdict === "unnoticed") why = null;
      else ({ finding, why } = await withControl(one));
    }
    const isProven = why === null || !needsControl(finding);
    if (why !== null && isOver()) {
      show(one, isProven ? finding : notReached(ended));
      return timeIsUp;
    }
    show(one, isProven ? finding : notReached(`${suite.broken} after this case: ${why}`));
    return why === null ? null : { why, rest: `not run: see ${one.name}` };
  }

  async function withControl(one: Case<A>) {
    const finding = await inTime(run, suite, one, verdicts);
    return { finding, why: (await tidy(one)) ?? (await tryControl()) };
  }

  /** @returns why it fails, or null */
  async function tryControl(): Promise<string | null> {
    const finding = await inTime(run, suite, control, verdicts);
    const whyNotTidy = await tidy(control);
    return whyBroken(finding) ?? whyNotTidy;
  }

  function tidy(one: Case<A>): Promise<string | null> {
    return beforeEnd(run, suite.tidy(one), null);
  }

  function show(one: CaseText, finding: Finding): void {
    run.onResult(add(one, finding));
  }

  function add({ name, mustNot, should, paragraph, fix }: CaseText, finding: Finding): CaseResult {
    const reason = finding.verdict === "unnoticed" ? run.accepted.get(name) : undefined;
    const result = {
      // What an app answered, or the address that it was asked at, may have a code or a token in it.
      ...{ name, mustNot, should, paragraph, fix, ...finding, did: redacted(clean(finding.did)) },
      ...(reason !== undefined && { accepted: reason }),
    };
    results.push(result);
    verdicts.set(name, finding.verdict);
    return result;
  }
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
async function tryOne<A>(suite: Suite<A>, one: Case<A>, verdicts: Verdicts, over: AbortSignal): Promise<Finding> {
  return one.run(await suite.begin(one, verdicts, over));
}

/** Runs a case within its time. One that hangs goes on alone, and can change nothing any more. */
async function inTime<A>(run: CheckRun, suite: Suite<A>, one: Case<A>, verdicts: Verdicts): Promise<Finding> {
  const own = run.caseLimit + (one.waits ?? 0) + (one.restarts === true ? run.startLimit : 0);
  const left = Math.max(0, run.until - run.now());
  const limit = Math.min(own, left);
  const over = new AbortController();
  const done = new AbortController();
  const tried = tryOne(suite, one, verdicts, over.signal).catch(findingOf);
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
