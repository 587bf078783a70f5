/*
 * core/testing/ledger: the requests that this server answered.
 *
 * requests.ts is the ledger (its type is in ledger.ts): it takes each request as it came, for the request log, `idp requests`, `expect` and
 * the inspector. recording.ts makes the record of one when somebody reads it, and redact-record.ts says what is recorded of a
 * value. flows.ts says which requests belong to one sign-in. shared.ts and merged.ts make one ledger of those of all processes on a store. filter.ts
 * selects requests, expect.ts compares them with what a test expects. request-json.ts writes one as JSON, and
 * outcome.ts has the words of what happened. repair.ts says what the inspector can do about a refused one, advice.ts what a test can.
 */
import { setMaxListeners } from "node:events";
import type { IsRegistered } from "../../protocol/redaction/values.ts";
import { createFlows, linksBy, type Flows, type Links } from "./flows.ts";
import { createRedactor, fingerprintsBy } from "./redact-record.ts";
import { idForm, maxActs, type Act, type Ledger, type Exchange, type KeptRequest } from "./ledger.ts";
import { eventOf, flowOfRequest, recordOf } from "./recording.ts";

/** Count the requests and the flows of all issuers in the process. */
let last = 0;
let lastFlow = 0;

/** How many characters of requests may wait to be read: a thousand refreshes fit. Beyond that, the oldest are read. */
const maxUnread = 8_000_000;

/** A request that nobody has read, as it came, secrets included. It never leaves this file. */
interface Unread {
  readonly place: number;
  /** The time by the clock that nobody can set, in milliseconds since 1970. */
  readonly at: number;
  readonly exchange: Exchange;
  readonly characters: number;
}

interface Read extends Pick<Unread, "place" | "at"> {
  readonly record: KeptRequest;
  /** What links it to others; null: it belongs to no sign-in. */
  readonly links: Links | null;
}

/** The ledger of one process. */
export interface OwnLedger extends Ledger {
  /** The flows as this process knows them. */
  readonly flows: Flows;
  /** Hands the requests over: it no longer holds them. */
  take(): readonly Read[];
}

interface OwnOptions {
  /** How many requests it holds. */
  readonly size: () => number;
  /** The key of fingerprints. */
  readonly key: string;
  /** Whether a scope of this name is defined. */
  readonly isScope: IsRegistered;
  /** The time in milliseconds, by a clock that nobody can set. */
  readonly real: () => number;
  /** The name of the instance, if it shares the store with others. */
  readonly name?: string;
  /** Called for each request that is dropped for lack of room. */
  readonly onDropped?: (endpoint: string, at: number) => void;
}

/** How many characters a request holds; any other value counts as a few. The parsers limit how deep it is. */
function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let sum = 0;
  // A client that registered itself may have thousands of texts that are registered (notes.registered), each a string of its own.
  if (value instanceof Set) for (const one of value) sum += 32 + charactersIn(one);
  for (const [name, one] of Object.entries(value)) sum += name.length + charactersIn(one);
  return sum;
}

export function createLedger({ size, key, isScope, real, name, onDropped }: OwnOptions): OwnLedger {
  const fingerprint = fingerprintsBy(key);
  const flows = createFlows(size, () => `f${name ?? ""}${(lastFlow += 1)}`);
  const linksOf = linksBy(fingerprint);
  const idAt = (place: number): string => (name === undefined ? `r${place}` : `${name}-${place}`);
  const isRead: Read[] = [];
  /** All later than those that are read. */
  const unread: Unread[] = [];
  let unreadCharacters = 0;
  const acts: Act[] = [];
  /** The place of the last request to each endpoint that was dropped. */
  const droppedAt = new Map<string, number>();
  const listeners = new Set<(record: KeptRequest) => void>();
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
    const { place, at, exchange } = oldest;
    const event = eventOf(exchange, idAt(place), isScope);
    const recorder = { redactor: createRedactor(fingerprint), linksOf, flows, isScope };
    isRead.push({ place, at, ...recordOf(recorder, event, exchange) });
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
    onDropped?.(endpoint, dropped.at);
  };

  return {
    flows,
    take() {
      readAll();
      return isRead.splice(0);
    },
    add(exchange, onRequest) {
      const place = (last += 1);
      const characters = charactersIn(exchange);
      unread.push({ place, at: real(), exchange, characters });
      unreadCharacters += characters;
      while (isRead.length + unread.length > size()) dropOldest();
      while (unreadCharacters > maxUnread) readOldest();
      const read = (): KeptRequest | null => readAll().find((one) => one.place === place)?.record ?? null;
      onRequest?.(eventOf(exchange, idAt(place), isScope), read);
      if (listeners.size === 0) return;
      const record = read();
      if (record !== null) for (const listener of listeners) listener(record);
    },
    refresh: () => Promise.resolve(),
    settle: () => Promise.resolve(),
    list: () => readAll().map(({ record }) => record),
    size: () => isRead.length + unread.length,
    lost: () => 0,
    find: (id) => readAll().find(({ record }) => record.id === id)?.record,
    // Nothing comes after an id that another server gave.
    placeOf: (id) => (idForm.test(id) ? Number(/^r(\d+)$/.exec(id)?.[1] ?? Infinity) : null),
    flowOf(request) {
      readAll();
      return flowOfRequest({ linksOf, flows, redactor: createRedactor(fingerprint) }, request);
    },
    flowNamed: (flow) => flow,
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
      return Promise.resolve();
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
    end: () => Promise.resolve(),
  };
}
