import type { CaseResult, Verdict } from "../../client/app-check/case.ts";
import type { RunResult } from "../../client/app-check/run.ts";
import { OperationError } from "../../core/errors.ts";
import { failureOf } from "../failure.ts";
import type { Invocation } from "../invocation.ts";
import type { AppProcess } from "./app-process.ts";
import { escapeDeep } from "../output/escape.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { wrap } from "../output/table.ts";
import { count } from "../output/words.ts";

const marks: Readonly<Record<Verdict, string>> = {
  noticed: "✓",
  works: "✓",
  unnoticed: "✗",
  "not-required": "-",
  "not-reached": "?",
};

/** How many cells the longest name and the longest verdict take. */
const nameWidth = 28;
const verdictWidth = 12;

const paintOf = (verdict: Verdict, style: Style): ((text: string) => string) => {
  if (verdict === "unnoticed") return style.red;
  if (verdict === "noticed" || verdict === "works") return style.green;
  return verdict === "not-reached" ? style.yellow : style.dim;
};

/** The line of a case, while it runs. */
export function caseLine(result: CaseResult, style: Style): string {
  const { name, verdict, did } = escapeDeep(result);
  const paint = paintOf(verdict, style);
  return `${paint(`${marks[verdict]} ${verdict.padEnd(verdictWidth)}`)}  ${name.padEnd(nameWidth)}  ${did}`.trimEnd();
}

const words: Readonly<Record<Verdict, string>> = {
  unnoticed: "unnoticed",
  noticed: "noticed",
  works: "working",
  "not-required": "not required",
  "not-reached": "not reached",
};

/** "3 unnoticed, 38 noticed, 5 working". */
export const sumOf = (cases: readonly CaseResult[]): string =>
  Object.entries(words)
    .map(([verdict, word]) => [cases.filter((one) => one.verdict === verdict).length, word] as const)
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(", ");

/** What the developer has to know about a case that went unnoticed. */
function block({ name, mustNot, did, should, paragraph, fix }: CaseResult, style: Style, width: number): string {
  const line = (title: string, text: string): string =>
    `    ${style.dim(title.padEnd(10))}${wrap(text, width, " ".repeat(14)).trimStart()}`;
  return [
    `  ${style.red("✗")} ${style.bold(name)}: ${wrap(mustNot, width, "    ").trimStart()}`,
    line("the app", did),
    line("should", `${should} (${paragraph})`),
    line("change", fix),
  ].join("\n");
}

const endingOf = (app: AppProcess | null): readonly string[] => {
  const ended = app?.ended() ?? null;
  return ended === null ? [] : [`; ${ended}`];
};

/** The last lines of the app, which may say why it failed; null: it printed nothing. */
export const lastWords = (output: readonly string[]): string | null =>
  output.length === 0 ? null : ["The app printed last:", ...output.map((line) => `  ${line}`)].join("\n");

/** @param app the app that the command started */
export function outcomeOf(cli: Invocation, { passed, cases }: RunResult, app: AppProcess | null): Outcome {
  const open = cases.filter(({ verdict }) => verdict === "unnoticed");
  const failed = cases.find(({ name, verdict }) => name === "control" && verdict === "not-reached");
  const message =
    failed === undefined
      ? `the app did not notice ${count(open.length, "wrong response")} of ${count(cases.length, "case")}`
      : ["the app did not sign in, so its cases say nothing: ", failed.did, ...endingOf(app)].join("");
  const hint = failed === undefined ? null : lastWords(app?.output() ?? []);
  const error = new OperationError("refused", message, hint === null ? {} : { hint });
  const document = {
    passed,
    cases: cases.map(({ name, verdict, did, should, paragraph, fix }) => ({
      name,
      verdict,
      did,
      should,
      paragraph,
      fix,
    })),
  };
  return {
    ...answer(document, () => ""),
    text: (style) => {
      const blocks = escapeDeep(open).map((one) => block(one, style, cli.width));
      return ["", ...blocks.flatMap((one) => [one, ""]), style.bold(`${sumOf(cases)}.`)].join("\n");
    },
    failure: passed ? null : failureOf(error),
  };
}
