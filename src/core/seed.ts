import { StorageError, type ReadTx, type Tx } from "../store/store.ts";
import type { Telling } from "./backchannel-logout.ts";
import type { Context } from "./context.ts";
import { crossCheck, nothingKnown, type Known } from "./fixtures/cross-check.ts";
import { digestOfSources, sameJson } from "./fixtures/digest.ts";
import { normaliseSettings } from "./fixtures/normalise.ts";
import { refuseFixtures, type FoundIn } from "./fixtures/problems.ts";
import type { FixtureSettings } from "./fixtures/schema.ts";
import { readSource, type FixtureDocument, type FixtureSource } from "./fixtures/source.ts";
import type { Entries } from "./seed-entries.ts";
import { checkDocuments, prepareFixtures, type PreparedFixtures } from "./seed-prepare.ts";
import {
  applyClients,
  applyGrants,
  applyScopes,
  applyUsers,
  newTally,
  type SeedOutcome,
  type Work,
} from "./seed-records.ts";
import { storedSettings, storeSettings } from "./settings.ts";

/**
 * Applies fixtures to the data (CONTRACT section 3). What they name is created, or brought to what they say if they changed since
 * they were last applied; what was changed or removed at run time stays so while its fixture is the same; nothing else is touched.
 */

const kinds = ["users", "clients", "scopes", "grants", "settings"] as const;

/** What applying fixtures did; settings count as one record, named "settings". */
export type SeedResult = Readonly<Record<(typeof kinds)[number], SeedOutcome>>;

export interface SeedOptions {
  /**
   * `now`: passwords are hashed before it resolves. `start`: a server starts with these fixtures, so passwords wait to be hashed in the
   * background, and settings that came from the fixtures of an earlier start and are no longer in them go back to their defaults.
   */
  readonly mode: "start" | "now";
  /** Is told how much of the work that grows with the number of entries is done. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** Looks at the data once the fixtures are applied, within the transaction: if it throws, nothing is written. */
  readonly check?: (tx: ReadTx) => void;
  /** Is handed the sessions that ended by it, those of users who are banned now, once that is on disk; what it returns is waited for. */
  readonly onEnded?: (ended: Telling) => unknown;
}

export type SeedContext = Pick<Context, "store" | "now" | "random" | "passwords">;

/**
 * Checks fixtures whole, then applies them in one transaction.
 * @throws {OperationError} invalid, with every problem of every source; then nothing is applied
 * @throws {StorageError} where the data could not be written; then nothing is applied, or all but passwords, and the error says so
 */
export async function seed(
  ctx: SeedContext,
  sources: readonly FixtureSource[],
  { mode, progress = () => undefined, check = () => undefined, onEnded }: SeedOptions,
): Promise<SeedResult> {
  const last = await ctx.store.read((tx) => ({
    key: digestKey(tx),
    files: tx.get("appliedFixtures", filesId)?.digest,
  }));
  const key = last.key ?? ctx.random(32);
  const digest = digestOfSources(key, sources);
  const asLast = digest !== null && last.files?.startsWith(`${mode}:${digest} `) === true;
  if (asLast && !(await ctx.store.read(somebodyWaits))) {
    await ctx.store.read(check);
    return sameAsLast(last.files ?? "");
  }

  const cross = (all: readonly FixtureDocument[]): Promise<readonly FoundIn[]> =>
    ctx.store.read((tx) => crossCheck(all, knownIn(tx)));
  const prepared = await prepareFixtures(key, sources, cross, progress);
  const { result, ended } = await ctx.passwords.transaction((tx) => {
    const applied = applyFixtures(tx, ctx, prepared, { mode });
    check(tx);
    return applied;
  });
  // First: whatever becomes of the passwords, those sessions have ended.
  if (ended.length > 0) await onEnded?.(ended);
  if (mode === "now") await settlePasswords(ctx);
  return result;
}

/** Writes the passwords of fixtures that are applied. @throws {StorageError} that tells that all else is there */
export async function settlePasswords({ passwords }: Pick<Context, "passwords">): Promise<void> {
  await passwords.settle().catch((error: unknown) => {
    if (!(error instanceof StorageError)) throw error;
    const message = `the fixtures are applied, but not all of their passwords: ${error.message}. Apply them again`;
    throw new StorageError(message, { cause: error.cause, partly: true });
  });
}

/** The key of the digests; undefined: nothing was ever applied. */
export const digestKey = (tx: ReadTx): string | undefined => tx.get("appliedFixtures", keyId)?.digest;

