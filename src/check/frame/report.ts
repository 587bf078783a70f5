import { OperationError } from "../../core/base/errors.ts";
import { escapeText } from "../../text/terminal.ts";
import type { Subject } from "./subject.ts";
import type { RunFlags } from "./flags.ts";
import { isFailedControl, type RunResult } from "./run.ts";
import { isOpen, staleText, sumOf, type CaseResult } from "./verdict.ts";

/**
 * The result as the text of a file: JUnit for a pipeline, Markdown for people. Both are read on terminals, too, and what an app or an API answered
 * may have characters that act there.
 */

/** @throws {OperationError} usage */
export function checkReport({ report }: Pick<RunFlags, "report">): void {
  if (report === undefined || /\.(xml|md)$/i.test(report)) return;
  throw new OperationError("usage", `--report ${report} ends neither in .xml nor in .md`, {
    hint: "JUnit: report.xml. Markdown: report.md",
  });
}

/** @param file its ending says which of them it is */
export const reportOf = (file: string, subject: Subject, result: RunResult): string =>
  /\.xml$/i.test(file) ? junit(subject, result) : markdown(subject, result);

/** Characters that XML 1.0 does not allow, not even escaped. */
const noXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const xml = (text: string): string =>
  escapeText(text)
    .replaceAll(noXml, "\ufffd")
    .replaceAll(/[&<>"]/g, (mark) => entities[mark] ?? mark);

/** A control that does not work fails, as does a case that went unnoticed. What is not required or was not reached is skipped. */
const isFailure = (one: CaseResult): boolean => isOpen(one) || isFailedControl(one);

/** What is neither right nor wrong. */
const isSkipped = (one: CaseResult): boolean =>
  !isFailure(one) && (one.verdict.startsWith("not-") || one.accepted !== undefined);

function junitCase({ name: checked, it }: Subject, one: CaseResult, { cases, stale }: RunResult): string {
  const { name, verdict, did, mustNot, should, paragraph, fix, accepted, lockedOutAfterMs } = one;
  const place = name.includes(".") ? `.${name.replace(/\..*/, "")}` : "";
  const time = typeof lockedOutAfterMs === "number" ? ` time="${lockedOutAfterMs / 1000}"` : "";
  const open = `  <testcase classname="${xml(`check-${checked}${place}`)}" name="${xml(name)}"${time}`;
  if (isFailure(one)) {
    // Why a control says nothing is a sentence by itself.
    const [message, what] = verdict === "unnoticed" ? [mustNot, `${it} ${did}`] : [did, did];
    const detail = `${what}\nIt should ${should} (${paragraph})\nChange: ${fix}`;
    return `${open}>\n    <failure type="${verdict}" message="${xml(message)}">${xml(detail)}</failure>\n  </testcase>`;
  }
  if (stale.includes(name))
    return `${open}>\n    <system-out>${xml(staleText(name, cases))}</system-out>\n  </testcase>`;
  if (!isSkipped(one)) return `${open}/>`;
  const why = accepted === undefined ? `${verdict}: ${did} (${paragraph})` : `accepted: ${accepted}. ${it} ${did}`;
  return `${open}>\n    <skipped message="${xml(why)}"/>\n  </testcase>`;
}

function junit(subject: Subject, result: RunResult): string {
  const { cases } = result;
  const failures = cases.filter(isFailure).length;
  const skipped = cases.filter(isSkipped).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="idp check ${subject.name}" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}">`,
    ...cases.map((one) => junitCase(subject, one, result)),
    "</testsuite>",
    "",
  ].join("\n");
}

const cell = (text: string): string => escapeText(text.replaceAll(/\s+/g, " ")).replaceAll(/[\\|`*_<>[\]]/g, "\\$&");

/** What an app answered, as code: a renderer makes no links, mentions or HTML of it (CommonMark 6.1; in a table, GFM reads `|` first). */
function code(text: string): string {
  const line = escapeText(text.replaceAll(/\s+/g, " ")).trim();
  const maxRun = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(maxRun + 1);
  return line === "" ? "" : `${fence} ${line.replaceAll("|", "\\|")} ${fence}`;
}

function markdown({ name: checked, it }: Subject, { passed, cases, stale }: RunResult): string {
  const open = cases.filter(isOpen);
  const details = open.flatMap(({ name, mustNot, did, should, paragraph, fix }) => [
    `## ${cell(name)}`,
    "",
    `- Must not happen: ${cell(mustNot)}`,
    `- What ${it} did: ${code(did)}`,
    `- It should ${cell(should)} (${cell(paragraph)})`,
    `- Change: ${cell(fix)}`,
    "",
  ]);
  return [
    `# idp check ${checked}: ${passed ? "passed" : "failed"}`,
    "",
    `${sumOf(cases)}.`,
    "",
    ...details,
    ...stale.flatMap((name) => [cell(staleText(name, cases)), ""]),
    "## All cases",
    "",
    `| Case | Verdict | What ${it} did |`,
    "| --- | --- | --- |",
    ...cases.map(({ name, verdict, did, accepted }) => {
      const why = accepted === undefined ? "" : ` (accepted: ${cell(accepted)})`;
      return `| ${cell(name)} | ${verdict}${why} | ${code(did)} |`;
    }),
    "",
  ].join("\n");
}
