/*
 * core/testing/controls/faults: responses that are wrong on purpose. faults.ts keeps the faults of an issuer and says which request takes one;
 * fault-request.ts finds out whose request it is; fault-admin.ts adds and removes them. flaw-list.ts lists what a response can have wrong,
 * spoil.ts does it. `http/faults.ts` is the only place that asks for a fault. token-flaws.ts makes tokens that are wrong in
 * one respect, for an operator.
 */
import { isDeepStrictEqual } from "node:util";
import type { ReadTx, Store, Testing, Tx } from "../../../../store/store.ts";
import { OperationError } from "../../../base/errors.ts";
import { derive } from "../../../base/derived.ts";
import { sameJson } from "../../../../text/json.ts";
import type { FaultEndpoint, faultMethods } from "./endpoints.ts";
import type { FlawName } from "./flaw-list.ts";

/** The faults of an issuer are one record. A fault spoils a response; it never accepts anything that the checks refuse. */

/** The request filters. A request must match every one that is given. */
interface Filters {
  readonly endpoint: FaultEndpoint | "any";
  /** client_id */
  readonly client?: string | undefined;
  /** username */
  readonly user?: string | undefined;
  readonly grant_type?: string | undefined;
  readonly method?: (typeof faultMethods)[number] | undefined;
}

