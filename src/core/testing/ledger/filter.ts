import { OperationError } from "../../base/errors.ts";
import { idForm, type KeptRequest, type Ledger } from "./ledger.ts";
import { faultEndpoints } from "../controls/faults/endpoints.ts";

/** Filters of requests, for `idp requests` and `idp expect`. */

/** What a request must have to match. */
export interface RequestFilter {
  readonly endpoint?: RequestEndpoint | undefined;
  /** Client id. */
  readonly client?: string | undefined;
  /** Username. */
  readonly user?: string | undefined;
  /** The `grant_type` of a token request. */
  readonly grant_type?: string | undefined;
  /** The HTTP method, in any case. */
  readonly method?: string | undefined;
  /** `400`, or `4xx`. */
  readonly status?: string | number | undefined;
  /** The sign-in that it belongs to, such as `f7`. */
  readonly flow?: string | undefined;
  /** The id of a request, or a time: only later ones. */
  readonly since?: string | undefined;
}

export const statusForm = /^[1-5](?:\d\d|xx)$/;

/** Selects the requests that came after the place or time that `since` names. */
export function after(ledger: Ledger, since: string | undefined): (record: KeptRequest) => boolean {
  if (since === undefined) return () => true;
  const place = ledger.placeOf(since);
  if (place !== null) return ({ id }) => (ledger.placeOf(id) ?? 0) > place;
  const began = Date.parse(since);
  return ({ time }) => Date.parse(time) > began;
}

/** The filter with the name that its flow has now. */
export const current = <F extends RequestFilter>(ledger: Ledger, filter: F): F =>
  filter.flow === undefined ? filter : { ...filter, flow: ledger.flowNamed(filter.flow) };

const hasStatus = (wanted: string, status: number): boolean => String(status).startsWith(wanted.replace("xx", ""));

/** One way in which a request does not match. */
export interface Difference {
  readonly name: string;
  readonly wanted: string;
  readonly got: string | null;
}

/** All ways in which a request does not match. {@link after} looks at `since`. */
export function differences(filter: RequestFilter, record: KeptRequest): readonly Difference[] {
  const { endpoint = "any", status } = filter;
  const exact = (["client", "user", "grant_type", "method", "flow"] as const).flatMap((name) => {
    const wanted = filter[name];
    const isSame = name === "method" ? wanted?.toUpperCase() === record.method : wanted === record[name];
    return wanted === undefined || isSame ? [] : [{ name, wanted, got: record[name] }];
  });
  return [
    ...(endpoint === "any" || endpoint === record.endpoint
      ? []
      : [{ name: "endpoint", wanted: endpoint, got: record.endpoint }]),
    ...exact,
    ...(status === undefined || hasStatus(String(status), record.status)
      ? []
      : [{ name: "status", wanted: String(status), got: String(record.status) }]),
  ];
}

/** The requests that match, the oldest first. @throws {StorageError} */
export async function listRequests(ledger: Ledger, filter: RequestFilter): Promise<readonly KeptRequest[]> {
  await ledger.refresh();
  const wanted = current(ledger, filter);
  return ledger
    .list()
    .filter(after(ledger, filter.since))
    .filter((record) => differences(wanted, record).length === 0);
}

/** @throws {OperationError} not_found @throws {StorageError} */
export async function showRequest(ledger: Ledger, id: string): Promise<KeptRequest> {
  await ledger.refresh();
  const found = ledger.find(id);
  if (found !== undefined) return found;
  throw new OperationError("not_found", `the ledger holds no request "${id}"`, {
    hint: id.startsWith("f")
      ? { text: "To list the requests of a sign-in", command: ["idp", "requests", "--flow", id] }
      : { text: "It holds only the latest requests", command: ["idp", "requests"] },
  });
}

/** The id of a sign-in, or of a refused request that belongs to none. */
export const flowForm = new RegExp(`^f[a-z]{0,8}\\d{1,15}$|${idForm.source}`);

/** Whether the requests of one sign-in have this id; a refused request that belongs to none has its own. */
const isOfFlow = (record: Pick<KeptRequest, "flow" | "id">, flow: string): boolean =>
  (record.flow ?? record.id) === flow;

/** The word that stands for the sign-in that was refused last, in place of its id. */
export const lastFlow = "last";

/** Requests to addresses that are no endpoint, such as a picture that a browser looks for, say nothing about a sign-in. */
const isRefusal = ({ endpoint, refusal, status }: KeptRequest): boolean =>
  endpoint !== "none" && (refusal !== null || status >= 400);

/** @param flow its id, or {@link lastFlow} @returns the name that the flow has now @throws {OperationError} not_found @throws {StorageError} */
export async function requireFlow(ledger: Ledger, flow: string): Promise<string> {
  await ledger.refresh();
  if (flow === lastFlow) {
    const last = ledger.list().findLast(isRefusal);
    if (last !== undefined) return last.flow ?? last.id;
    throw new OperationError("not_found", "the ledger holds no request that was refused", {
      hint: { text: "It holds only the latest requests. To see them", command: ["idp", "open"] },
    });
  }
  const name = ledger.flowNamed(flow);
  if (ledger.list().some((record) => isOfFlow(record, name))) return name;
  throw new OperationError("not_found", `the ledger holds no sign-in "${flow}"`, {
    hint: { text: "It holds only the latest requests. To see them", command: ["idp", "open"] },
  });
}

/** What `idp expect` looks at: the endpoints of faults, the pages of a sign-in, and the calls to apps. */
export const expectEndpoints = [
  ...faultEndpoints,
  "login",
  "factor",
  "consent",
  "account",
  "backchannel_logout",
  "scim",
  "global_token_revocation",
  "any",
] as const;

/** Calls of this server to an app, whose body it made itself: users and groups, without the token that opens the app. */
const provisioning: readonly string[] = ["scim", "global_token_revocation"];
export const isProvisioning = (endpoint: string): boolean => provisioning.includes(endpoint);

export type ExpectEndpoint = (typeof expectEndpoints)[number];

/** All endpoints in the ledger, by the names of the routes. `api` is the restore of a snapshot, the only call of the control API that it holds. */
export const requestEndpoints = [
  ...expectEndpoints,
  "device",
  "sign-out",
  "root",
  "try-it",
  "workload",
  "frame",
  "stylesheet",
  "none",
  "api",
] as const;

type RequestEndpoint = (typeof requestEndpoints)[number];
