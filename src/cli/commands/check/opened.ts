import { setTimeout as delay } from "node:timers/promises";
import type { OperationInput } from "../../../core/operations/table.ts";
import { RemoteError } from "../../../core/errors.ts";
import { callServer, type Server } from "../../../serve/remote.ts";

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

/** The faults of a check. They are removed however it ends. */
interface CheckFaults {
  /** @returns its id */
  add(fault: Readonly<Record<string, unknown>> & { readonly endpoint: string }): Promise<string>;
  /** Removes those that are left. */
  removeAll(): Promise<void>;
  /** The same, and no more can be added. */
  close(): Promise<void>;
}

export function faultsOn(server: Server): CheckFaults {
  const faults = new Set<string>();
  let ended = false;
  /** The fault that is being added; the command may be interrupted meanwhile. */
  let adding: Promise<unknown> = Promise.resolve();

  async function removeAll(): Promise<void> {
    for (const id of faults) {
      faults.delete(id);
      // A fault that was used up is already gone.
      await callServer(server, "faults.remove", { id }).catch((error: unknown) => {
        if (!(error instanceof RemoteError) || error.code !== "not_found") throw error;
      });
    }
  }

  return {
    async add(fault) {
      if (ended) throw new Error("the check has ended");
      const added = callServer(server, "faults.add", fault as OperationInput<"faults.add">).then(({ id }) => {
        faults.add(id);
        return id;
      });
      adding = added.catch(() => null);
      return added;
    },
    removeAll,
    async close() {
      ended = true;
      await adding;
      await removeAll();
    },
  };
}