/** The records in which it is kept what fixtures last said; the key of the digests is not among them. */
export const appliedIds = (tx: ReadTx): string[] =>
  [...tx.all("appliedFixtures")].map(({ id }) => id).filter((id) => id !== keyId);

/**
 * Applies fixtures that were prepared, in a transaction of `ctx.passwords`.
 * @param how `earlier`: the users whom a reset has just removed, by name; a password that is the same is not hashed again
 * @returns what it did, and the sessions that ended
 * @throws {OperationError} invalid, for what can be found out within the transaction only
 */
export function applyFixtures(
  tx: Tx,
  ctx: SeedContext,
  { documents, entries, key, digest }: PreparedFixtures,
  { mode, earlier = new Map() }: Pick<SeedOptions, "mode"> & { readonly earlier?: Work["earlier"] },
): { readonly result: SeedResult; readonly ended: Telling } {
  const at = new Date(ctx.now()).toISOString();
  const work: Work = { tx, ctx, at, found: [], passwords: new Map(), ended: [], earlier };
  if (digestKey(tx) === undefined) tx.put("appliedFixtures", { id: keyId, digest: key });
  const result = apply(work, entries, mode);
  if (work.found.length > 0) throw refuseFixtures(documents, work.found);
  remember(tx, digest === null ? null : `${mode}:${digest}`, result);
  for (const [userId, password] of work.passwords) ctx.passwords.add(userId, password);
  return { result, ended: work.ended };
}

/**
 * Checks fixtures and applies nothing.
 * @throws {OperationError} invalid, with every problem of every source
 */
export async function checkFixtures(sources: readonly FixtureSource[]): Promise<void> {
  const documents = await Promise.all(sources.map(readSource));
  await checkDocuments(
    documents,
    () => undefined,
    async (all) => crossCheck(all, nothingKnown),
  );
}

const knownIn = (tx: ReadTx): Known => ({
  user: (username) => tx.find("users", "username", username) !== undefined,
  clientScope: (clientId) => {
    const client = tx.get("clients", clientId);
    return client === undefined ? undefined : (client.scope ?? null);
  },
  scope: (name) => tx.get("scopes", name) !== undefined,
});

function apply(work: Work, entries: Entries, mode: SeedOptions["mode"]): SeedResult {
  const scopes = applyScopes(work, entries.scopes);
  const clients = applyClients(work, entries.clients);
  const users = applyUsers(work, entries.users);
  return {
    scopes,
    clients,
    users,
    grants: applyGrants(work, entries.grants, { users: new Set(users.added), clients: new Set(clients.added) }),
    settings: applySettings(work, entries.settings, mode),
  };
}

/** Settings are no data that changes at run time: those of a start are what its fixtures say, and a seed adds to them. */
function applySettings({ tx }: Work, given: FixtureSettings | null, mode: SeedOptions["mode"]): SeedOutcome {
  const tally = newTally();
  const stale = given === null && mode === "start" && tx.get("appliedFixtures", settingsId)?.digest === "start";
  if (given === null && !stale) return tally;
  const before = storedSettings(tx);
  const after = { ...(mode === "now" && before), ...normaliseSettings(given ?? {}) };
  tx.put("appliedFixtures", { id: settingsId, digest: mode });
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof typeof after>;
  const fields = [...names].filter((name) => !sameJson(before[name], after[name]));
  if (fields.length === 0) return { ...tally, same: 1 };
  storeSettings(tx, after);
  return Object.keys(before).length === 0
    ? { ...tally, added: ["settings"] }
    : { ...tally, changed: [{ name: "settings", fields }] };
}

const keyId = "key";
const filesId = "files";
const settingsId = "settings";

/** The result of applying what was applied last, none of which changed since: nothing need be read for it. */
function sameAsLast(files: string): SeedResult {
  const [, ...counts] = files.split(" ");
  const outcome = (index: number): SeedOutcome => ({ ...newTally(), same: Number(counts[index]) });
  return { users: outcome(0), clients: outcome(1), scopes: outcome(2), grants: outcome(3), settings: outcome(4) };
}

/** @param files the digest of all files; null: something else than files was applied */
function remember(tx: Tx, files: string | null, result: SeedResult): void {
  const counts = kinds.map((kind) => result[kind].added.length + result[kind].changed.length + result[kind].same);
  if (files === null) tx.remove("appliedFixtures", filesId);
  else tx.put("appliedFixtures", { id: filesId, digest: [files, ...counts].join(" ") });
}

/** Whether a password is still to be hashed, for which its fixture is needed. */
function somebodyWaits(tx: ReadTx): boolean {
  for (const user of tx.all("users")) if (user.passwordPending) return true;
  return false;
}
