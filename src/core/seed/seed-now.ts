import type { Context } from "../context.ts";
import { notifyClients } from "../sessions/backchannel.ts";
import { faultsOf } from "../controls/faults/fault-admin.ts";
import type { AnyFixtures } from "../fixture-files/source.ts";
import { applyIssuers } from "./issuers.ts";
import { seed, type SeedOptions, type SeedResult } from "./seed.ts";

/** `idp seed`: applies fixtures once, with their faults and issuers. @throws {OperationError} invalid, with every problem */
export async function seedNow(
  ctx: Context,
  sources: readonly AnyFixtures[],
  progress?: SeedOptions["progress"],
): Promise<SeedResult> {
  const seeded = await seed(ctx, sources, { mode: "now", progress, onEnded: (ended) => notifyClients(ctx, ended) });
  await applyIssuers(ctx.issuers, sources, "seed");
  const faults = await faultsOf(sources);
  if (faults.length > 0) await ctx.faults.putFixtures(faults);
  return seeded;
}
