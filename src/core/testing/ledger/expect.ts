import { ownValue } from "../../../text/json.ts";
import { durationOf } from "../../../text/time.ts";
import { after, current, differences, type Difference, type RequestFilter, type ExpectEndpoint } from "./filter.ts";
import { shownAs } from "./redact-record.ts";
import { OperationError } from "../../base/errors.ts";
import type { CommandLine } from "../../base/hint.ts";
import { admin, type Operator } from "../../records/operators/roles.ts";
import type { KeptRequest, Ledger } from "./ledger.ts";
import { requestJson, type RequestRecord } from "./request-json.ts";
import { escapeLine } from "../../../text/terminal.ts";

/** Expectations on the ledger: how often an app sent a certain request. */

/** Which requests an app should have sent. */
export interface Expectation extends RequestFilter {
  /** `token`, `login`, …; `any`. */
  readonly endpoint: ExpectEndpoint;
  /** Parameters that it sent, by their names. */
  readonly param?: Readonly<Record<string, string>> | undefined;
  /** Exactly this many requests. */
  readonly times?: number | undefined;
  /** At least this many. Default, without the other two: 1. */
  readonly at_least?: number | undefined;
  /** No request at all; with `within`, for the whole time. */
  readonly never?: boolean | undefined;
  /** How long to wait for the expectation to be met: seconds, or `5s`. */
  readonly within?: number | string | undefined;
}

/** A request that does not match, or one match too many. */
interface NearMiss {
  readonly request: RequestRecord;
  /** Sentences: "client is demo-app, not demo-spa". None: the request matches. */
  readonly differs: readonly string[];
}

/** Whether the ledger has what was expected. */
export interface ExpectResult {
  readonly met: boolean;
  /** How many requests match. */
  readonly count: number;
  /** In words: "exactly 1 token request with grant_type refresh_token". */
  readonly expected: string;
  /** The ledger no longer holds older requests that could match: the count may be too low. */
  readonly dropped: boolean;
  /** Where it is not met: the requests that come closest. */
  readonly nearest: readonly NearMiss[];
}

const secondsOf = (within: number | string = 0): number => (typeof within === "number" ? within : durationOf(within));

/** The least and the highest number of requests that meet the expectation. */
function boundsOf({ times, at_least, never }: Expectation): readonly [least: number, most: number] {
  if (never === true) return [0, 0];
  return times === undefined ? [at_least ?? 1, Infinity] : [times, times];
}

/** The parameters in which a request differs. */
const paramDifferences = (ledger: Ledger, { param = {} }: Expectation, record: KeptRequest): readonly Difference[] =>
  Object.entries(param).flatMap(([name, wanted]) => {
    const recorded = ownValue(record.parameters, name);
    return [recorded].flat().some((one) => ledger.isSame(wanted, one))
      ? []
      : [{ name, wanted: ledger.shown(name, wanted), got: recorded === undefined ? null : shownAs(recorded) }];
  });

const sentence = ({ name, wanted, got }: Difference): string => `${name} is ${got ?? "missing"}, not ${wanted}`;

const maxShown = 3;

/** The misses worth showing. A request to another endpoint is one only if everything else fits. */
function nearestOf(
  ledger: Ledger,
  line: CommandLine,
  looked: readonly { record: KeptRequest; differs: readonly Difference[] }[],
  isFiltered: boolean,
) {
  const near = looked.filter(
    ({ differs }) => !differs.some(({ name }) => name === "endpoint") || (isFiltered && differs.length === 1),
  );
  return near
    .sort(
      (a, b) =>
        a.differs.length - b.differs.length || (ledger.placeOf(b.record.id) ?? 0) - (ledger.placeOf(a.record.id) ?? 0),
    )
    .slice(0, maxShown)
    .map(({ record, differs }): NearMiss => ({ request: requestJson(record, line), differs: differs.map(sentence) }));
}

/** Whether an app may have sent this request. A CORS preflight (OPTIONS) comes from the browser: the app sent one request, not two. */
const isOfApp = ({ method }: Expectation, record: KeptRequest): boolean =>
  record.endpoint !== "api" && (method !== undefined || record.method !== "OPTIONS");

const matches = (ledger: Ledger, expectation: Expectation, record: KeptRequest): boolean =>
  isOfApp(expectation, record) &&
  after(ledger, expectation.since)(record) &&
  differences(expectation, record).length === 0 &&
  paramDifferences(ledger, expectation, record).length === 0;

type Count = Pick<ExpectResult, "met" | "count" | "dropped">;

function countOf(ledger: Ledger, expectation: Expectation, count: number): Count {
  const { since, endpoint } = expectation;
  const [least, most] = boundsOf(expectation);
  const dropped = ledger.hasDropped(endpoint === "any" ? null : endpoint, ledger.placeOf(since ?? "") ?? 0);
  return { count, dropped, met: count >= least && count <= most && !(dropped && most !== Infinity) };
}

