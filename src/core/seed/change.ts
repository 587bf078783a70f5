import { colorNote } from "../brand/brand.ts";
import { notifyClients } from "../sessions/backchannel.ts";
import type { Context } from "../context.ts";
import { readSource, type AnyFixtures, type FixtureSource } from "../fixture-files/source.ts";
import { faultsOf } from "../controls/faults/fault-admin.ts";
import { applyIssuers } from "./issuers.ts";
import { seed, type SeedResult } from "./seed.ts";

/** What changed in a running server with its fixtures. */
export interface FixtureChange extends SeedResult {
  /** What the fixtures no longer name, as `user bob`. It stays as it is. */
  readonly vanished: readonly string[];
}

/**
 * Replaces the fixtures in use. What changed is applied; sessions and everything else stay.
 * @param areOfStart the files that the server was started with, which a reset reads again
 * @throws {OperationError} invalid, with every problem; then nothing is changed
 */
export const changeFixtures = (
  ctx: Context,
  sources: readonly FixtureSource[],
  areOfStart = false,
): Promise<FixtureChange> => ctx.fixtures.inTurn(() => changeNow(ctx, sources, areOfStart));

async function changeNow(ctx: Context, sources: readonly FixtureSource[], areOfStart: boolean): Promise<FixtureChange> {
  const before = await namesIn(ctx.fixtures.sources());
  const seeded = await seed(ctx, sources, {
    mode: "start",
    onApplied: (tx, prepared) => ctx.fixtures.use(tx, sources, prepared, areOfStart),
    onEnded: (ended) => notifyClients(ctx, ended),
  });
  const note = colorNote(ctx.settings.brand);
  if (note !== null && seeded.settings.changed.length > 0) ctx.log(note);
  await ctx.faults.putFixtures(await faultsOf(sources));
  await applyIssuers(ctx.issuers, sources, "change");
  const after = new Set(await namesIn(sources));
  return { ...seeded, vanished: before.filter((name) => !after.has(name)) };
}

/** The users, clients, scopes and grants of fixtures that were checked. */
async function namesIn(sources: readonly AnyFixtures[]): Promise<readonly string[]> {
  const documents = await Promise.all(sources.map(readSource));
  return documents.flatMap(({ value }) => {
    const {
      users = [],
      clients = [],
      scopes = {},
      grants = [],
      issuers = {},
    } = value as Readonly<Record<string, never[]>>;
    return [
      ...users.map(({ username }) => `user ${String(username)}`),
      ...clients.map(({ client_id }) => `client ${String(client_id)}`),
      ...Object.keys(issuers).map((name) => `issuer ${name}`),
      ...Object.keys(scopes).map((name) => `scope ${name}`),
      ...grants.map(({ user, client }) => `grant of ${String(user)} for ${String(client)}`),
    ];
  });
}
