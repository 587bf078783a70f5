/**
 * Group commit: transactions that end while a write runs go together into the next one. So an answer waits for two
 * writes at most, however many transactions end at the same time.
 */
import type { Durability } from "./engine.ts";
import type { StorageError } from "./store.ts";

interface Batch {
  readonly texts: string[];
  readonly undos: (() => void)[];
  /** Null once it is written, else why it is not. Never rejects. */
  readonly done: Promise<StorageError | null>;
  readonly settle: (failure: StorageError | null) => void;
}

function createBatch(): Batch {
  let settle!: Batch["settle"];
  const done = new Promise<StorageError | null>((resolve) => (settle = resolve));
  return { texts: [], undos: [], done, settle };
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
 * @param append makes the texts durable, all or none; rejects with a {@link StorageError} where none of them is there
 * @param closed the refusal of a transaction after `close`
 */
export function createCommitQueue(
  append: (texts: readonly string[]) => Promise<void>,
  closed: StorageError,
): CommitQueue {
  let waiting: Batch | null = null;
  let inFlight: Batch | null = null;
  let capture: (() => () => void) | null = null;
  const jobs: (() => Promise<void>)[] = [];
  let running = false;
  let open = true;

  async function writeBatch(): Promise<void> {
    const batch = waiting ?? createBatch();
    inFlight = batch;
    waiting = null;
    const written = capture?.();
    let failure: StorageError | null = null;
    try {
      if (batch.texts.length > 0) await append(batch.texts);
    } catch (error) {
      failure = error as StorageError;
    }
    inFlight = null;
    if (failure === null) {
      if (written !== undefined) {
        capture = null;
        written();
      }
      batch.settle(null);
      return;
    }
    // What ended during the write may rest on what is now undone, so it is undone too.
    const behind = waiting as Batch | null;
    waiting = null;
    for (const undo of [...batch.undos, ...(behind?.undos ?? [])].reverse()) undo();
    batch.settle(failure);
    behind?.settle(failure);
  }

  async function run(): Promise<void> {
    while (waiting !== null || capture !== null || jobs.length > 0) await (jobs.shift() ?? writeBatch)();
    running = false;
  }

  function start(): void {
    if (running) return;
    running = true;
    void run();
  }

  const last = (): Batch | null => waiting ?? inFlight;

  return {
    async commit(text, undo) {
      if (!open) {
        undo();
        throw closed;
      }
      waiting ??= createBatch();
      const batch = waiting;
      if (text !== null) batch.texts.push(text);
      batch.undos.push(undo);
      start();
      const failure = await batch.done;
      if (failure !== null) throw failure;
    },
    pending: () => last()?.done.then((failure) => failure === null),
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
