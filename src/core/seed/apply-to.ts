import type { Context } from "../context.ts";
import { changeFixtures } from "./change.ts";
import { seedNow } from "./seed-now.ts";
import type { FixtureSource } from "../fixture-files/source.ts";
import type { Issuers } from "../issuers/issuer-view.ts";

/** Applies the fixtures that the section `issuers` has for an issuer. */
export async function applyTo(
  ctx: Context,
  sources: readonly FixtureSource[],
  how: Parameters<Issuers["apply"]>[2],
): Promise<void> {
  if (how === "seed") await seedNow(ctx, sources);
  else await changeFixtures(ctx, sources);
  await ctx.passwords.settle();
}
