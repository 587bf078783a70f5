/** What a case, a finding and a verdict are. */

/**
 * `noticed`: refused, as required. `unnoticed`: not refused, or what must work did not. `not-required`: the standard allows it.
 * `not-reached`: the case says nothing. `works`: a control, or a case that must still work.
 */
export type Verdict = "noticed" | "unnoticed" | "not-required" | "not-reached" | "works";

/** What a case found. */
export interface Finding {
  readonly verdict: Verdict;
  /** What the app or the API did, or why that is not known: "signed the user in". */
  readonly did: string;
  /** In place of the case's paragraph, where another one decides. */
  readonly paragraph?: string;
  /** In place of those of the case, where something else happened than it says. */
  readonly mustNot?: string;
  readonly fix?: string;
  /** Milliseconds after which somebody who left was locked out; null: they were not. Absent: the case does not measure it. */
  readonly lockedOutAfterMs?: number | null;
}

export interface CaseText {
  readonly name: string;
  /** What must not happen, or what must still work. */
  readonly mustNot: string;
  /** What the app or the API should do. */
  readonly should: string;
  readonly paragraph: string;
  /** The usual line to change. */
  readonly fix: string;
}

/** The usual lines to change of one library: by the name of a case, or by what the line is about. */
export type Fixes = Readonly<Record<string, string>>;

/**
 * A case with the line of a library; with its own, which names no library, where there is none.
 * @param topics which cases a line is about
 */
export function withFixOf<C extends CaseText>(
  one: C,
  fixes: Fixes | undefined,
  topics: Readonly<Record<string, RegExp>>,
): C {
  const topic = Object.keys(topics).find((name) => topics[name]?.test(one.name) === true);
  const fix = fixes?.[one.name] ?? fixes?.[topic ?? ""];
  return fix === undefined ? one : { ...one, fix };
}

/** @typeParam A what the case works with */
export interface Case<A> extends CaseText {
  /** It spoils what is read only once, so the app or the API is started again, before and after. */
  readonly restarts?: true;
  /** Milliseconds that it may have to wait for. */
  readonly waits?: number;
  /** The cases whose verdicts it reads. They stand before it, and run with it where it is named alone. */
  readonly reads?: readonly string[];
  run(attempt: A): Promise<Finding>;
}

/** A case that has run. */
export interface CaseResult extends CaseText {
  readonly verdict: Verdict;
  readonly did: string;
  readonly lockedOutAfterMs?: number | null;
  /** Why it may go unnoticed. Absent: it may not. */
  readonly accepted?: string;
}

/** A case that went unnoticed, and was not accepted. */
export const isOpen = ({ verdict, accepted }: CaseResult): boolean => verdict === "unnoticed" && accepted === undefined;

/** Where something that a case needs could not be had, a finding says why. */
export const isFinding = (found: object): found is Finding => "verdict" in found;

/** @param instead where something else happened than the case says */
export const unnoticed = (did: string, instead: Pick<Finding, "mustNot" | "fix"> = {}): Finding => ({
  verdict: "unnoticed",
  did,
  ...instead,
});
export const noticed = (did: string): Finding => ({ verdict: "noticed", did });
export const works = (did: string): Finding => ({ verdict: "works", did });
export const notReached = (did: string): Finding => ({ verdict: "not-reached", did });
export const notRequired = (did: string, paragraph?: string): Finding => ({
  verdict: "not-required",
  did,
  ...(paragraph !== undefined && { paragraph }),
});

const words: Readonly<Record<Verdict, string>> = {
  unnoticed: "unnoticed",
  noticed: "noticed",
  works: "working",
  "not-required": "not required",
  "not-reached": "not reached",
};

/** "3 unnoticed (1 accepted), 38 noticed, 5 working". */
export const sumOf = (cases: readonly CaseResult[]): string =>
  Object.entries(words)
    .map(([verdict, word]) => [cases.filter((one) => one.verdict === verdict), word] as const)
    .filter(([found]) => found.length > 0)
    .map(([found, word]) => {
      const accepted = found.filter((one) => one.accepted !== undefined).length;
      return `${found.length} ${word}${accepted === 0 ? "" : ` (${accepted} accepted)`}`;
    })
    .join(", ");

/** What is said of a case that is accepted, and need not be. */
export const staleText = (name: string, cases: readonly CaseResult[]): string => {
  const isWorking = cases.some((one) => one.name === name && one.verdict === "works");
  return `${name} is accepted, but ${isWorking ? "works" : "is noticed"} now: it need not be accepted any more.`;
};
