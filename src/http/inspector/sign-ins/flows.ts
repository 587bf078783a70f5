import { STATUS_CODES } from "node:http";
import { isObject } from "../../../text/json.ts";
import { tryItPaths } from "../../../core/testing/try-it/try-it.ts";
import { isProvisioning } from "../../../core/testing/ledger/filter.ts";
import type { KeptRequest } from "../../../core/testing/ledger/ledger.ts";
import type { Outcome } from "../../../core/testing/ledger/outcome.ts";
import { reasonText, whatHappened } from "../../../core/testing/ledger/request-json.ts";
import { matches } from "../lists.ts";

/** Groups the requests of the ledger by sign-in, with the outcome of each. */

/** The requests of one sign-in, or one refused request that belongs to no sign-in. */
export interface Flow {
  readonly id: string;
  /** The oldest first; at least one. */
  readonly records: readonly KeptRequest[];
}

export const isBad = ({ status, refusal, fault }: KeptRequest): boolean =>
  status >= 400 || status === 0 || refusal !== null || fault !== null;

/**
 * The newest first, by their first request. Requests that belong to no sign-in, such as those for the keys, are left out unless refused. So are
 * the calls of an operator. What one app was sent about one user by SCIM and Global Token Revocation is one row.
 */
export function flowsOf(records: readonly KeptRequest[]): readonly Flow[] {
  const flows = new Map<string, KeptRequest[]>();
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

/** The outcome of a request: as the ledger has it, or in words. */
export function outcomeOf({ status, outcome, refusal, fault }: KeptRequest): Outcome | string {
  const reasons = [refusal && reasonText(refusal), fault].filter((reason) => reason !== null);
  if (reasons.length > 0) return reasons.join("; ");
  return outcome ?? STATUS_CODES[status] ?? "";
}

/** The request that failed. Null: none did, or a later attempt succeeded. */
export function failureOf({ records }: Flow): KeptRequest | null {
  const at = records.findLastIndex(isBad);
  const failed = records[at];
  if (failed === undefined) return null;
  const passed = ({ endpoint, method }: KeptRequest): boolean =>
    endpoint === failed.endpoint && method === failed.method;
  return records.slice(at + 1).some(passed) ? null : failed;
}

const lastOf = <T>(values: readonly (T | null)[]): T | null => values.findLast((value) => value !== null) ?? null;

/** The outcome of a sign-in that did not fail: the last one that says something. */
function successOf(records: readonly KeptRequest[]): Outcome | string {
  const telling = records.findLast(({ outcome }) => outcome !== null);
  return outcomeOf(telling ?? (records.at(-1) as KeptRequest));
}

const locationOf = ({ response }: KeptRequest): string => {
  const location = response?.["location"];
  return typeof location === "string" ? location : "";
};
const isRedirectToApp = (record: KeptRequest): boolean => /^[^/]/.test(locationOf(record));

/** The page that the user left, or what an app or a device did not do. */
type Stop = "login" | "consent" | "factor" | "device" | "pushed" | "code";

const pages: readonly Stop[] = ["login", "consent", "factor"];
const lastPage = (records: readonly KeptRequest[]): KeptRequest | undefined =>
  records.findLast(({ endpoint }) => pages.some((page) => page === endpoint));

/** Where a sign-in stopped; null: it came to its end. */
function stopOf(records: readonly KeptRequest[]): Stop | null {
  const has = (endpoint: string): boolean => records.some((record) => record.endpoint === endpoint);
  if (has("token") || has("logout")) return null;
  if (has("device_authorization")) return "device";
  if (!has("authorize")) {
    if (has("par")) return "pushed";
    // SAML, and our own pages: a page that was shown, and that nobody answered.
    const shown = lastPage(records);
    return shown?.method === "GET" && shown.status === 200 ? (shown.endpoint as Stop) : null;
  }
  const back = records.findLast(isRedirectToApp);
  if (back !== undefined) {
    // The built-in app redeems its code without a request.
    if (locationOf(back).endsWith(tryItPaths.callback)) return null;
    return back.refusal === null && isObject(back.response?.["parameters"]) && "code" in back.response["parameters"]
      ? "code"
      : null;
  }
  // A page that nobody opened: the app followed no redirect, or the browser was closed.
  const asked = records.findLast(({ endpoint }) => endpoint === "authorize")?.outcome?.kind;
  return (lastPage(records)?.endpoint as Stop | undefined) ?? pages.find((page) => asked === `${page}-page`) ?? null;
}

/** The client ID that a request named and nobody registered, where the ledger has it. */
function sentClient(records: readonly KeptRequest[]): string | null {
  const sent = records.map(({ parameters }) => parameters["client_id"]).find((id) => typeof id === "string");
  return sent ?? null;
}

/** The filters of the list. */
export const signInFilters = ["q", "state", "status", "client", "user", "error"] as const;

/** What a sign-in must have; "" for anything. */
type SignInFilter = Readonly<Record<(typeof signInFilters)[number], string>>;

/** @param status `400`, or `4xx` */
const hasStatus = (status: string, record: KeptRequest): boolean =>
  String(record.status).padStart(3, "0").startsWith(status.replace(/xx$/i, ""));

/** A sign-in is found by each of its requests: one that was refused is found by that, even if a later attempt passed. */
export function isFound(filter: SignInFilter, flow: Flow): boolean {
  const { q, state, status, client, user, error } = filter;
  const { records } = flow;
  const has = (name: "client" | "user", wanted: string): boolean =>
    wanted === "" || records.some((record) => record[name] === wanted);
  const isState =
    state === "" ||
    (state === "refused"
      ? records.some(isBad)
      : state === "fault"
        ? records.some(({ fault }) => fault !== null)
        : rowOf(flow, "").state === state);
  return (
    isState &&
    (has("client", client) || sentClient(records) === client) &&
    has("user", user) &&
    records.some((record) => hasStatus(status, record) && (error === "" || record.refusal?.code === error)) &&
    (q === "" || records.some((record) => isNamed(q, record)))
  );
}

const isNamed = (query: string, record: KeptRequest): boolean => {
  const { client, user, endpoint, refusal, flow, id } = record;
  return matches(
    query,
    client ?? "",
    user ?? "",
    endpoint,
    refusal === null ? "" : reasonText(refusal),
    whatHappened(record),
    flow ?? "",
    id,
    sentClient([record]) ?? "",
  );
};

/** The values that the filters propose: those that the sign-ins have. */
export function valuesIn(
  flows: readonly Flow[],
): Readonly<Record<"client" | "user" | "error" | "status", ReadonlySet<string>>> {
  const found = {
    client: new Set<string>(),
    user: new Set<string>(),
    error: new Set<string>(),
    status: new Set<string>(),
  };
  for (const { records } of flows) {
    for (const { client, user, refusal, status } of records) {
      if (client !== null) found.client.add(client);
      if (user !== null) found.user.add(user);
      if (refusal?.code != null) found.error.add(refusal.code);
      if (status !== 0) found.status.add(String(status));
    }
  }
  return found;
}

function stateOf(failure: KeptRequest | null, stopped: Stop | null) {
  if (failure !== null) return failure.fault === null ? "refused" : "fault";
  return stopped === null ? "passed" : "unfinished";
}

/** A sign-in in the list. */
export type FlowRow = ReturnType<typeof rowOf>;

/** @param href the path of the sign-ins */
export function rowOf(flow: Flow, href: string) {
  const { id, records } = flow;
  const failure = failureOf(flow);
  const stopped = failure === null ? stopOf(records) : null;
  const client = lastOf(records.map((record) => record.client));
  return {
    id,
    href: `${href}${id}`,
    /** ISO 8601: its first request. */
    at: records[0]?.time ?? "",
    client: client ?? sentClient(records),
    /** The path of the request, if it is unknown, so that there is no client; else null. */
    path: client === null && records[0]?.endpoint !== "authorize" ? (records[0]?.path ?? null) : null,
    user: lastOf(records.map(({ user }) => user)),
    requests: records.length,
    /** How many of them were refused, or spoiled by a fault. */
    refused: records.filter(isBad).length,
    state: stateOf(failure, stopped),
    /** Where it stopped; null: it came to its end, or was refused. */
    stopped,
    /** A text is English. */
    outcome: failure === null ? successOf(records) : outcomeOf(failure),
  };
}
