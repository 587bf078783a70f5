import type { Context } from "./context.ts";
import type { EndpointName } from "./endpoints.ts";
import { recordsIn } from "./issuers/issuer-view.ts";
import { endpointsOf } from "./layout/layout.ts";
import { activeFaults } from "./controls/faults/faults.ts";
import { showClock, type ClockState } from "./clock.ts";

/** What `idp status` shows. */
export interface Status {
  readonly issuer: string;
  /** Their addresses. */
  readonly endpoints: Readonly<Record<EndpointName, string>>;
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

/** @throws {StorageError} while the data cannot be read */
export const checkReadable = ({ store }: Context): Promise<void> => store.read(() => undefined);

/** @throws {StorageError} */
export async function status(ctx: Context): Promise<Status> {
  await ctx.ledger.refresh();
  return {
    issuer: ctx.issuer,
    endpoints: endpointsOf(ctx),
    data: ctx.store.location,
    ...(await ctx.store.read((tx) => ({
      ...recordsIn(tx),
      snapshots: tx.count("snapshots"),
      faults: activeFaults(tx).length,
    }))),
    requests: ctx.ledger.size(),
    ...(ctx.clock.isMoved() && { clock: showClock(ctx) }),
  };
}
