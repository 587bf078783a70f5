/*
 * core/admin/seed: from checked fixtures to records. seed.ts runs the steps, and records.ts creates and updates records. apply.ts is
 * `idp seed`, replaces the fixtures in use, and applies the section `issuers`; reset.ts goes back to the fixtures.
 */
import { StorageError, type ReadTx, type Tx } from "../../../store/store.ts";
import type { EndedSessions } from "../../sign-in/sessions/backchannel.ts";
import type { UriSettings } from "../../records/redirect-uri.ts";
import type { Context } from "../../context.ts";
import { crossCheck, nothingKnown, type Known } from "../fixtures/cross-check.ts";
import { digestKey, digestOfSources, keyId, type CheckedWith } from "../../base/fixture-files/digest.ts";
import { sameJson } from "../../../text/json.ts";
import { refuseFixtures, type FoundInDocument } from "../../base/fixture-files/problems.ts";
import { readSource, type AnyFixtures, type FixtureDocument } from "../../base/fixture-files/source.ts";
import type { Entries } from "../fixtures/entries.ts";
import { checkDocuments, prepareFixtures, type PreparedFixtures } from "../fixtures/prepare.ts";
import {
  applyClients,
  applyGrants,
  applyScopes,
  applyUsers,
  newTally,
  type SeedOutcome,
  type Work,
} from "./records.ts";
import { isUsed } from "../../testing/state/state.ts";
import {
  normalizeSettings,
  effectiveSettings,
  refuseContradictions,
  storedSettings,
  storeSettings,
} from "../settings/in-force.ts";
import type { FixtureSettings } from "../settings/schema.ts";

/**
 * Applies fixtures to the data. An entry is created, or updated if it changed since it was last applied. What was
 * changed or removed at run time stays so while its entry is the same. Nothing else is touched.
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
  /** Adds nothing to data that was already used. */
  readonly onlyIfUnused?: boolean;
  /** Called with how much of the work that grows with the number of entries is done. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** Checks the data once the fixtures are applied, within the transaction. If it throws, nothing is written. */
  readonly check?: (tx: ReadTx) => void;
  /** Called within the transaction if something is applied. */
  readonly onApplied?: (tx: Tx, prepared: PreparedFixtures) => void;
  /** Called with the sessions of users who are now banned, once they have ended on disk; what it returns is awaited. */
  readonly onEnded?: (ended: EndedSessions) => unknown;
}

type SeedContext = Pick<Context, "store" | "now" | "random" | "passwords" | "flags"> & {
  /** The settings that count beside those of the fixtures. */
  readonly settings: CheckedWith;
};

/**
 * Checks fixtures whole, then applies them in one transaction.
 * @throws {OperationError} invalid, with every problem of every source; then nothing is applied
 * @throws {StorageError} if the data could not be written; then nothing is applied, or everything except passwords, which the error says
 */
export async function seed(
  ctx: SeedContext,
  sources: readonly AnyFixtures[],
  options: SeedOptions,
): Promise<SeedResult> {
  const {
    mode,
    onlyIfUnused = false,
    progress = () => undefined,
    check = () => undefined,
    onApplied,
    onEnded,
  } = options;
  const last = await ctx.store.read((tx) => ({
    key: digestKey(tx),
    files: tx.get("appliedFixtures", filesId)?.digest,
  }));
  const key = last.key ?? keyOf(sources) ?? ctx.random(32);
  const digest = digestOfSources(key, sources, ctx.settings);
  const asLast = digest !== null && last.files?.startsWith(`${mode}:${digest} `) === true;
  if (asLast && !(await ctx.store.read(somebodyWaits))) {
    await ctx.store.read(check);
    return sameAsLast(last.files ?? "");
  }

  const cross = (all: readonly FixtureDocument[]): Promise<readonly FoundInDocument[]> =>
    ctx.store.read((tx) => crossCheck(all, knownIn(tx), ctx.settings.login));
  const prepared = await prepareFixtures(key, sources, cross, progress, ctx.settings);
  const outcome = await ctx.passwords.transaction((tx) => {
    if ((digestKey(tx) ?? key) !== key) return null;
    const applied = onlyIfUnused && isUsed(tx) ? nothingApplied() : applyFixtures(tx, ctx, prepared, { mode });
    check(tx);
    onApplied?.(tx, prepared);
    return applied;
  });
  // Another process was first, with another key, so the digests have to be made again.
  if (outcome === null) return seed(ctx, sources, options);
  const { result, ended } = outcome;
  // First, because these sessions have ended even if the passwords cannot be written.
  if (ended.length > 0) await onEnded?.(ended);
  if (mode === "now") await settlePasswords(ctx);
  return result;
}

