/**
 * Histories of operations that ran at the same time: whether an order exists, one after the other, in which the model gives each the
 * result that it had. An operation that had ended before another began comes first in it (linearizability).
 */

export interface Done<M> {
  /** For the failure. */
  readonly what: string;
  /** Counted over all operations. */
  readonly began: number;
  readonly ended: number;
  /** Applies it to the model. @returns whether its result was the model's */
  readonly fits: (model: M) => boolean;
}

/** Hands out the moments of a history. */
export function createHistory<M>() {
  let moment = 0;
  const done: Done<M>[] = [];
  return {
    done: done as readonly Done<M>[],
    /** @param work resolves with what it did, and how the model does it */
    async record(work: () => Promise<Pick<Done<M>, "what" | "fits">>): Promise<void> {
      const began = (moment += 1);
      const result = await work();
      done.push({ ...result, began, ended: (moment += 1) });
    },
  };
}

/** @param begin makes the model as it was before the first operation */
export function hasOrder<M>(history: readonly Done<M>[], begin: () => M): boolean {
  const isExplained = (order: readonly Done<M>[]): boolean => {
    const model = begin();
    return order.every(({ fits }) => fits(model));
  };
  const search = (order: readonly Done<M>[], left: readonly Done<M>[]): boolean => {
    const firstEnd = Math.min(...left.map(({ ended }) => ended));
    return (
      left.length === 0 ||
      left.some((next) => {
        if (next.began > firstEnd || !isExplained([...order, next])) return false;
        return search(
          [...order, next],
          left.filter((one) => one !== next),
        );
      })
    );
  };
  return search([], history);
}