/** Compares the expectation with what the ledger holds now. */
function judge(ledger: Ledger, asked: Expectation, line: CommandLine): ExpectResult {
  const expectation = current(ledger, asked);
  const { since } = expectation;
  const [, most] = boundsOf(expectation);
  const looked = ledger
    .list()
    .filter((record) => isOfApp(expectation, record))
    .filter(after(ledger, since))
    .map((record) => ({
      record,
      differs: [...differences(expectation, record), ...paramDifferences(ledger, expectation, record)],
    }));
  const matching = looked.filter(({ differs }) => differs.length === 0);
  const { count, dropped, met } = countOf(ledger, expectation, matching.length);
  const { client, user, grant_type, status, flow, param } = expectation;
  const isFiltered = [client, user, grant_type, status, flow, param].some((given) => given !== undefined);
  const shown = count > most ? matching : looked.filter(({ differs }) => differs.length > 0);
  return {
    met,
    count,
    dropped,
    expected: inWords(ledger, expectation),
    nearest: met ? [] : nearestOf(ledger, line, shown, isFiltered),
  };
}

/** "exactly 1 token request with grant_type refresh_token". Values that may be secrets are fingerprints. */
function inWords(ledger: Ledger, expectation: Expectation): string {
  const [least, most] = boundsOf(expectation);
  const { endpoint, since, param = {} } = expectation;
  const number = most === 0 ? "no" : most === Infinity ? `at least ${least}` : `exactly ${least}`;
  const filters = (["client", "user", "grant_type", "method", "status", "flow"] as const).flatMap((name) =>
    expectation[name] === undefined ? [] : [`${name} ${expectation[name]}`],
  );
  const parameters = Object.entries(param).map(([name, value]) => `${name} ${ledger.shown(name, value)}`);
  const all = [...filters, ...parameters];
  const what = `${endpoint === "any" ? "" : `${endpoint} `}request${least === 1 || most === 0 ? "" : "s"}`;
  return [
    `${number} ${what}`,
    ...(all.length === 0 ? [] : [`with ${all.join(" and ")}`]),
    ...(since === undefined ? [] : [`after ${since}`]),
  ].join(" ");
}

/** Whether waiting cannot change the result. `never` is only certain at the end of the wait. */
function isSettled({ met, count, dropped }: Count, expectation: Expectation): boolean {
  const [, most] = boundsOf(expectation);
  return count > most || (dropped && most !== Infinity) || (met && most > 0);
}

/** How many expectations of a reader or a tester wait at a time: each looks at every request, even after its connection closed. */
const maxWaiting = 32;

/** By the ledger and the name of who asks. */
const waiting = new WeakMap<Ledger, Map<string, number>>();

/** @throws {OperationError} conflict */
async function inRoom(ledger: Ledger, by: Operator, wait: () => Promise<void>): Promise<void> {
  if (by.role === "admin") return wait();
  const counts = waiting.get(ledger) ?? new Map<string, number>();
  waiting.set(ledger, counts);
  const others = counts.get(by.name) ?? 0;
  if (others >= maxWaiting) {
    const hint = "Wait for one of them to end, or leave out within";
    throw new OperationError("conflict", `'${by.name}' has ${maxWaiting} expectations that wait`, { hint });
  }
  counts.set(by.name, others + 1);
  return wait().finally(() => counts.set(by.name, (counts.get(by.name) ?? 1) - 1));
}

/**
 * Looks at each new request alone: a reader may have many expectations wait, and the ledger may hold thousands that match. Once they seem to
 * be enough it counts again, since the ledger may have lost some.
 * @param count of now
 */
function untilSettled(ledger: Ledger, asked: Expectation, ms: number, count: number, line: CommandLine): Promise<void> {
  return new Promise<void>((resolve) => {
    let matching = count;
    const end = (): void => {
      clearTimeout(timer);
      unsubscribe();
      ledger.closing.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const unsubscribe = ledger.subscribe((latest) => {
      const expectation = current(ledger, asked);
      if (matches(ledger, expectation, latest)) matching += 1;
      if (!isSettled(countOf(ledger, expectation, matching), expectation)) return;
      const counted = judge(ledger, expectation, line);
      if (isSettled(counted, expectation)) end();
      else matching = counted.count;
    });
    ledger.closing.addEventListener("abort", end);
  });
}

/**
 * Checks an expectation. Waits for it to be met, as long as `within` says.
 * @param line writes commands @param by who asks @throws {StorageError}; {OperationError} conflict for too many that wait
 */
export async function expectRequests(
  ledger: Ledger,
  expectation: Expectation,
  line: CommandLine,
  by: Operator = admin,
): Promise<ExpectResult> {
  await ledger.settle();
  const now = judge(ledger, expectation, line);
  const ms = secondsOf(expectation.within) * 1000;
  if (ms === 0 || ledger.closing.aborted || isSettled(now, expectation)) return now;
  await inRoom(ledger, by, () => untilSettled(ledger, expectation, ms, now.count, line));
  await ledger.settle();
  return judge(ledger, expectation, line);
}

/**
 * The result of an expectation in words: the output of `idp expect`, and the message of the error that the library throws. A test runner prints
 * them on a terminal, and requests may have characters that act there.
 */

/** A request in one line. */
const requestInWords = ({ id, method, endpoint, status, client, user, grant_type }: RequestRecord): string =>
  [id, `${method} ${endpoint}`, status, grant_type, client, user].filter((part) => part !== null).join("  ");

/** Why a request was refused, which paragraph requires that, and what to do. */
const refusalLines = ({ error, rule, fix }: Pick<RequestRecord, "error" | "rule" | "fix">): readonly string[] => [
  ...(error === null ? [] : [error]),
  ...(rule === null ? [] : [`rule: ${rule}`]),
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
          "It has dropped older requests that could match, so it cannot tell. The setting ledger says how many it holds.",
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
