import type { Grant, ReadTx, Tx, User } from "../store/store.ts";
import { metadataOf } from "./clients-admin.ts";
import type { Context } from "./context.ts";
import { crossCheck, nothingKnown } from "./fixtures/cross-check.ts";
import type { FixtureSource } from "./fixtures/source.ts";
import { rotateKeys } from "./keys-admin.ts";
import { appliedIds, applyFixtures, digestKey, settlePasswords } from "./seed.ts";
import { prepareFixtures } from "./seed-prepare.ts";
import { differences, passwordDiffers } from "./seed-records.ts";
import { removeAllBut } from "./state.ts";
import { storedSettings } from "./settings.ts";

/**
 * Back to the fixtures, as if they had just been applied to an empty folder; only the signing keys stay. Every token that was issued
 * before is dead for good: grants and clients come back under epochs that are drawn anew (see `token-state.ts`).
 */

/** What became of the records of one kind; grants are named `user client`. */
export interface ResetOutcome {
  /** How many there are now. */
  readonly total: number;
  readonly removed: readonly string[];
  /** Had been removed, and are back. */
  readonly added: readonly string[];
  /** Were changed, and are what the fixtures say again: the names of the fields. */
  readonly changed: readonly { readonly name: string; readonly fields: readonly string[] }[];
}

export interface ResetResult {
  /** The files as they were named; none: the built-in demo, or fixtures of a program. */
  readonly fixtures: readonly string[];
  readonly users: ResetOutcome;
  readonly clients: ResetOutcome;
  readonly scopes: ResetOutcome;
  readonly grants: ResetOutcome;
  /** The names of those that changed. */
  readonly settings: readonly string[];
  readonly sessionsEnded: number;
  readonly keysRenewed: boolean;
}

export interface ResetOptions {
  /** Absent: those that are in use. */
  readonly sources?: readonly FixtureSource[] | undefined;
  /** The signing keys are made anew, and the old ones verify nothing any more. */
  readonly keys?: boolean | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Goes back to the fixtures, in one transaction: a request sees all of it or nothing.
 * @throws {OperationError} invalid, where the fixtures have a problem by themselves; then nothing is changed
 * @throws {StorageError} where the data could not be written; then nothing is changed but, with `keys`, what signs; or where that became of
 *   the passwords of other fixtures alone, which are lost
 */
export const reset = (ctx: Context, options: ResetOptions): Promise<ResetResult> =>
  ctx.fixtures.inTurn(() => resetNow(ctx, options));

async function resetNow(
  ctx: Context,
  { sources: given, keys = false, progress = () => undefined }: ResetOptions,
): Promise<ResetResult> {
  const sources = given ?? ctx.fixtures.latest();
  const key = (await ctx.store.read(digestKey)) ?? ctx.random(32);
  const prepared = await prepareFixtures(key, sources, async (all) => crossCheck(all, nothingKnown), progress);
  // First, so that no token is signed with a key that is about to go.
  if (keys) await rotateKeys(ctx, {});
  const outcome = await ctx.passwords.transaction((tx) => {
    const before = snapshotOf(tx);
    clear(tx, keys);
    applyFixtures(tx, ctx, prepared, { mode: "start", earlier: before.users });
    return compare(before, snapshotOf(tx));
  });
  ctx.attempts.forget();
  ctx.fixtures.use(sources);
  await ctx.reloadSettings();
  if (keys) await ctx.keys.reload();
  // Those in use are read again at the next start, and their passwords with them; whether others ever are is not known.
  if (given !== undefined) await settlePasswords(ctx);
  const names = sources.flatMap((source) => ("name" in source ? [source.name] : []));
  return { fixtures: names, ...outcome, keysRenewed: keys };
}

function clear(tx: Tx, keys: boolean): void {
  removeAllBut(tx, ["keys", "appliedFixtures", "meta"]);
  for (const id of appliedIds(tx)) tx.remove("appliedFixtures", id);
  tx.remove("meta", "settings");
  const old = keys ? [...tx.all("keys")].filter(({ retiredAt }) => retiredAt !== null) : [];
  for (const { kid } of old) tx.remove("keys", kid);
}

/** The records that a person knows, by name. */
interface Snapshot {
  readonly users: ReadonlyMap<string, User>;
  readonly clients: ReadonlyMap<string, object>;
  readonly scopes: ReadonlyMap<string, object>;
  readonly grants: ReadonlyMap<string, object>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly sessions: number;
}

function snapshotOf(tx: ReadTx): Snapshot {
  const nameOf = ({ userId, clientId }: Grant): string => `${tx.get("users", userId)?.username ?? userId} ${clientId}`;
  return {
    users: new Map([...tx.all("users")].map((user) => [user.username, user])),
    clients: new Map([...tx.all("clients")].map((client) => [client.client_id, metadataOf(client)])),
    scopes: new Map([...tx.all("scopes")].map((scope) => [scope.name, scope])),
    grants: new Map(
      [...tx.all("grants")].map((grant) => [nameOf(grant), { scopes: grant.scopes, status: grant.status }]),
    ),
    settings: storedSettings(tx),
    sessions: tx.count("sessions"),
  };
}

type Outcomes = Omit<ResetResult, "fixtures" | "keysRenewed">;

function compare(before: Snapshot, after: Snapshot): Outcomes {
  const password = (was: object, is: object): string[] =>
    passwordDiffers(was as User, (is as User).passwordDigest) ? ["password"] : [];
  return {
    users: outcomeOf(before.users, after.users, password),
    clients: outcomeOf(before.clients, after.clients),
    scopes: outcomeOf(before.scopes, after.scopes),
    grants: outcomeOf(before.grants, after.grants),
    settings: differences(before.settings, after.settings),
    sessionsEnded: before.sessions,
  };
}

function outcomeOf(
  before: ReadonlyMap<string, object>,
  after: ReadonlyMap<string, object>,
  more: (was: object, is: object) => readonly string[] = () => [],
): ResetOutcome {
  const changed: { name: string; fields: readonly string[] }[] = [];
  for (const [name, is] of after) {
    const was = before.get(name);
    const fields = was === undefined ? [] : [...differences(was, is), ...more(was, is)];
    if (fields.length > 0) changed.push({ name, fields });
  }
  return {
    total: after.size,
    removed: [...before.keys()].filter((name) => !after.has(name)),
    added: [...after.keys()].filter((name) => !before.has(name)),
    changed,
  };
}
