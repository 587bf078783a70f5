import { setTimeout as delay } from "node:timers/promises";

/** What a check opened or changed, and what closes or undoes it. */

/** Milliseconds that closing one thing may take. */
const timeoutMs = 10_000;

/** What has to be closed when the run ends. */
export class Opened {
  readonly #work: (() => Promise<unknown>)[] = [];
  isClosed = false;
  readonly #left = new Map<string, string>();

  /** Notes what stays in the app. @param key what it replaces */
  leaves(key: string, what: string): void {
    this.#left.set(key, what);
  }

  /** What a check created in the app, and cannot remove there; null: nothing. */
  left(): string | null {
    return this.#left.size === 0 ? null : `Left in the app: ${[...this.#left.values()].join(", ")}.`;
  }

  /** What was added last is closed first. */
  async add(close: () => Promise<unknown>): Promise<void> {
    if (this.isClosed) await close();
    else this.#work.unshift(close);
  }

  /** Adds something that is taken back at the end. Nothing is added that nobody would take back. */
  async adds<T>(work: () => Promise<T>, undo: (done: T) => Promise<unknown>): Promise<T> {
    if (this.isClosed) throw new Error("the check has ended");
    const done = work();
    await this.add(async () => undo(await done));
    return done;
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
