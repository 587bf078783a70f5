import type { Context } from "./context.ts";
import { showClock, type ClockState } from "./testing/clock.ts";

/** What there is: for `idp status`. */
export interface Status {
  readonly issuer: string;
  /** Where the data is: a whole path, since its reader may be in another folder, or "memory". */
  readonly data: string;
  readonly users: number;
  readonly clients: number;
  /** Active ones. */
  readonly grants: number;
  /** Active ones. */
  readonly faults: number;
  readonly snapshots: number;
  /** What the ledger holds. */
  readonly requests: number;
  /** While it is moved. */
  readonly clock?: ClockState;
}

/** Counts what there is. */
export const status = (ctx: Context): Promise<Status> =>
  ctx.store.read((tx) => {
    let grants = 0;
    for (const grant of tx.all("grants")) if (grant.status === "active") grants += 1;
    return {
      issuer: ctx.issuer,
      data: ctx.store.location,
      users: tx.count("users"),
      clients: tx.count("clients"),
      grants,
      faults: ctx.faults.size,
      snapshots: tx.count("snapshots"),
      requests: ctx.ledger.list().length,
      ...(ctx.clock.isMoved() && { clock: showClock(ctx) }),
    };
  });
