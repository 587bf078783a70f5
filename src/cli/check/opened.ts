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
    for (const close of this.#work) await close().catch(() => undefined);
  }
}
