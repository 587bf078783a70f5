/**
 * Group commit: transactions that end in one turn of the event loop, or while a write runs, go together into the next
 * write. So an answer waits for two writes at most, however many transactions end at the same time.
 */
import type { Durability } from "./engine.ts";
import { OvertakenError, type Journal, type JournalEntry, type Operation } from "./journal.ts";
import type { StorageError } from "./store.ts";

/** What became of a batch: it is in the journal; another writer was faster, and all of it must run again; or why it could not be written. */
type Outcome = "written" | "overtaken" | StorageError;

interface Batch {
  readonly operations: Operation[];
  readonly undos: (() => void)[];
  /** Never rejects. */
  readonly done: Promise<Outcome>;
  readonly settle: (outcome: Outcome) => void;
}

function createBatch(): Batch {
  let settle!: Batch["settle"];
  const done = new Promise<Outcome>((resolve) => (settle = resolve));
  return { operations: [], undos: [], done, settle };
}

export interface CommitQueue extends Durability {
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
 * @param journal where the changes are written; `seq` is the number of its last entry that memory has
 * @param replay takes an operation of another writer in
 * @param closed the refusal of a transaction after `close`
 */
export function createCommitQueue(
  { journal, seq: first }: { readonly journal: Journal; readonly seq: number },
  replay: (operation: Operation) => void,
  closed: StorageError,
): CommitQueue {
  let seq = first;
  let waiting: Batch | null = null;
  let inFlight: Batch | null = null;
  let capture: (() => () => void) | null = null;
  const jobs: (() => Promise<void>)[] = [];
  let running = false;
  let open = true;

  /** @returns null once it is written; where another writer was faster, its entries, which memory lacks */
  async function append(operations: readonly Operation[]): Promise<readonly JournalEntry[] | null> {
    if (operations.length === 0) return null;
    try {
      await journal.append(seq, operations);
      seq += 1;
      return null;
    } catch (error) {
      if (error instanceof OvertakenError) return journal.since(seq);
      throw error;
    }
  }

  async function writeBatch(): Promise<void> {
    const batch = waiting ?? createBatch();
    inFlight = batch;
    waiting = null;
    const written = capture?.();
    let missed: readonly JournalEntry[] | null = null;
    let outcome: Outcome;
    try {
      missed = await append(batch.operations);
      outcome = missed === null ? "written" : "overtaken";
    } catch (error) {
      outcome = error as StorageError;
    }
    // No await from here on: all of this happens before any other code runs.
    inFlight = null;
    if (outcome === "written") {
      if (written !== undefined) {
        capture = null;
        written();
      }
      batch.settle(outcome);
      return;
    }
    // Transactions that ended during the write may depend on what is now undone, so they are undone too.
    const behind = waiting as Batch | null;
    waiting = null;
    for (const undo of [...batch.undos, ...(behind?.undos ?? [])].reverse()) undo();
    for (const entry of missed ?? []) {
      for (const operation of entry) replay(operation);
      seq += 1;
    }
    batch.settle(outcome);
    behind?.settle(outcome);
  }

  async function run(): Promise<void> {
    while (waiting !== null || capture !== null || jobs.length > 0) {
      // Waits one turn, so that requests that arrive together share a write.
      await new Promise(setImmediate);
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
    async commit(operations, undo) {
      if (!open) {
        undo();
        throw closed;
      }
      waiting ??= createBatch();
      const batch = waiting;
      for (const operation of operations) batch.operations.push(operation);
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
