/*
 * core/ledger: the requests that this server answered.
 *
 * requests.ts is the ledger (its type is in ledger.ts): it takes each request as it came, for the request log, `idp requests`, `expect` and
 * the inspector. recording.ts makes the record (record.ts) of one when somebody reads it, and redact-record.ts says what is recorded of a
 * value. flows.ts says which requests belong to one sign-in. filter.ts selects requests, expect.ts compares them with what a test expects,
 * and fix.ts says what repairs a refused one.
 */
import { setMaxListeners } from "node:events";
import type { IsRegistered } from "../redaction/values.ts";
import { createFlows } from "./flows.ts";
import { createRedactor, fingerprintsBy } from "./redact-record.ts";
import type { Act, Ledger } from "./ledger.ts";
import type { Exchange, RequestRecord } from "./record.ts";
import { eventOf, flowOfRequest, recordOf } from "./recording.ts";

const maxActs = 200;

/** Counts the requests of all issuers in the process. */
let last = 0;

/** How many characters of requests may wait to be read: beyond that, the oldest are read. */
const maxUnread = 2_000_000;

/** A request that nobody has read, as it came, secrets included. It never leaves this file. */
interface Unread {
  readonly place: number;
  readonly exchange: Exchange;
  readonly characters: number;
}

interface Read {
  readonly place: number;
  readonly record: RequestRecord;
}

/** How many characters a request holds; any other value counts as a few. The parsers limit how deep it is. */
function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let sum = 0;
  for (const [name, one] of Object.entries(value)) sum += name.length + charactersIn(one);
  return sum;
}

/**
 * @param size how many requests it holds
 * @param key for fingerprints
 * @param isScope whether a scope of this name is defined
 */
export function createLedger(size: () => number, key: string, isScope: IsRegistered): Ledger {
  const fingerprint = fingerprintsBy(key);
  const flows = createFlows(fingerprint, size);
  const isRead: Read[] = [];
  /** All later than those that are read. */
  const unread: Unread[] = [];
  let unreadCharacters = 0;
  const acts: Act[] = [];
  /** The place of the last request to each endpoint that was dropped. */
  const droppedAt = new Map<string, number>();
  const listeners = new Set<(record: RequestRecord) => void>();
  const closing = new AbortController();
  // Each stream and each wait listens to it; http limits the streams.
  setMaxListeners(0, closing.signal);

  const takeOldest = (): Unread | undefined => {
    const oldest = unread.shift();
    unreadCharacters -= oldest?.characters ?? 0;
    return oldest;
  };
  const readOldest = (): void => {
    const oldest = takeOldest();
    if (oldest === undefined) return;
    const { place, exchange } = oldest;
    const event = eventOf(exchange, `r${place}`, isScope);
    const record = recordOf({ redactor: createRedactor(fingerprint), flows, isScope }, event, exchange);
    isRead.push({ place, record });
  };
  /** The oldest first, since what one request returns tells the flow of later ones. */
  const readAll = (): readonly Read[] => {
    while (unread.length > 0) readOldest();
    return isRead;
  };
  const dropOldest = (): void => {
    const read = isRead.shift();
    const dropped = read ?? takeOldest();
    if (dropped === undefined) return;
    const { endpoint } = "record" in dropped ? dropped.record : dropped.exchange;
    droppedAt.set(endpoint, dropped.place);
  };

  return {
    add(exchange, onRequest) {
      const place = (last += 1);
      const characters = charactersIn(exchange);
      unread.push({ place, exchange, characters });
      unreadCharacters += characters;
      while (isRead.length + unread.length > size()) dropOldest();
      while (unreadCharacters > maxUnread) readOldest();
      const read = (): RequestRecord | null => readAll().find((one) => one.place === place)?.record ?? null;
      onRequest?.(eventOf(exchange, `r${place}`, isScope), read);
      if (listeners.size === 0) return;
      const record = read();
      if (record !== null) for (const listener of listeners) listener(record);
    },
    list: () => readAll().map(({ record }) => record),
    size: () => isRead.length + unread.length,
    find: (id) => readAll().find(({ record }) => record.id === id)?.record,
    flowOf(request) {
      readAll();
      return flowOfRequest(flows, createRedactor(fingerprint), request);
    },
    act(act) {
      acts.push({ ...act, after: last });
      if (acts.length > maxActs) acts.shift();
    },
    acts: () => acts,
    clear() {
      // Read, since later requests may belong to their flows.
      readAll();
      isRead.length = 0;
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
