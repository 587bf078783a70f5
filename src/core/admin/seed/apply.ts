import { colorNote } from "../../base/brand/brand.ts";
import { notifyClients } from "../../sign-in/sessions/backchannel.ts";
import type { Context } from "../../context.ts";
import { readSource, type AnyFixtures, type FixtureSource } from "../../base/fixture-files/source.ts";
import { faultsOf } from "../../testing/controls/faults/fault-admin.ts";
import { seed, type SeedResult, type SeedOptions, checkFixtures } from "./seed.ts";
import type { Issuers } from "../../records/issuers/issuer-view.ts";
import { isObject } from "../../../text/json.ts";

/** What changed in a running server with its fixtures. */
export interface FixtureChange extends SeedResult {
  /** Records that the fixtures no longer name, as `user bob`. They stay as they are. */
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

/** The section `issuers` of fixtures, by the names of the issuers. */
export async function issuersIn(
  sources: readonly AnyFixtures[],
): Promise<ReadonlyMap<string, readonly FixtureSource[]>> {
  const found = new Map<string, FixtureSource[]>();
  for (const source of sources) {
    const { value } = await readSource(source);
    const issuers = isObject(value) && isObject(value["issuers"]) ? value["issuers"] : {};
    for (const [name, own] of Object.entries(issuers)) found.set(name, [...(found.get(name) ?? []), { value: own }]);
  }
  return found;
}

/** Applies that section: the issuers that exist get their fixtures, and the others are made. */
async function applyIssuers(
  issuers: Issuers,
  sources: readonly AnyFixtures[],
  how: Parameters<Issuers["apply"]>[2],
): Promise<void> {
  const declared = await issuersIn(sources);
  if (declared.size === 0) return;
  const known = (await issuers.list()).map(({ name }) => name);
  for (const [name, own] of declared) {
    if (known.includes(name)) await issuers.apply(name, own, how);
    else await issuers.add(name, own);
  }
}

/** The fixture files in use, to which a reset goes back: the name of each ("inline" or "stdin" for text without a file), and its clients' ids. The built-in demo and the objects of a program are not files. */
export async function listFixtureFiles(ctx: Pick<Context, "fixtures">) {
  const documents = await Promise.all(ctx.fixtures.sources().map(readSource));
  return documents.flatMap(({ name, value }) => {
    if (name === null) return [];
    const clients: unknown = isObject(value) ? value["clients"] : undefined;
    const ids = (Array.isArray(clients) ? clients : []).map(
      (client: unknown) => Object(client) as { client_id?: unknown },
    );
    return [
      { file: name, clients: ids.flatMap(({ client_id }) => (typeof client_id === "string" ? [client_id] : [])) },
    ];
  });
}

const namesOf = (sources: readonly AnyFixtures[]): readonly string[] =>
  sources.flatMap((source) => ("name" in source && source.name !== null ? [source.name] : []));

/** The names of the fixture files in use, without "inline" and "stdin", which are none. */
export const fixtureFiles = ({ fixtures }: Pick<Context, "fixtures">): readonly string[] =>
  namesOf(fixtures.sources()).filter((name) => /\.\w+$/.test(name));

/**
 * Reads the fixtures in use again and checks them.
 * @returns the names of their files
 * @throws {OperationError} invalid, with every problem
 */
export const checkFixturesInUse = ({
  fixtures,
  settings,
}: Pick<Context, "fixtures" | "settings">): Promise<{ readonly files: readonly string[] }> =>
  fixtures.inTurn(async () => {
    const sources = await fixtures.latest();
    await checkFixtures(sources, settings);
    return { files: namesOf(sources) };
  });

/** Reads the fixtures in use again and applies them, as `idp seed` applies others. @throws {OperationError} invalid, with every problem */
export const applyFixturesInUse = (ctx: Context, progress?: SeedOptions["progress"]): Promise<SeedResult> =>
  ctx.fixtures.inTurn(async () => seedNow(ctx, await ctx.fixtures.toApply(), progress));
