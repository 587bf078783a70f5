import { away, timeoutMs, within } from "./database.ts";

/**
 * One look at the journal serves all that asked before it began. One that is under way serves nobody who asks now: it may have seen the
 * journal before a change that the asker knows of.
 * @param takeIn takes in what others have written until now
 */
export function createCatchUp(takeIn: () => Promise<void>): () => Promise<void> {
  /** Never rejects. */
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | null = null;

  async function begin(before: Promise<unknown>): Promise<void> {
    await before;
    next = null;
    await takeIn();
  }

  return () => {
    if (next !== null) return next;
    const begun = begin(running);
    running = begun.catch(() => undefined);
    next = within(timeoutMs, begun, away);
    return next;
  };
}
