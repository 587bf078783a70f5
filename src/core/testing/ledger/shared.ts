import { setTimeout as delay } from "node:timers/promises";
import {
  StorageError,
  type LogEntry,
  type Moment,
  type ReadTx,
  type RequestLog,
  type Store,
} from "../../../store/store.ts";
import { derive, type Derived } from "../../base/derived.ts";
import type { Ledger, KeptRequest } from "./ledger.ts";
import { createMerged, type Content } from "./merged.ts";
import type { OwnLedger } from "./requests.ts";
import { createMachine } from "../../base/states.ts";
import { createTurns } from "../../base/turns.ts";

/**
 * One ledger for all processes on a shared store. Each writes its own requests to the log of the store, a quarter of a second after they were
 * answered, and reads those of all (merged.ts) when somebody asks.
 */

/** Milliseconds between an answer and the write of its request, and between looks at the log for those who wait for requests. */
const interval = 250;

/** Milliseconds. By then every process has written a request that was answered, unless the log is slow or away. */
const writtenWithin = 500;

/** Milliseconds in which two clocks hardly part. */
const sameFor = 60_000;

/** How many characters are written at once. */
const maxWritten = 1_000_000;

/** The record: what all processes use to make their parts of the ledger fit. */
interface Shared {
  /** The key of fingerprints. */
  readonly key: string;
  /** How many instances have started. */
  readonly instances: number;
  /** When the ledger was last cleared, by the clock of the log: whoever reads this answers its request after that. */
  readonly cleared?: number;
}

const sharedIn = (tx: ReadTx): Shared | undefined => tx.get("testing", "ledger")?.value as Shared | undefined;

/** "a" to "z", then "aa". */
const nameOf = (number: number): string =>
  number < 0 ? "" : nameOf(Math.floor(number / 26) - 1) + String.fromCharCode(97 + (number % 26));

/**
 * What the ledger of a new instance needs: a short name that no other instance has or had, and the key for fingerprints.
 * @param newKey used if nobody has made one
 */
export const joinInstances = (store: Store, newKey: string): Promise<{ readonly name: string; readonly key: string }> =>
  store.transaction((tx) => {
    const shared = sharedIn(tx) ?? { key: newKey, instances: 0 };
    const { key, instances } = shared;
    tx.put("testing", { id: "ledger", value: { ...shared, instances: instances + 1 } });
    return { name: nameOf(instances), key };
  });

/** The last clear that this process knows of. */
interface Cleared {
  /** By the clock of the log. */
  readonly at: number;
  /** When this process learned of it, by its own clock. */
  readonly learned: number;
}

/** Each request that changes or reads records learns first what was changed before it came, and so of a clear. */
export const followCleared = (store: Store, real: () => number): Promise<Derived<Cleared>> =>
  derive(store, ["testing"], (tx, before) => {
    const at = sharedIn(tx)?.cleared ?? 0;
    return at === before?.at ? before : { at, learned: real() };
  });

const rememberCleared = (store: Store, cleared: number): Promise<void> =>
  store.transaction((tx) => {
    const shared = sharedIn(tx);
    if (shared === undefined || cleared <= (shared.cleared ?? 0)) return;
    tx.put("testing", { id: "ledger", value: { ...shared, cleared } });
  });

interface SharedOptions {
  /** How many requests it holds. */
  readonly size: () => number;
  /** The time in milliseconds, by a clock that nobody can set. */
  readonly real: () => number;
  /** The name of the instance. */
  readonly name: string;
  readonly store: Store;
  readonly cleared: Derived<Cleared>;
  readonly log: (note: string) => void;
}

/** Whether this process is to write soon. */
const newWriter = () =>
  createMachine(
    {
      rests: { add: "isDue", end: "isOver" },
      isDue: { begin: "rests", end: "isOver" },
      isOver: {},
    },
    "rests",
  );

/** Whether the log took what was last written. What is dropped while it does would have no room in the log either, so it is not lost. */
const newLog = () => createMachine({ takes: { fail: "fails" }, fails: { take: "takes" } }, "takes");

/**
 * One request goes from the ledger of this process (`own`) to `pending`, to the log, and with those of others to `merged`. On the way to the log it
 * may be dropped.
 * @param makeOwn makes the ledger of this process, which calls the function for each request that it has no room for
 * @param requests of the store
 */
