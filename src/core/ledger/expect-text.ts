import { escapeLine } from "../../text/terminal.ts";
import type { ExpectResult } from "./expect.ts";
import type { RequestRecord } from "./record.ts";

/**
 * The result of an expectation in words: the output of `idp expect`, and the message of the error that the library throws. A test runner prints
 * them on a terminal, and requests may have characters that act there.
 */

/** A request in one line. */
const requestInWords = ({ id, method, endpoint, status, client, user, grant_type }: RequestRecord): string =>
  [id, `${method} ${endpoint}`, status, grant_type, client, user].filter((part) => part !== null).join("  ");

/** Why a request was refused, which paragraph requires that, and what to do. A paragraph that the reason names is not repeated. */
const refusalLines = ({ error, rule, fix }: Pick<RequestRecord, "error" | "rule" | "fix">): readonly string[] => [
  ...(error === null ? [] : [error]),
  ...(rule === null || error?.includes(rule) === true ? [] : [`rule: ${rule}`]),
  ...(fix === null ? [] : [`fix: ${fix}`]),
];

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `      ${line}`);

const counted = (count: number): string => (count === 0 ? "none" : String(count));

/** The lines of a result. */
export function expectLines({ met, count, expected, dropped, nearest }: ExpectResult): readonly string[] {
  const isTooMany = nearest[0]?.differs.length === 0;
  return [
    met
      ? `Met: ${expected}. The ledger holds ${counted(count)}.`
      : `Not met: ${expected}. The ledger holds ${counted(count)}.`,
    ...(dropped && !met
      ? [
          "It has dropped older requests that could match, so it cannot tell. Before the test: idp requests clear. To hold more: the setting ledger.",
        ]
      : []),
    ...(nearest.length === 0 ? [] : [isTooMany ? "These match:" : "Nearest:"]),
    ...nearest.flatMap(({ request, differs }) => [
      `  ${requestInWords(request)}`,
      ...indented([...differs, ...refusalLines(request)]),
    ]),
  ].map(escapeLine);
}

/** The ledger as a failed test prints it. */
export const ledgerText = (records: readonly RequestRecord[]): string =>
  [
    records.length === 0 ? "idp was asked nothing." : "What was asked of idp:",
    ...records.flatMap((record) => [
      `  ${requestInWords(record)}`,
      ...indented([...refusalLines(record), ...(record.fault === null ? [] : [`fault ${record.fault}`])]),
    ]),
  ]
    .map(escapeLine)
    .join("\n");

/** The ledger does not hold what was expected. */
export class ExpectationError extends Error {
  override readonly name = "ExpectationError";
  readonly result: ExpectResult;
  constructor(result: ExpectResult) {
    super(expectLines(result).join("\n"));
    this.result = result;
  }
}
