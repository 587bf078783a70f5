import type { Context } from "../context.ts";
import { recordsIn } from "../records/issuers/issuer-view.ts";
import { endpointsOf } from "../base/layout/layout.ts";
import { activeFaults } from "./controls/faults/faults.ts";
import { showClock } from "../base/clock.ts";

/** @throws {StorageError} while the data cannot be read */
export const checkReadable = ({ store }: Context): Promise<void> => store.read(() => undefined);

/** What `idp status` shows. @throws {StorageError} */
export async function status(ctx: Context) {
  await ctx.ledger.refresh();
  return {
    issuer: ctx.issuer,
    endpoints: endpointsOf(ctx),
    // A whole path, since its reader may be in another folder.
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