/** What a fault does to a response. */
export interface Effects {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  readonly description?: string | undefined;
  readonly header?: Readonly<Record<string, string>> | undefined;
  /** Seconds, or text with a unit: "3s", "2m". */
  readonly delay?: number | string | undefined;
  readonly body?: string | undefined;
  readonly content_type?: string | undefined;
  readonly drop?: true | undefined;
  /** Bytes of the body. */
  readonly drop_after?: number | undefined;
  readonly flaw?: FlawName | undefined;
  readonly forge?: string | undefined;
  /** Of the ID token and UserInfo, in place of those that they have, or beside them. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** A fault as it is added; it was checked by the rules of fixtures. */
export interface FaultInput extends Filters, Effects {
  /** How many requests take it. Default: 1. */
  readonly times?: number | undefined;
  readonly always?: true | undefined;
  /** How many matching requests pass before the first one takes it. */
  readonly skip?: number | undefined;
  readonly after?: boolean | undefined;
}

/** A fault as it is shown: only what it has. */
export interface Fault extends Filters, Effects {
  readonly id: string;
  /** Null: always. */
  readonly times: number | null;
  /** How many requests will still take it. Null: always. */
  readonly remaining: number | null;
  /** How many matching requests still pass first. */
  readonly skip: number;
  /** True: the work is done first, and only its response is spoiled. */
  readonly after: boolean;
  /** The name of the token that added it. Absent: fixtures, or a program that has the server. */
  readonly by?: string;
}

/** The facts about a request that the filters of faults look at. */
export interface FaultRequest {
  readonly endpoint: FaultEndpoint;
  readonly method: string;
  readonly grantType: string | null;
  readonly client: string | null;
  /** username */
  readonly user: string | null;
}

/** Seconds of a checked delay. */
export function delayOf({ delay = 0 }: Pick<Effects, "delay">): number {
  if (typeof delay === "number") return delay;
  return delay.endsWith("m") ? Number(delay.slice(0, -1)) * 60 : Number(delay.replace("s", ""));
}

/** Whether a fault answers instead of the server. */
export const hasOwnResponse = ({ status, body, error }: Effects): boolean =>
  status !== undefined || body !== undefined || error !== undefined;

/** A flaw, other claims, and a connection that is closed within the body, need a finished response. */
const needsResponse = (fault: Effects): boolean =>
  fault.flaw !== undefined || fault.claims !== undefined || (fault.drop_after !== undefined && !hasOwnResponse(fault));

/** 500 is a failure of the server's own (RFC 6749 4.1.2.1). Every other status may pass. */
export const errorCodeOf = ({ error, status }: Effects): string =>
  error ?? (status === 500 ? "server_error" : "temporarily_unavailable");

/** Whether a fault can spoil this response. Absent: every fault can. */
type Fits = (fault: Fault) => boolean;

export interface Faults {
  /** How many are active; 0 in almost every server. */
  readonly size: number;
  /** Whether any fault has this filter. If none has, nobody needs to read the data to find out what a request says. */
  asksFor(filter: "client" | "user"): boolean;
  /** @param by the name of the token */
  add(input: FaultInput, by?: string): Promise<Fault>;
  /** @returns whether there was one */
  remove(id: string): Promise<boolean>;
  clear(): Promise<void>;
  /** Replaces the faults of earlier fixtures; others stay. */
  putFixtures(inputs: readonly FaultInput[]): Promise<void>;
  /** The same at a start, unless fixtures with the same faults came last: other instances may have taken those already. */
  startWith(inputs: readonly FaultInput[]): Promise<void>;
  /** Replaces all of them by those of fixtures. */
  reset(inputs: readonly FaultInput[]): Promise<void>;
  /**
   * Takes the first fault that this request matches, in a transaction: each of the N times is taken once.
   * @param when `before` anything is changed, or `after` the work, when the response is known
   */
  take(when: "before" | "after", request: FaultRequest, fits?: Fits): Promise<Fault | null>;
}

interface Kept {
  readonly fault: Fault;
  readonly ofFixtures: boolean;
}

/** The record of the faults. */
interface State {
  /** How many were ever added: no two have the same id. */
  readonly added: number;
  readonly kept: readonly Kept[];
  /** The faults of the fixtures that came last, as they were then. */
  readonly fixtures?: readonly FaultInput[];
}

export type { State as FaultState };

/** The record that says which faults there are. Each is a record of its own, so that a request that takes one writes that one alone. */
interface List extends Pick<State, "added"> {
  readonly ids: readonly string[];
}

const listIn = (tx: ReadTx): List => (tx.get("testing", "faultList")?.value ?? { added: 0, ids: [] }) as List;
const recordOf = (id: string) => `fault ${id}` as const;

export function faultsIn(tx: ReadTx): State {
  const { added, ids } = listIn(tx);
  const kept = ids.map((id) => tx.get("testing", recordOf(id))?.value as Kept);
  const fixtures = tx.get("testing", "fixtureFaults")?.value as State["fixtures"];
  return { added, kept, ...(fixtures && { fixtures }) };
}

/** Writes what differs. */
function write(tx: Tx, before: State, { added, kept, fixtures }: State): void {
  const put = (id: Testing["id"], was: unknown, value: unknown): void => {
    if (value === undefined) tx.remove("testing", id);
    else if (!isDeepStrictEqual(was, value)) tx.put("testing", { id, value });
  };
  const idsOf = (all: readonly Kept[]): readonly string[] => all.map(({ fault }) => fault.id);
  const were = new Map(before.kept.map((one) => [one.fault.id, one]));
  const left = new Set(idsOf(kept));
  for (const one of kept) put(recordOf(one.fault.id), were.get(one.fault.id), one);
  for (const id of idsOf(before.kept)) if (!left.has(id)) tx.remove("testing", recordOf(id));
  put("faultList", { added: before.added, ids: idsOf(before.kept) }, { added, ids: idsOf(kept) });
  if (before.fixtures !== fixtures) put("fixtureFaults", before.fixtures, fixtures);
}

/** Makes the faults of another time active again. Faults that are added later get other ids. */
export function putFaults(tx: Tx, then: State): void {
  const before = faultsIn(tx);
  write(tx, before, { ...then, added: Math.max(before.added, then.added) });
}

/** How many faults an issuer can have: each request looks at all of them, and counts those that it is to pass. */
export const maxFaults = 1000;

/** Characters of all faults of an issuer. */
const maxLength = 1_000_000;

/** @throws {OperationError} conflict */
function requireRoom({ kept }: State): void {
  if (kept.length <= maxFaults && JSON.stringify(kept).length <= maxLength) return;
  throw new OperationError("conflict", `an issuer has at most ${maxFaults} faults, of ${maxLength} characters in all`, {
    hint: { text: "To remove those that are there", command: ["idp", "faults", "clear"] },
  });
}

/** The active faults, in the order in which they were added. */
export const activeFaults = (tx: ReadTx): readonly Fault[] => faultsIn(tx).kept.map(({ fault }) => fault);

/** @param number how many were ever added, with this one */
function keptOf(number: number, input: FaultInput, ofFixtures: boolean, by?: string): Kept {
  const { times = 1, always, skip = 0, after = false, endpoint, ...rest } = input;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const count = always === true ? null : times;
  const isAfter = after || needsResponse(input);
  // Sign-ins are `f1`.
  const id = `x${number}`;
  const fault: Fault = {
    id,
    endpoint,
    times: count,
    remaining: count,
    skip,
    after: isAfter,
    ...given,
    ...(by !== undefined && { by }),
  };
  return { fault, ofFixtures };
}

/** Replaces the faults of the fixtures, and keeps the others. */
function withFixtures(before: State, inputs: readonly FaultInput[]): State {
  const { added } = before;
  const others = before.kept.filter(({ ofFixtures }) => !ofFixtures);
  const own = inputs.map((input, index) => keptOf(added + index + 1, input, true));
  return { added: added + own.length, kept: [...others, ...own], fixtures: inputs };
}

/** A fault after it has matched a request. */
const afterMatch = (fault: Fault): Fault | null => {
  const { skip, remaining } = fault;
  if (skip > 0) return { ...fault, skip: skip - 1 };
  if (remaining === 1) return null;
  return { ...fault, remaining: remaining === null ? null : remaining - 1 };
};

const matches = ({ fault }: Kept, request: FaultRequest): boolean =>
  (fault.endpoint === "any" || fault.endpoint === request.endpoint) &&
  (fault.client ?? request.client) === request.client &&
  (fault.user ?? request.user) === request.user &&
  (fault.grant_type ?? request.grantType) === request.grantType &&
  (fault.method ?? request.method) === request.method;

function taken(state: State, isMeant: (one: Kept) => boolean): readonly [State, Fault | null] {
  let found: Fault | null = null;
  const kept = state.kept.flatMap((one) => {
    const { fault } = one;
    if (found !== null || !isMeant(one)) return [one];
    if (fault.skip === 0) found = fault;
    const after = afterMatch(fault);
    return after === null ? [] : [{ ...one, fault: after }];
  });
  return [{ ...state, kept }, found];
}

export async function createFaults(store: Store): Promise<Faults> {
  const state = await derive(store, ["testing"], faultsIn);

  const change = <T>(work: (state: State) => readonly [State, T]): Promise<T> =>
    store.transaction((tx) => {
      const before = faultsIn(tx);
      const [after, result] = work(before);
      write(tx, before, after);
      return result;
    });

  return {
    get size() {
      return state.value.kept.length;
    },
    asksFor: (filter) => state.value.kept.some(({ fault }) => fault[filter] !== undefined),
    add: (input, by) =>
      change((before) => {
        const added = before.added + 1;
        const one = keptOf(added, input, false, by);
        const after = { ...before, added, kept: [...before.kept, one] };
        requireRoom(after);
        return [after, one.fault];
      }),
    remove: (id) =>
      change((before) => {
        const kept = before.kept.filter(({ fault }) => fault.id !== id);
        return [{ ...before, kept }, kept.length < before.kept.length];
      }),
    clear: () => change((before) => [{ ...before, kept: [] }, undefined]),
    putFixtures: (inputs) => change((before) => [withFixtures(before, inputs), undefined]),
    startWith: (inputs) =>
      change((before) => [sameJson(before.fixtures ?? [], inputs) ? before : withFixtures(before, inputs), undefined]),
    reset: (inputs) => change((before) => [withFixtures({ ...before, kept: [] }, inputs), undefined]),
    take: (when, request, fits = () => true) =>
      change((before) =>
        taken(before, (one) => one.fault.after === (when === "after") && matches(one, request) && fits(one.fault)),
      ),
  };
}

/** The body of `--status`, in the form of RFC 6749 5.2. */
export const errorOf = (fault: Fault): { error: string; error_description: string } => ({
  error: errorCodeOf(fault),
  error_description: fault.description ?? `fault ${fault.id} of this server made this response on purpose`,
});
