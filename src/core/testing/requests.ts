/*
 * core/testing: what a tester controls and sees.
 *
 * requests.ts is the ledger: the one record of the requests, for the request log, `idp requests`, `expect` and the inspector. record.ts says
 * what a record is and makes it, kept.ts what is kept of a value, flows.ts which requests belong to one sign-in. filter.ts selects requests.
 *
 * faults.ts keeps the faults of an issuer and says which request takes one; fault-request.ts finds out whose request it is; fault-admin.ts
 * adds and removes them. flaw-list.ts lists what a response can have wrong, spoil.ts and id-token-flaws.ts do it. `http/faults.ts` is the
 * only place that asks for a fault. flaws.ts makes tokens that are wrong in one respect, for an operator.
 */
import { createFlows } from "./flows.ts";
import { createKeeper } from "./kept.ts";
import { cleaned, recordOf, type Line, type RequestEvent, type RequestRecord, type Sent } from "./record.ts";

export interface Ledger {
  /** Records a request. @returns its line of the log, without the secrets that an error repeats */
  add(line: Line, sent: Sent): RequestEvent;
  /** The oldest first. */
  list(): readonly RequestRecord[];
  find(id: string): RequestRecord | undefined;
  /** @returns how many requests it held */
  clear(): number;
  /** Whether requests to an endpoint were dropped for lack of room, after this place. */
  hasDropped(endpoint: string | null, after: number): boolean;
  /** Calls for each request that comes. @returns ends it */
  subscribe(listener: (record: RequestRecord) => void): () => void;
  /** The fingerprint that a value has here. */
  readonly fingerprint: (value: string) => string;
  /** Ends what waits for requests. */
  close(): void;
  /** Aborted when it closes. */
  readonly closing: AbortSignal;
}

/** The requests of all issuers of the process are counted together. */
let last = 0;

/** The place of a request among all others; null: the text is not an id. */
export const placeOf = (id: string): number | null => {
  const digits = /^r(\d{1,15})$/.exec(id)?.[1];
  return digits === undefined ? null : Number(digits);
};

interface Entry {
  readonly endpoint: string;
  /** Made when somebody looks at it, for the sake of UserInfo, which is asked most. */
  record: RequestRecord | (() => RequestRecord);
}

function read(entry: Entry): RequestRecord {
  if (typeof entry.record === "function") entry.record = entry.record();
  return entry.record;
}

/** A longer token is looked at at once, so that it is not kept. */
const longestKept = 4096;

const waits = ({ endpoint, status }: Line, { url, authorization = "", dpop = "", body }: Sent): boolean =>
  endpoint === "userinfo" &&
  status === 200 &&
  body === undefined &&
  url.length + authorization.length + dpop.length < longestKept;

/**
 * @param size how many requests it holds
 * @param key for fingerprints
 */
export function createLedger(size: () => number, key: string): Ledger {
  const keeper = createKeeper(key);
  const flows = createFlows(keeper, size);
  const entries = new Map<string, Entry>();
  const droppedAt = new Map<string, number>();
  const listeners = new Set<(record: RequestRecord) => void>();
  const closing = new AbortController();

  const dropOldest = (): void => {
    for (const [id, { endpoint }] of entries) {
      if (entries.size <= size()) return;
      entries.delete(id);
      droppedAt.set(endpoint, placeOf(id) ?? 0);
    }
  };

  return {
    add(line, sent) {
      const id = `r${(last += 1)}`;
      const event = { ...cleaned(keeper, line, sent), id };
      const make = (): RequestRecord => recordOf(keeper, flows, event, sent);
      const { endpoint } = line;
      const entry: Entry = { endpoint, record: listeners.size === 0 && waits(line, sent) ? make : make() };
      entries.set(id, entry);
      dropOldest();
      for (const listener of listeners) listener(read(entry));
      return event;
    },
    list: () => Array.from(entries.values(), read),
    find(id) {
      const entry = entries.get(id);
      return entry && read(entry);
    },
    clear() {
      const { size: held } = entries;
      entries.clear();
      droppedAt.clear();
      return held;
    },
    hasDropped: (endpoint, after) =>
      [...droppedAt].some(([name, place]) => place > after && (endpoint === null || endpoint === name)),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    fingerprint: keeper.fingerprint,
    close() {
      closing.abort();
    },
    closing: closing.signal,
  };
}