/** The key that digests among the fixtures were made with. */
function keyOf(sources: readonly AnyFixtures[]): string | undefined {
  for (const source of sources) if ("digests" in source) return source.key;
  return undefined;
}

export const nothingApplied = (): { readonly result: SeedResult; readonly ended: EndedSessions } => ({
  result: { users: newTally(), clients: newTally(), scopes: newTally(), grants: newTally(), settings: newTally() },
  ended: [],
});

/** Writes the passwords of applied fixtures. @throws {StorageError} which says that everything else was written */
export async function settlePasswords({ passwords }: Pick<Context, "passwords">): Promise<void> {
  await passwords.settle().catch((error: unknown) => {
    if (!(error instanceof StorageError)) throw error;
    const message = `the fixtures are applied, but not all of their passwords: ${error.message}. Apply them again`;
    throw new StorageError(message, { cause: error.cause, partly: true });
  });
}

/** The ids of the records of what fixtures last said, without the key of the digests. */
export const appliedIds = (tx: ReadTx): string[] =>
  [...tx.all("appliedFixtures")].map(({ id }) => id).filter((id) => id !== keyId);

/**
 * Applies prepared fixtures, in a transaction of `ctx.passwords`.
 * @param how `earlier`: the users whom a reset has just removed, by name; a password that is the same is not hashed again
 * @returns what it did, and the sessions that ended
 * @throws {OperationError} invalid for problems that only the transaction can find
 */
export function applyFixtures(
  tx: Tx,
  ctx: SeedContext,
  { documents, entries, key, digest }: PreparedFixtures,
  { mode, earlier = new Map() }: Pick<SeedOptions, "mode"> & { readonly earlier?: Work["earlier"] },
): { readonly result: SeedResult; readonly ended: EndedSessions } {
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
 * @param settings the settings that count beside those of the sources
 * @throws {OperationError} invalid, with every problem of every source
 */
export async function checkFixtures(
  sources: readonly AnyFixtures[],
  settings: Partial<UriSettings> = {},
): Promise<void> {
  const documents = await Promise.all(sources.map(readSource));
  await checkDocuments(
    documents,
    () => undefined,
    async (all) => crossCheck(all, nothingKnown),
    settings,
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

/** Settings do not change at run time: a start has those of its fixtures, and a seed adds to them. */
function applySettings({ tx, ctx }: Work, given: FixtureSettings | null, mode: SeedOptions["mode"]): SeedOutcome {
  const tally = newTally();
  const stale = given === null && mode === "start" && tx.get("appliedFixtures", settingsId)?.digest === "start";
  if (given === null && !stale) return tally;
  const before = storedSettings(tx);
  const after = { ...(mode === "now" && before), ...normalizeSettings(given ?? {}) };
  refuseContradictions(effectiveSettings(after, ctx.flags));
  tx.put("appliedFixtures", { id: settingsId, digest: mode });
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof typeof after>;
  const fields = [...names].filter((name) => !sameJson(before[name], after[name]));
  if (fields.length === 0) return { ...tally, same: 1 };
  storeSettings(tx, after);
  return Object.keys(before).length === 0
    ? { ...tally, added: ["settings"] }
    : { ...tally, changed: [{ name: "settings", fields }] };
}

const filesId = "files";
const settingsId = "settings";

/** The result of applying the same fixtures again, for which nothing has to be read. */
function sameAsLast(files: string): SeedResult {
  const [, ...counts] = files.split(" ");
  const outcome = (index: number): SeedOutcome => ({ ...newTally(), same: Number(counts[index]) });
  return { users: outcome(0), clients: outcome(1), scopes: outcome(2), grants: outcome(3), settings: outcome(4) };
}

/** @param files the digest of all files; null if not only files were applied */
function remember(tx: Tx, files: string | null, result: SeedResult): void {
  const counts = kinds.map((kind) => result[kind].added.length + result[kind].changed.length + result[kind].same);
  if (files === null) tx.remove("appliedFixtures", filesId);
  else tx.put("appliedFixtures", { id: filesId, digest: [files, ...counts].join(" ") });
}

/** Whether a password is not hashed yet, so that its fixture is needed. */
function somebodyWaits(tx: ReadTx): boolean {
  for (const user of tx.all("users")) if (user.passwordPending) return true;
  return false;
}
