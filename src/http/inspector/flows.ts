import { STATUS_CODES } from "node:http";
import type { RequestRecord } from "../../core/testing/record.ts";
import type { FlowRow } from "./sign-in-views.ts";

/** Groups the requests of the ledger by sign-in, with the outcome of each. */

/** The requests of one sign-in, or one refused request that belongs to no sign-in. */
export interface Flow {
  readonly id: string;
  /** The oldest first; at least one. */
  readonly records: readonly RequestRecord[];
}

export const isBad = ({ status, error, fault }: RequestRecord): boolean =>
  status >= 400 || status === 0 || error !== null || fault !== null;

/** The newest first, by their last request. Requests that belong to no sign-in, such as those for the keys, are left out unless refused. */
export function flowsOf(records: readonly RequestRecord[]): readonly Flow[] {
  const flows = new Map<string, RequestRecord[]>();
  for (const record of records) {
    if (record.flow === null && !isBad(record)) continue;
    const id = record.flow ?? record.id;
    const before = flows.get(id) ?? [];
    // Moves it to the end, because the last request counts.
    flows.delete(id);
    flows.set(id, [...before, record]);
  }
  return [...flows].map(([id, all]) => ({ id, records: all })).reverse();
}

/** Refusals of the login page, by the words of the ledger. */
const loginErrors: Readonly<Record<string, string>> = {
  credentials: "wrong user name or password",
  suspended: "the account is suspended",
  banned: "the account is banned",
};

/** The outcome of a request, in words. */
export function outcomeOf({ status, outcome, error, fault }: RequestRecord): string {
  const refusal = error === null ? null : (loginErrors[error] ?? error);
  const reasons = [refusal, fault].filter((reason) => reason !== null);
  if (reasons.length > 0) return reasons.join("; ");
  return isTelling(outcome) ? outcome : (STATUS_CODES[status] ?? "");
}

/** "answered" and "refused" say no more than the status does. */
const isTelling = (outcome: string): boolean => outcome !== "answered" && outcome !== "refused";

/** The request that failed. Null: none did, or a later attempt succeeded. */
export function failureOf({ records }: Flow): RequestRecord | null {
  const at = records.findLastIndex(isBad);
  const failed = records[at];
  if (failed === undefined) return null;
  const passed = ({ endpoint, method }: RequestRecord): boolean =>
    endpoint === failed.endpoint && method === failed.method;
  return records.slice(at + 1).some(passed) ? null : failed;
}

const lastOf = <T>(values: readonly (T | null)[]): T | null => values.findLast((value) => value !== null) ?? null;

/** The outcome of a sign-in that did not fail: the last one that says something. */
function successOf(records: readonly RequestRecord[]): string {
  const telling = records.findLast(({ outcome }) => isTelling(outcome));
  return outcomeOf(telling ?? (records.at(-1) as RequestRecord));
}

/** @param href the path of the sign-ins */
export function rowOf(flow: Flow, href: string): FlowRow {
  const { id, records } = flow;
  const failure = failureOf(flow);
  return {
    id,
    href: `${href}${id}`,
    at: records[0]?.time ?? "",
    client: lastOf(records.map(({ client }) => client)),
    user: lastOf(records.map(({ user }) => user)),
    requests: records.length,
    state: failure === null ? "passed" : failure.fault === null ? "refused" : "fault",
    outcome: failure === null ? successOf(records) : outcomeOf(failure),
  };
}
