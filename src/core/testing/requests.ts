/*
 * core/testing: what a tester controls and sees.
 *
 * requests.ts is the ledger (its type is in ledger.ts): the one record of the requests, for the request log, `idp requests`, `expect` and
 * the inspector. record.ts says what a record is, and recording.ts makes it. redact-record.ts says what is recorded of a value, flows.ts
 * which requests belong to one sign-in. filter.ts selects requests, expect.ts compares them with what a test expects, and fix.ts says what
 * repairs a refused one.
 *
 * move-clock.ts moves the clock (core/clock.ts). expire.ts lets tokens, sessions and codes expire. snapshots.ts saves the state and goes
 * back to it. faults/ makes responses wrong on purpose.
 */
import { setMaxListeners } from "node:events";
import type { IsRegistered } from "../redaction/values.ts";
import { createFlows } from "./flows.ts";
import { createRedactor, fingerprintsBy } from "./redact-record.ts";
import type { Act, Ledger } from "./ledger.ts";
import type { RequestRecord } from "./record.ts";
import { eventOf, flowOfRequest, recordOf } from "./recording.ts";

const maxActs = 200;

/** Counts the requests of all issuers in the process. */
let last = 0;

interface LedgerEntry {
  readonly place: number;
  readonly record: RequestRecord;
}

/**
 * @param size how many requests it holds
 * @param key for fingerprints
 * @param isScope whether a scope of this name is defined
 */
export function createLedger(size: () => number, key: string, isScope: IsRegistered): Ledger {
  const fingerprint = fingerprintsBy(key);
  const flows = createFlows(fingerprint, size);
  const entries: LedgerEntry[] = [];
  const acts: Act[] = [];
  /** The place of the last request to each endpoint that was dropped. */
  const droppedAt = new Map<string, number>();
  const listeners = new Set<(record: RequestRecord) => void>();
  const closing = new AbortController();
  // Each stream and each wait listens to it; http limits the streams.
  setMaxListeners(0, closing.signal);

  return {
    add(exchange, log) {
      const place = (last += 1);
      const event = eventOf(exchange, `r${place}`, isScope);
      const record = recordOf({ redactor: createRedactor(fingerprint), flows, isScope }, event, exchange);
      entries.push({ place, record });
      log?.(event, record);
      for (const listener of listeners) listener(record);
      while (entries.length > size()) {
        const dropped = entries.shift();
        if (dropped !== undefined) droppedAt.set(dropped.record.endpoint, dropped.place);
      }
    },
    list: () => entries.map(({ record }) => record),
    find: (id) => entries.find(({ record }) => record.id === id)?.record,
    flowOf: (request) => flowOfRequest(flows, createRedactor(fingerprint), request),
    act(act) {
      acts.push({ ...act, after: last });
      if (acts.length > maxActs) acts.shift();
    },
    acts: () => acts,
    clear() {
      entries.length = 0;
      acts.length = 0;
      droppedAt.clear();
    },
    hasDropped: (endpoint, after) =>
      [...droppedAt].some(([name, place]) => place > after && (endpoint === null || endpoint === name)),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isSame: (wanted, recorded) => createRedactor(fingerprint).isSame(wanted, recorded),
    shown: (name, value) => createRedactor(fingerprint).shown(name, value),
    close() {
      closing.abort();
    },
    closing: closing.signal,
  };
}
