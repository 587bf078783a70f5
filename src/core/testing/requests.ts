/*
 * core/testing: what a tester controls and sees.
 *
 * requests.ts is the ledger: the one record of the requests, for the request log, `idp requests`, `expect` and the inspector. record.ts says
 * what a record is, recording.ts makes it, kept.ts what is kept of a value, flows.ts which requests belong to one sign-in. held.ts is what the
 * ledger holds until somebody looks. filter.ts selects requests.
 *
 * faults/ has the responses that are wrong on purpose.
 */
import { createFlows } from "./flows.ts";
import { heldOf } from "./held.ts";
import { createKeeper, type Keeper } from "./kept.ts";
import type { Exchange, RequestEvent, RequestRecord } from "./record.ts";
import { eventOf, recordOf } from "./recording.ts";

export interface Ledger {
  /** Records a request. @param log is handed its line of the log */
  add(exchange: Exchange, log?: (event: RequestEvent) => void): void;
  /** The oldest first. */
  list(): readonly RequestRecord[];
  find(id: string): RequestRecord | undefined;
  clear(): void;
  /** Whether requests to an endpoint were dropped for lack of room, after this place. */
  hasDropped(endpoint: string | null, after: number): boolean;
  /** Calls for each request that comes. @returns ends it */
  subscribe(listener: (record: RequestRecord) => void): () => void;
  /** Whether a kept value is the one of a parameter. */
  readonly isSame: Keeper["isSame"];
  /** The value of a parameter in words: a fingerprint, where it may be a secret. */
  readonly shown: Keeper["shown"];
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
  readonly place: number;
  readonly endpoint: string;
  /** Most requests nobody looks at, so their records are made for the first who does. */
  content: Exchange | RequestRecord;
}

/**
 * @param size how many requests it holds
 * @param key for fingerprints
 */
export function createLedger(size: () => number, key: string): Ledger {
  const keeper = createKeeper(key);
  const flows = createFlows(keeper, size);
  const entries: Entry[] = [];
  /** The place of the last request to each endpoint that was dropped. */
  const droppedAt = new Map<string, number>();
  const listeners = new Set<(record: RequestRecord) => void>();
  const closing = new AbortController();

  /** Makes the records in their order, because a request says to which flow the later ones belong. */
  const read = (): readonly RequestRecord[] =>
    entries.map((entry) => {
      if ("id" in entry.content) return entry.content;
      const record = recordOf(keeper, flows, `r${entry.place}`, entry.content);
      entry.content = record;
      return record;
    });

  return {
    add(exchange, log) {
      const held = heldOf(exchange);
      const entry = { place: (last += 1), endpoint: exchange.endpoint, content: held ?? exchange };
      entries.push(entry);
      log?.(eventOf(keeper, `r${entry.place}`, exchange));
      if (listeners.size > 0 || held === null) {
        const record = read().at(-1);
        for (const listener of listeners) if (record !== undefined) listener(record);
      }
      while (entries.length > size()) {
        const dropped = entries.shift();
        if (dropped !== undefined) droppedAt.set(dropped.endpoint, dropped.place);
      }
    },
    list: read,
    find: (id) => read().find((record) => record.id === id),
    clear() {
      entries.length = 0;
      droppedAt.clear();
    },
    hasDropped: (endpoint, after) =>
      [...droppedAt].some(([name, place]) => place > after && (endpoint === null || endpoint === name)),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isSame: keeper.isSame,
    shown: keeper.shown,
    close() {
      closing.abort();
    },
    closing: closing.signal,
  };
}
