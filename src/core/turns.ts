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

/** The pushes under way: to one app they go one after another, so that none creates what another is creating. */
export interface ProvisioningTurns {
  /** @param clientId of the app */
  inTurn<T>(clientId: string, work: () => Promise<T>): Promise<T>;
}

export function createProvisioningTurns(): ProvisioningTurns {
  const turns = new Map<string, Turns>();
  return {
    inTurn(clientId, work) {
      const turn = turns.get(clientId) ?? createTurns();
      turns.set(clientId, turn);
      return turn(work);
    },
  };
}
