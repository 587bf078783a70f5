/**
 * Group commit: transactions that end while a write is under way share the next one. So an answer waits for two writes
 * at most, however many transactions end at the same time.
 */
import type { Durability } from "./engine.ts";
import type { StorageError } from "./store.ts";

/** Milliseconds for which a write waits for more to write. */
const patience = 4;

interface Batch {
  readonly texts: string[];
  readonly undos: (() => void)[];
  /** The collections that are changed, a bit each. */
  changed: number;
  /** Null once it is written, else why it is not. Never rejects. */
  readonly done: Promise<StorageError | null>;
  readonly settle: (failure: StorageError | null) => void;
}

function createBatch(): Batch {
  let settle!: Batch["settle"];
  const done = new Promise<StorageError | null>((resolve) => (settle = resolve));
  return { texts: [], undos: [], changed: 0, done, settle };
}

export interface CommitQueue extends Durability {
  /**
   * Captures a state of memory that is on disk. Memory runs ahead of the disk, so `capture` is called where a batch has just
   * been closed and memory holds exactly the disk and that batch; the function it returns is called when the batch is
   * written, before anything else is. If it could not be written, both are called anew.
   */
  checkpoint<T>(capture: () => () => T): Promise<T>;
  /** Runs `job` while nothing is being written. */
  exclusive(job: () => Promise<void>): Promise<void>;
  /** Refuses further transactions and waits for those that are queued. */
  close(): Promise<void>;
}

/**
 * @param append makes the texts durable, all or none; rejects with a {@link StorageError} once none of them is there
 * @param closed what a transaction after `close` is refused with
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
  /** How often somebody asked the store for something. */
  let asked = 0;

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
    // What ended meanwhile may rest on what is now taken back, so it goes too.
    const behind = waiting as Batch | null;
    waiting = null;
    for (const undo of [...batch.undos, ...(behind?.undos ?? [])].reverse()) undo();
    batch.settle(failure);
    behind?.settle(failure);
  }

  async function run(): Promise<void> {
    while (waiting !== null || capture !== null || jobs.length > 0) {
      await quiet();
      const job = jobs.shift();
      await (job ?? writeBatch)();
    }
    running = false;
  }

  function start(): void {
    if (running) return;
    running = true;
    void run();
  }

  /**
   * Resolves once nobody has asked for anything in a whole turn of the event loop, or after `patience`: the requests that have come by now are
   * handled first, and those of clients that are answered meanwhile; what they change joins.
   */
  const quiet = (): Promise<void> =>
    new Promise((resolve) => {
      const end = performance.now() + patience;
      let seen = -1;
      const turn = (): void => {
        if (asked === seen || performance.now() > end) {
          resolve();
          return;
        }
        seen = asked;
        setImmediate(turn);
      };
      setImmediate(turn);
    });

  const last = (): Batch | null => waiting ?? inFlight;

  return {
    async commit(text, undo, changed) {
      asked += 1;
      if (!open) {
        undo();
        throw closed;
      }
      waiting ??= createBatch();
      if (text !== null) waiting.texts.push(text);
      waiting.undos.push(undo);
      waiting.changed |= changed;
      start();
      const failure = await waiting.done;
      if (failure !== null) throw failure;
    },
    pending(collections) {
      asked += 1;
      const batch = [waiting, inFlight].find((one) => one !== null && (one.changed & collections) !== 0);
      return batch?.done.then((failure) => failure === null);
    },
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
