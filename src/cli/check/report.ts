import type { CaseResult } from "../../client/app-check/case.ts";
import type { RunResult } from "../../client/app-check/run.ts";
import { cannotBeWritten, putFile } from "../output/put-file.ts";
import { sumOf } from "./result.ts";

/** The result as a file: JUnit for a pipeline, Markdown for people. */

/** @throws {OperationError} usage if it cannot be written */
export async function writeReport(file: string, result: RunResult): Promise<void> {
  const text = /\.xml$/i.test(file) ? junit(result) : markdown(result);
  try {
    await putFile(file, text, 0o644);
  } catch (error) {
    throw cannotBeWritten(`--report ${file}`, error);
  }
}

/** Characters that XML 1.0 does not allow, not even escaped. */
const noXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const xml = (text: string): string =>
  text.replaceAll(noXml, "\ufffd").replaceAll(/[&<>"]/g, (mark) => entities[mark] ?? mark);

/** A control that does not work fails, as does a case that went unnoticed. What is not required or was not reached is skipped. */
const isFailure = ({ name, verdict }: CaseResult): boolean =>
  verdict === "unnoticed" || (name === "control" && verdict === "not-reached");

function junitCase(one: CaseResult): string {
  const { name, verdict, did, mustNot, should, paragraph, fix } = one;
  const place = name.includes(".") ? `.${name.replace(/\..*/, "")}` : "";
  const open = `  <testcase classname="${xml(`check-client${place}`)}" name="${xml(name)}"`;
  const detail = `the app ${did}\nIt should ${should} (${paragraph})\nChange: ${fix}`;
  if (isFailure(one)) {
    const message = verdict === "unnoticed" ? mustNot : did;
    return `${open}>\n    <failure type="${verdict}" message="${xml(message)}">${xml(detail)}</failure>\n  </testcase>`;
  }
  if (verdict === "noticed" || verdict === "works") return `${open}/>`;
  return `${open}>\n    <skipped message="${xml(`${verdict}: ${did} (${paragraph})`)}"/>\n  </testcase>`;
}

function junit({ cases }: RunResult): string {
  const failures = cases.filter(isFailure).length;
  const skipped = cases.filter((one) => !isFailure(one) && one.verdict.startsWith("not-")).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="idp check client" tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}">`,
    ...cases.map(junitCase),
    "</testsuite>",
    "",
  ].join("\n");
}

const cell = (text: string): string => text.replaceAll(/[\\|`*_<>[\]]/g, "\\$&").replaceAll(/\s+/g, " ");

function markdown({ passed, cases }: RunResult): string {
  const open = cases.filter(({ verdict }) => verdict === "unnoticed");
  const details = open.flatMap(({ name, mustNot, did, should, paragraph, fix }) => [
    `## ${cell(name)}`,
    "",
    `- Must not happen: ${cell(mustNot)}`,
    `- The app ${cell(did)}`,
    `- It should ${cell(should)} (${cell(paragraph)})`,
    `- Change: ${cell(fix)}`,
    "",
  ]);
  return [
    `# idp check client: ${passed ? "passed" : "failed"}`,
    "",
    `${sumOf(cases)}.`,
    "",
    ...details,
    "## All cases",
    "",
    "| Case | Verdict | The app |",
    "| --- | --- | --- |",
    ...cases.map(({ name, verdict, did }) => `| ${cell(name)} | ${verdict} | ${cell(did)} |`),
    "",
  ].join("\n");
}
