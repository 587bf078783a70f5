import { isOpen, type CaseResult, type Verdict } from "../../../check/frame/verdict.ts";
import type { RunResult } from "../../../check/frame/run.ts";
import { OperationError } from "../../../core/errors.ts";
import type { Hint } from "../../../core/hint.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import type { AppProcess } from "./app-process.ts";
import { escapeDeep } from "../../output/escape.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { cells, wrap } from "../../output/table.ts";
import { count } from "../../output/words.ts";
import type { Subject } from "./subject.ts";

const marks: Readonly<Record<Verdict, string>> = {
  noticed: "✓",
  works: "✓",
  unnoticed: "✗",
  "not-required": "-",
  "not-reached": "?",
};

/** How many cells a long name and the longest verdict take. */
const nameWidth = 28;
const verdictWidth = 12;

const paintOf = (verdict: Verdict, style: Style): ((text: string) => string) => {
  if (verdict === "unnoticed") return style.red;
  if (verdict === "noticed" || verdict === "works") return style.green;
  return verdict === "not-reached" ? style.yellow : style.dim;
};

/** Indents what stands below the line of a case, so that it begins under the name. */
const underName = " ".repeat("✓ ".length + verdictWidth + 2);

/**
 * The line of a case, which is printed as soon as it has ended.
 * @param width cells of the terminal: what does not fit goes below, in whole words
 * @param maxName cells that the longest name takes
 */
export function caseLine(
  result: CaseResult,
  style: Style,
  { width, maxName = nameWidth }: { readonly width: number; readonly maxName?: number | undefined },
): string {
  const { name, verdict, did, accepted } = escapeDeep(result);
  const paint = accepted === undefined ? paintOf(verdict, style) : style.dim;
  const mark = accepted === undefined ? marks[verdict] : "-";
  const why = accepted === undefined ? "" : ` (accepted: ${accepted})`;
  const head = `${paint(`${mark} ${verdict.padEnd(verdictWidth)}`)}  `;
  const fits = underName.length + maxName + 2 + cells(did + why) <= width;
  if (fits) return `${head}${name.padEnd(maxName)}  ${did}${style.dim(why)}`.trimEnd();
  return `${head}${name}\n${wrap(did + why, width, underName)}`;
}

const words: Readonly<Record<Verdict, string>> = {
  unnoticed: "unnoticed",
  noticed: "noticed",
  works: "working",
  "not-required": "not required",
  "not-reached": "not reached",
};

/** A control that did not work. */
export const isFailedControl = ({ name, verdict }: CaseResult): boolean =>
  name.startsWith("control") && verdict === "not-reached";

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

/** What the developer has to know about a case that went unnoticed. */
function block(
  { name, mustNot, did, should, paragraph, fix }: CaseResult,
  { it }: Subject,
  style: Style,
  width: number,
): string {
  const line = (title: string, text: string): string =>
    `    ${style.dim(title.padEnd(10))}${wrap(text, width, " ".repeat(14)).trimStart()}`;
  return [
    `  ${style.red("✗")} ${style.bold(name)}: ${wrap(mustNot, width, "    ").trimStart()}`,
    line(it, did),
    line("should", `${should} (${paragraph})`),
    line("change", fix),
  ].join("\n");
}

const endingOf = (app: AppProcess | null): readonly string[] => {
  const ended = app?.ended() ?? null;
  return ended === null ? [] : [`; ${ended}`];
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The last lines of the app, which may say why it failed; null: it printed nothing. */
export const lastWords = ({ it }: Subject, output: readonly string[]): string | null =>
  output.length === 0 ? null : [`${capital(it)} printed last:`, ...output.map((line) => `  ${line}`)].join("\n");

/** What a team writes down to leave these cases as they are. */
const acceptable = ({ name: checked }: Subject, open: readonly CaseResult[]): string =>
  [
    "To accept what stays as it is, write your reasons into idp.check.yaml:",
    `  ${checked}:`,
    "    accept:",
    ...open.map(({ name }) => `      ${name}: why`),
  ].join("\n");

/** What is said of a case that is accepted, and need not be. */
export const staleText = (name: string, cases: readonly CaseResult[]): string => {
  const isWorking = cases.some((one) => one.name === name && one.verdict === "works");
  return `${name} is accepted, but ${isWorking ? "works" : "is noticed"} now: it need not be accepted any more.`;
};

/** What one command adds to the result. */
export interface AddedToOutcome {
  /** What lets the control work, where that is known. */
  readonly remedy?: Hint | null;
  /** Members of the document. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly notes?: readonly string[];
  /** The sentence that comes first. */
  readonly lead?: string | null;
}

/** @param app the app or API that the command started */
export function outcomeOf(
  cli: Invocation,
  subject: Subject,
  result: RunResult,
  app: AppProcess | null,
  { remedy = null, fields = {}, notes = [], lead = null }: AddedToOutcome = {},
): Outcome {
  const { passed, cases, stale } = result;
  const open = cases.filter(isOpen);
  const failed = cases.find(isFailedControl);
  const missed = `${subject.missed(open.length)} of ${count(cases.length, "case")}`;
  const ending = failed === undefined ? "" : [failed.did, ...endingOf(app)].join("");
  const message =
    failed === undefined
      ? missed
      : open.length > 0
        ? `${missed}, and its other cases say nothing, because ${subject.notWorking}: ${ending}`
        : `${subject.notWorking}, so its cases say nothing: ${ending}`;
  const hint = failed === undefined ? acceptable(subject, open) : (remedy ?? lastWords(subject, app?.output() ?? []));
  const error = new OperationError("refused", message, hint === null ? {} : { hint });
  const document = {
    passed,
    cases: cases.map(({ name, verdict, did, should, paragraph, fix, accepted, lockedOutAfterMs }) => ({
      ...{ name, verdict, did, should, paragraph, fix },
      ...(lockedOutAfterMs !== undefined && { lockedOutAfterMs }),
      ...(accepted !== undefined && { accepted }),
    })),
    ...(stale.length > 0 && { stale }),
    ...fields,
  };
  return {
    ...answer(document, () => "", { notes: [...stale.map((name) => staleText(name, cases)), ...notes] }),
    text: (style) => {
      const blocks = escapeDeep(open).map((one) => block(one, subject, style, cli.width));
      const first = lead === null ? [] : ["", style.bold(lead)];
      return [...first, "", ...blocks.flatMap((one) => [one, ""]), style.bold(`${sumOf(cases)}.`)].join("\n");
    },
    failure: passed ? null : failureOf(error),
  };
}
