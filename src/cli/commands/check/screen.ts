import type { Subject } from "../../../check/frame/subject.ts";
import type { Host } from "../../../check/frame/host.ts";
import { documentOf, notesOf, refusalOf } from "../../../check/frame/result.ts";
import type { Checked } from "../../../check/frame/session.ts";
import { isOpen, sumOf, type CaseResult, type Verdict } from "../../../check/frame/verdict.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { escapeDeep } from "../../output/escape.ts";
import { say, type Outcome } from "../../output/print.ts";
import { showProgress } from "../../output/progress.ts";
import type { Style } from "../../output/style.ts";
import { cells, wrap } from "../../output/table.ts";

/** What a check prints: a line for each case, and what a person has to know at the end. */

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

/** What the developer has to know about a case that went unnoticed. */
export function block(
  { name, mustNot, did, should, paragraph, fix }: CaseResult,
  { it }: Subject,
  style: Style,
  width: number,
): string {
  const line = (title: string, text: string): string =>
    `    ${style.dim(title.padEnd(10))}${wrap(text, width, " ".repeat(14)).trimStart()}`;
  const head = wrap(`${name}: ${mustNot}`, width, "    ").trimStart();
  return [
    `  ${style.red("✗")} ${style.bold(name)}${head.slice(name.length)}`,
    line(it, did),
    line("should", `${should} (${paragraph})`),
    line("change", fix),
  ].join("\n");
}

/** What a check comes to, as the command line prints it. */
export function outcomeOf(cli: Invocation, check: Subject, checked: Checked): Outcome {
  const { result, lead = null } = checked;
  const refusal = refusalOf(check, checked);
  return {
    document: documentOf(checked),
    text: (style) => {
      const blocks = escapeDeep(result.cases.filter(isOpen)).map((one) => block(one, check, style, cli.width));
      const first = lead === null ? [] : ["", style.bold(lead)];
      return [...first, "", ...blocks.flatMap((one) => [one, ""]), style.bold(`${sumOf(result.cases)}.`)].join("\n");
    },
    notes: notesOf(checked),
    failure: refusal === null ? null : failureOf(refusal),
  };
}

/** What is shown while a check runs. With `--json` there is nothing but the document. */
export function screenOf(cli: Invocation): Host["screen"] {
  let hasHeading = false;
  return {
    say: (line) => say(cli, line),
    begin: (line) => {
      if (!cli.json) say(cli, line);
    },
    result(one, maxName) {
      if (cli.json) return;
      const isOfAccount = one.name.startsWith("account.");
      if (isOfAccount && !hasHeading) cli.stdout.write("Is it the right account?\n");
      hasHeading ||= isOfAccount;
      const indent = isOfAccount ? "  " : "";
      const line = caseLine(one, cli.out, { width: cli.width - indent.length, maxName });
      cli.stdout.write(`${line.replaceAll(/^/gm, indent)}\n`);
    },
    progress: (what) => showProgress(cli, what),
  };
}
