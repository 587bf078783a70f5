import { tellAll } from "./backchannel-logout.ts";
import type { Context } from "./context.ts";
import { readSource, type FixtureSource } from "./fixtures/source.ts";
import { seed, type SeedResult } from "./seed.ts";

/** What became of a running server when its fixtures changed. */
export interface FixtureChange extends SeedResult {
  /** What the fixtures named before and no longer name, as `user bob`: it stays as it is. */
  readonly vanished: readonly string[];
}

/**
 * Puts other fixtures in the place of those in use: what changed is applied, sessions and everything else stay.
 * @throws {OperationError} invalid, with every problem; then nothing is changed
 */
export const changeFixtures = (ctx: Context, sources: readonly FixtureSource[]): Promise<FixtureChange> =>
  ctx.fixtures.inTurn(() => changeNow(ctx, sources));

async function changeNow(ctx: Context, sources: readonly FixtureSource[]): Promise<FixtureChange> {
  const before = await namesIn(ctx.fixtures.sources());
  const seeded = await seed(ctx, sources, { mode: "start", onEnded: (ended) => tellAll(ctx, ended) });
  ctx.fixtures.use(sources);
  await ctx.reloadSettings();
  const after = new Set(await namesIn(sources));
  return { ...seeded, vanished: before.filter((name) => !after.has(name)) };
}

/** The users, clients, scopes and grants of fixtures that were checked. */
async function namesIn(sources: readonly FixtureSource[]): Promise<readonly string[]> {
  const documents = await Promise.all(sources.map(readSource));
  return documents.flatMap(({ value }) => {
    const { users = [], clients = [], scopes = {}, grants = [] } = value as Readonly<Record<string, never[]>>;
    return [
      ...users.map(({ username }) => `user ${String(username)}`),
      ...clients.map(({ client_id }) => `client ${String(client_id)}`),
      ...Object.keys(scopes).map((name) => `scope ${name}`),
      ...grants.map(({ user, client }) => `grant of ${String(user)} for ${String(client)}`),
    ];
  });
}
