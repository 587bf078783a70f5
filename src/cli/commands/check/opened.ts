import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds that each of them may take. */
const timeoutMs = 10_000;

/** What has to be closed when the run ends. */
export class Opened {
  readonly #work: (() => Promise<unknown>)[] = [];
  isClosed = false;

  /** What was added last is closed first. */
  async add(close: () => Promise<unknown>): Promise<void> {
    if (this.isClosed) await close();
    else this.#work.unshift(close);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const close of this.#work) {
      const done = new AbortController();
      const late = delay(timeoutMs, null, { signal: done.signal }).catch(() => undefined);
      await Promise.race([close().catch(() => undefined), late]);
      done.abort();
    }
  }
}
