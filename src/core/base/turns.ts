/** Lets a running server answer others between two pieces of long work. */
export const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Runs work one piece after the other, in the order in which it was added. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/**
 * The work on apps that is under way. Two pieces on one user of an app go one after another, so that none creates what the other is
 * creating. Whoever leaves waits for nothing else: not for the rest of a push, and not for another app.
 */
export interface ProvisioningTurns {
  /** @param what the app with the user or group, or with the kind of work, that takes one piece at a time */
  inTurn<T>(what: string, work: () => Promise<T>): Promise<T>;
}

export function createProvisioningTurns(): ProvisioningTurns {
  const turns = new Map<string, { readonly turn: Turns; waiting: number }>();
  return {
    async inTurn(what, work) {
      const own = turns.get(what) ?? { turn: createTurns(), waiting: 0 };
      turns.set(what, own);
      own.waiting += 1;
      try {
        return await own.turn(work);
      } finally {
        own.waiting -= 1;
        // One for each user, so they must not pile up.
        if (own.waiting === 0) turns.delete(what);
      }
    },
  };
}
