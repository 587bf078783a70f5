import { OperationError } from "../../core/base/errors.ts";
import { count } from "../../text/words.ts";
import { lastWords } from "./process/app-process.ts";
import type { Subject } from "./subject.ts";
import { isFailedControl } from "./run.ts";
import type { Checked } from "./session.ts";
import { isOpen, staleText, type CaseResult } from "./verdict.ts";

/** What a check comes to: its document, why it did not pass, and what is said beside it. */

export const documentOf = ({ result: { passed, cases, stale }, fields = {} }: Checked) => ({
  passed,
  cases: cases.map(({ name, verdict, did, should, paragraph, fix, accepted, lockedOutAfterMs }) => ({
    ...{ name, verdict, did, should, paragraph, fix },
    ...(lockedOutAfterMs !== undefined && { lockedOutAfterMs }),
    ...(accepted !== undefined && { accepted }),
  })),
  ...(stale.length > 0 && { stale }),
  ...fields,
});

export const notesOf = ({ result, notes }: Checked): readonly string[] => [
  ...(result.isCutOff
    ? ["The check reached --total-timeout before all cases had run: give it more time, or name cases with --case."]
    : []),
  ...result.stale.map((name) => staleText(name, result.cases)),
  ...notes,
];

/** What a team writes down to leave these cases as they are. */
const acceptable = ({ name: checked }: Subject, open: readonly CaseResult[]): string =>
  [
    "To accept what stays as it is, write your reasons into idp.check.yaml:",
    `  ${checked}:`,
    "    accept:",
    ...open.map(({ name }) => `      ${name}: why`),
  ].join("\n");

/** Why it did not pass; null: it did. */
export function refusalOf(subject: Subject, { result, output, ended, remedy = null }: Checked): OperationError | null {
  const { passed, cases } = result;
  if (passed) return null;
  const open = cases.filter(isOpen);
  const fails = `${subject.it} fails ${open.length} of ${count(cases.length, "case")}`;
  const failed = cases.find(isFailedControl);
  if (failed === undefined) return new OperationError("refused", fails, { hint: acceptable(subject, open) });
  const ending = failed.did + (ended === null ? "" : `; ${ended}`);
  const message =
    open.length > 0
      ? `${fails}, and its other cases say nothing, because ${subject.notWorking}: ${ending}`
      : `${subject.notWorking}, so its cases say nothing: ${ending}`;
  const hint = remedy ?? lastWords(subject, output);
  return new OperationError("refused", message, hint === null ? {} : { hint });
}
