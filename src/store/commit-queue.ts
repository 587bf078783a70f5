/**
 * Group commit: transactions that end in one turn of the event loop, or while a write runs, go together into the next
 * write. So an answer waits for two writes at most, however many transactions end at the same time.
 */
import { type Durability, createContention } from "./durability.ts";
import type { Engine } from "./engine.ts";
import { OvertakenError, type Journal, type Missed, type Operation, type JournalPlace } from "./journal.ts";
import { StorageError } from "./store.ts";
import { allCollections } from "./table.ts";
import { addChange, changedIn, type ChangedKeys } from "./changed.ts";

/** The outcome of a batch: it is in the journal; another writer was faster, and all of it must run again; or why it could not be written. */
type CommitOutcome = "written" | "overtaken" | StorageError;

interface Batch {
  readonly operations: Operation[];
  readonly changed: ChangedKeys;
  readonly undos: (() => void)[];
  /** Never rejects. */
  readonly done: Promise<CommitOutcome>;
  readonly settle: (outcome: CommitOutcome) => void;
}

/** A place that is in no journal: a reader there gets all records. */
export const nowhere: JournalPlace = { seq: -1, id: "" };

function createBatch(): Batch {
  let settle!: Batch["settle"];
  const done = new Promise<CommitOutcome>((resolve) => (settle = resolve));
  return { operations: [], changed: new Map(), undos: [], done, settle };
}

interface CommitQueue extends Durability {
  /** The place in the journal that memory has reached, without the changes that wait. */
  place(): JournalPlace;
  /** Applies to memory what others have written until now. */
  readMissed(): Promise<void>;
  /**
   * Captures a state of memory that is on disk. Memory runs ahead of the disk, so `capture` is called where a batch has
   * just been closed and memory holds exactly the disk and that batch. The function it returns is called when the batch
   * is written, before anything else is. If the batch cannot be written, both are called again.
   */
  checkpoint<T>(capture: () => () => T): Promise<T>;
  /** Runs `job` while nothing is being written. */
  exclusive(job: () => Promise<void>): Promise<void>;
  /** Refuses further transactions and waits for those that are queued. */
  close(): Promise<void>;
}

/**
 * @param journal where the changes are written; `place` is where memory is
 * @param memory receives what other writers wrote, and tells its listeners of every change that is kept
 * @param closed the refusal of a transaction after `close`
 */
export function createCommitQueue(
  { journal, place: first }: { readonly journal: Journal; readonly place: JournalPlace },
  memory: Pick<Engine, "replay" | "reset" | "prepare">,
  closed: StorageError,
): CommitQueue {
  let place = first;
  let waiting: Batch | null = null;
  let inFlight: Batch | null = null;
  let capture: (() => () => void) | null = null;
  const jobs: (() => Promise<void>)[] = [];
  let running = false;
  let open = true;
  const contention = createContention();

  /**
   * @returns null once it is written; where another writer was faster, what memory lacks
   */
  async function append(operations: readonly Operation[]): Promise<Missed | null> {
    if (operations.length === 0) return null;
    const startedAt = performance.now();
    try {
      place = await journal.append(place, operations);
      contention.wrote(performance.now() - startedAt);
      return null;
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error;
      await contention.lost();
      return journal.since(place);
    }
  }

  /**
   * Undoes what memory has beyond the journal and applies what it lacks. No await: all of it happens before any other code runs.
   * Transactions that ended during a write may depend on what is now undone, so they are undone too.
   * @returns the outcome of all that was undone
   */
  function giveUp(batch: Batch | null, missed: Missed | null, why: Exclude<CommitOutcome, "written">): typeof why {
    const lost = [batch, waiting].filter((one) => one !== null);
    waiting = null;
    for (const undo of lost.flatMap(({ undos }) => undos).reverse()) undo();
    let outcome = why;
    try {
      if (missed !== null) applyMissed(missed);
    } catch (error) {
      outcome = new StorageError(`what another idp wrote cannot be read: ${String(error)}`, {
        cause: error,
        away: true,
      });
    }
    for (const { settle } of lost) settle(outcome);
    return outcome;
  }

  function applyMissed({ records, entries, place: next }: Missed): void {
    // If this fails, memory is unusable. No journal continues from there, so all records are read again the next time.
    place = nowhere;
    if (records !== undefined) {
      memory.reset(records);
      memory.prepare(new Map(allCollections.map((name) => [name, null])))();
    }
    // One at a time: a listener may need the changes in their order.
    for (const entry of entries) {
      for (const operation of entry) memory.replay(operation);
      memory.prepare(changedIn(entry))();
    }
    place = next;
  }

  async function readMissed(): Promise<void> {
    for (;;) {
      const from = place;
      const missed = await journal.since(from);
      if (missed.records === undefined && missed.entries.length === 0) return;
      // The batch that is being written may be among the missed entries.
      while (inFlight !== null) await inFlight.done;
      // No await from here on. Meanwhile memory may have advanced.
      if (place === from) {
        const outcome = giveUp(null, missed, "overtaken");
        if (outcome !== "overtaken") throw outcome;
        return;
      }
      if (missed.records === undefined && place.seq >= missed.place.seq) return;
    }
  }

  async function writeBatch(): Promise<void> {
    const batch = waiting ?? createBatch();
    inFlight = batch;
    waiting = null;
    const written = capture?.();
    let missed: Missed | null = null;
    let outcome: CommitOutcome;
    let takeOver = (): void => undefined;
    try {
      // Now, because memory holds exactly the disk and this batch.
      takeOver = memory.prepare(batch.changed);
      missed = await append(batch.operations);
      outcome = missed === null ? "written" : "overtaken";
    } catch (error) {
      outcome = error as StorageError;
    }
    inFlight = null;
    if (outcome !== "written") {
      giveUp(batch, missed, outcome);
      return;
    }
    if (written !== undefined) {
      capture = null;
      written();
    }
    takeOver();
    batch.settle(outcome);
  }

  async function run(): Promise<void> {
    while (waiting !== null || capture !== null || jobs.length > 0) {
      // Waits one turn, so that requests that arrive together share a write.
      await new Promise(setImmediate);
      await contention.makeWay();
      await (jobs.shift() ?? writeBatch)();
    }
    running = false;
  }

  function start(): void {
    if (running) return;
    running = true;
    void run();
  }

  const last = (): Batch | null => waiting ?? inFlight;

  return {
    place: () => place,
    readMissed,
    async commit(operations, changed, undo) {
      if (!open) {
        undo();
        throw closed;
      }
      waiting ??= createBatch();
      const batch = waiting;
      for (const operation of operations) batch.operations.push(operation);
      for (const [name, keys] of changed) for (const key of keys) addChange(batch.changed, name, key);
      batch.undos.push(undo);
      start();
      const outcome = await batch.done;
      if (outcome === "written" || outcome === "overtaken") return outcome === "written";
      throw outcome;
    },
    pending: () => last()?.done.then((outcome) => outcome === "written"),
    checkpoint: (capturing) =>
      new Promise((resolve) => {
        capture = () => {
          const written = capturing();
          return () => resolve(written());
        };
        start();
      }),
    exclusive: (job) =>
      new Promise((resolve, reject) => {
        jobs.push(() => job().then(resolve, reject));
        start();
      }),
    async close() {
      open = false;
      for (let batch = last(); batch !== null; batch = last()) await batch.done;
    },
  };
}