export function createSharedLedger(
  makeOwn: (onDropped: (endpoint: string, at: number) => void) => OwnLedger,
  requests: RequestLog,
  { size, real, name, store, cleared, log }: SharedOptions,
): Ledger {
  const merged = createMerged(size);
  /** Requests that there was no room for since the last write, and when the last one to each endpoint came. */
  let dropped = 0;
  const droppedAt = new Map<string, number>();
  function drop(endpoint: string, at: number): void {
    dropped += 1;
    droppedAt.set(endpoint, at);
  }
  const logState = newLog();
  const lost = (): number => (logState.is("fails") ? dropped : 0);
  const own = makeOwn(drop);
  /** Not written yet, by the clock of this process. */
  let pending: LogEntry[] = [];
  let acts = 0;
  let writtenSinceTrim = Infinity;
  const listeners = new Set<(record: KeptRequest) => void>();
  let looking: NodeJS.Timeout | undefined;
  const writer = newWriter();
  let writing: NodeJS.Timeout | undefined;

  /** How far the clock of the log is ahead of ours, probably and at least, by the answer that took the shortest time of late. */
  let ahead = { ms: 0, atLeast: -Infinity, took: Infinity, at: -Infinity };
  function compare(began: number, now: number): void {
    const ended = real();
    if (ended - began > ahead.took && ended - ahead.at < sameFor) return;
    ahead = { ms: now - (began + ended) / 2, atLeast: now - ended, took: ended - began, at: ended };
  }

  /** @param at by the clock of this process */
  const momentOf = (at: number): Moment => ({
    at: at + ahead.ms,
    earliest: Math.max(at + ahead.atLeast, at < cleared.value.learned ? 0 : cleared.value.at + 0.001),
  });

  function collect(): void {
    for (const { record, links, place, at } of own.take()) {
      const content = JSON.stringify({ record, links } satisfies Content);
      pending.push({ id: `${name}-${place}`, at, endpoint: record.endpoint, content });
    }
    for (const { endpoint, at } of pending.splice(0, Math.max(0, pending.length - size())))
      if (endpoint !== null) drop(endpoint, at);
  }

  async function write(): Promise<void> {
    try {
      await writeAll();
    } catch (error) {
      logState.on("fail");
      throw error;
    }
  }

  async function writeAll(): Promise<void> {
    collect();
    while (pending.length > 0) {
      if (real() - ahead.at > sameFor) await look();
      let characters = 0;
      const next = pending.filter(({ content }, index) => (characters += content.length) <= maxWritten || index === 0);
      await append(next);
      const isDone = new Set(next);
      pending = pending.filter((entry) => !isDone.has(entry));
      writtenSinceTrim += next.length;
      if (writtenSinceTrim <= size() / 10) continue;
      await requests.trim(size());
      writtenSinceTrim = 0;
    }
  }

  async function append(entries: readonly LogEntry[]): Promise<void> {
    const until = dropped;
    const marks = [...droppedAt];
    try {
      await requests.append(
        entries.map((entry) => ({ ...entry, ...momentOf(entry.at) })),
        { count: lost(), dropped: Object.fromEntries(marks.map(([endpoint, at]) => [endpoint, momentOf(at)])) },
      );
    } catch (error) {
      if (!(error instanceof StorageError) || error.away) throw error;
      // The database will not take them later either.
      for (const { endpoint, at } of entries) if (endpoint !== null) drop(endpoint, at);
      logState.on("fail");
      return;
    }
    logState.on("take");
    dropped -= until;
    for (const [endpoint, at] of marks) if (droppedAt.get(endpoint) === at) droppedAt.delete(endpoint);
  }

  async function look(): Promise<void> {
    for (let isAll = false; !isAll;) {
      const began = real();
      const part = await requests.since(merged.place());
      compare(began, part.now);
      for (const { record, links } of merged.take(part)) {
        // So that this process gives the rest of a sign-in that others began the same name.
        if (record.flow !== null && links !== null) own.flows.learn(links, record.flow);
        for (const listener of listeners) listener(record);
      }
      ({ isAll } = part);
    }
  }

  const inTurn = createTurns();

  /** Whoever asks before it began is served by the same look. */
  let next: Promise<void> | null = null;
  const refresh = (): Promise<void> =>
    (next ??= inTurn(async () => {
      next = null;
      await write();
      await look();
    }));

  function writeSoon(): void {
    if (!writer.is("rests")) return;
    writer.on("add");
    writing = setTimeout(() => {
      writer.on("begin");
      // What could not be written waits.
      inTurn(write).catch(writeSoon);
    }, interval).unref();
  }

  return {
    ...own,
    ...merged,
    lost: () => merged.lost() + lost(),
    refresh,
    async settle() {
      await delay(writtenWithin, undefined, { signal: own.closing }).catch(() => undefined);
      // The store closes soon.
      if (!own.closing.aborted) await refresh();
    },
    add(exchange, onRequest) {
      own.add(
        exchange,
        onRequest && ((event, read) => onRequest(event, () => read() ?? merged.find(event.id ?? "") ?? null)),
      );
      writeSoon();
    },
    act(act) {
      const content = JSON.stringify({ act } satisfies Content);
      pending.push({ id: `${name}+${(acts += 1)}`, at: real(), endpoint: null, content });
      writeSoon();
    },
    async clear() {
      // First, so that whoever asks after the answer learns of it.
      await rememberCleared(store, await requests.clear());
      await refresh();
    },
    subscribe(listener) {
      listeners.add(listener);
      looking ??= setInterval(() => void refresh().catch(() => undefined), interval).unref();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(looking);
        looking = undefined;
      };
    },
    async end() {
      writer.on("end");
      clearTimeout(writing);
      clearInterval(looking);
      await inTurn(write).catch(() => undefined);
      const missing = lost() + pending.filter(({ endpoint }) => endpoint !== null).length;
      if (missing > 0) log(`${missing} requests could not be written to the ledger`);
    },
  };
}
