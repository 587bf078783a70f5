import { STATUS_CODES } from "node:http";
import { isObject, ownValue } from "../../../text/json-object.ts";
import { tryItPaths } from "../../../core/try-it/try-it.ts";
import { isProvisioning } from "../../../core/ledger/request-endpoints.ts";
import type { RequestRecord } from "../../../core/ledger/record.ts";
import type { FlowRow, Stop } from "./sign-in-views.ts";

/** Groups the requests of the ledger by sign-in, with the outcome of each. */

/** The requests of one sign-in, or one refused request that belongs to no sign-in. */
export interface Flow {
  readonly id: string;
  /** The oldest first; at least one. */
  readonly records: readonly RequestRecord[];
}

export const isBad = ({ status, error, fault }: RequestRecord): boolean =>
  status >= 400 || status === 0 || error !== null || fault !== null;

/**
 * The newest first, by their first request. Requests that belong to no sign-in, such as those for the keys, are left out unless refused. So are
 * the calls of an operator. What one app was sent about one user by SCIM and Global Token Revocation is one row.
 */
export function flowsOf(records: readonly RequestRecord[]): readonly Flow[] {
  const flows = new Map<string, RequestRecord[]>();
  const provisioned = new Map<string, string>();
  for (const record of records) {
    const { endpoint, client, user } = record;
    const isSent = isProvisioning(endpoint);
    if (endpoint === "api" || (record.flow === null && !isBad(record) && !isSent)) continue;
    const about = JSON.stringify([client, user]);
    if (isSent && !provisioned.has(about)) provisioned.set(about, record.id);
    const id = record.flow ?? (isSent ? provisioned.get(about) : null) ?? record.id;
    flows.set(id, [...(flows.get(id) ?? []), record]);
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
  const refusal = error === null ? null : (ownValue(loginErrors, error) ?? error);
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

const locationOf = ({ response }: RequestRecord): string => {
  const location = response?.["location"];
  return typeof location === "string" ? location : "";
};
const isRedirectToApp = (record: RequestRecord): boolean => /^[^/]/.test(locationOf(record));

/** Where a sign-in stopped; null: it came to its end. */
function stopOf(records: readonly RequestRecord[]): Stop | null {
  const has = (endpoint: string): boolean => records.some((record) => record.endpoint === endpoint);
  if (has("token") || has("logout")) return null;
  if (has("device_authorization")) return "device";
  if (!has("authorize")) return has("par") ? "pushed" : null;
  const back = records.findLast(isRedirectToApp);
  if (back !== undefined) {
    // The built-in app redeems its code without a request.
    if (locationOf(back).endsWith(tryItPaths.callback)) return null;
    return back.error === null && isObject(back.response?.["parameters"]) && "code" in back.response["parameters"]
      ? "code"
      : null;
  }
  const pages: readonly Stop[] = ["login", "consent", "factor"];
  const last = records.findLast(({ endpoint }) => pages.some((page) => page === endpoint));
  return pages.find((page) => page === last?.endpoint) ?? null;
}

/** @param href the path of the sign-ins */
export function rowOf(flow: Flow, href: string): FlowRow {
  const { id, records } = flow;
  const failure = failureOf(flow);
  const stopped = failure === null ? stopOf(records) : null;
  const client = lastOf(records.map((record) => record.client));
  return {
    id,
    href: `${href}${id}`,
    at: records[0]?.time ?? "",
    client,
    path: client === null && records[0]?.endpoint !== "authorize" ? (records[0]?.path ?? null) : null,
    user: lastOf(records.map(({ user }) => user)),
    requests: records.length,
    state:
      failure === null ? (stopped === null ? "passed" : "unfinished") : failure.fault === null ? "refused" : "fault",
    stopped,
    outcome: failure === null ? successOf(records) : outcomeOf(failure),
  };
}
