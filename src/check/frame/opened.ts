import { setTimeout as delay } from "node:timers/promises";

/** What a check opened or changed, and what closes or undoes it. */

/** Milliseconds that closing one thing may take. */
const timeoutMs = 10_000;

/** What has to be closed when the run ends. */
export class Opened {
  readonly #work: (() => Promise<unknown>)[] = [];
  isClosed = false;
  readonly #left = new Map<string, { readonly what: string; readonly inReport: string }>();
  readonly #more: (() => readonly string[])[] = [];

  /** Notes what stays in the app. @param key what it replaces @param inReport the same without a mark */
  leaves(key: string, what: string, inReport: string): void {
    this.#left.set(key, { what, inReport });
  }

  /** Adds sentences about what stays, as they are when they are asked for. */
  leavesMore(sentences: () => readonly string[]): void {
    this.#more.push(sentences);
  }

  /** What a check created in the app, and cannot remove there, in sentences. */
  left(): readonly string[] {
    const noted = [...this.#left.values()].map(({ what }) => what);
    const first = noted.length === 0 ? [] : [`Left in the app: ${noted.join(", ")}.`];
    return [...first, ...this.#more.flatMap((sentences) => sentences())];
  }

  /** What was noted, for a document that may be kept. */
  leftInReport(): readonly string[] {
    return [...this.#left.values()].map(({ inReport }) => inReport);
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
    for (const close of this.#work.splice(0)) {
      const done = new AbortController();
      const late = delay(timeoutMs, null, { signal: done.signal }).catch(() => undefined);
      await Promise.race([close().catch(() => undefined), late]);
      done.abort();
    }
  }
}
