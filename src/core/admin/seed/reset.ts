import type { Grant, ReadTx, Tx, User } from "../../../store/store.ts";
import { metadataOf } from "../../records/clients/admin.ts";
import type { Context } from "../../context.ts";
import { crossCheck, nothingKnown } from "../fixtures/cross-check.ts";
import type { FixtureSource } from "../../base/fixture-files/source.ts";
import { rotateKeys } from "../../records/keys/admin.ts";
import { faultsOf } from "../../testing/controls/faults/fault-admin.ts";
import { resetClock } from "../../testing/controls/move-clock.ts";
import { appliedIds, applyFixtures, settlePasswords } from "./seed.ts";
import { prepareFixtures } from "../fixtures/prepare.ts";
import { digestKey } from "../../base/fixture-files/digest.ts";
import { differences, passwordDiffers } from "./records.ts";
import { removeAllBut } from "../../testing/state/state.ts";
import { storedSettings } from "../settings/in-force.ts";

/**
 * Goes back to the fixtures, as if they had just been applied to an empty folder. Only the signing keys stay. Every token issued before
 * becomes invalid, permanently: grants and clients come back with new random epochs (see `core/protocol/tokens/state.ts`).
 */

/** What happened to the records of one kind; grants are named `user client`. */
export interface ResetOutcome {
  /** How many there are now. */
  readonly total: number;
  readonly removed: readonly string[];
  /** The records that had been removed, and are back. */
  readonly added: readonly string[];
  /** The records that had changed and match the fixtures again, with the names of the fields. */
  readonly changed: readonly { readonly name: string; readonly fields: readonly string[] }[];
}

export interface ResetResult {
  /** The given names of the files; none for the built-in demo, or fixtures of a program. */
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

interface ResetOptions {
  /** Absent for those in use. */
  readonly sources?: readonly FixtureSource[] | undefined;
  /** Makes new signing keys, and removes the old ones. */
  readonly keys?: boolean | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Goes back to the fixtures, in one transaction: a request sees all of it or nothing.
 * @throws {OperationError} invalid if the fixtures have a problem; then nothing is changed
 * @throws {StorageError} if the data could not be written. Then nothing is changed, except the signing keys with `keys`. Or only the
 *   passwords of other fixtures could not be written, and are lost.
 */
export const reset = (ctx: Context, options: ResetOptions): Promise<ResetResult> =>
  ctx.fixtures.inTurn(() => resetNow(ctx, options));

async function resetNow(
  ctx: Context,
  { sources: given, keys = false, progress = () => undefined }: ResetOptions,
): Promise<ResetResult> {
  const sources = given ?? (await ctx.fixtures.toApply());
  const key = (await ctx.store.read(digestKey)) ?? ctx.random(32);
  const prepared = await prepareFixtures(
    key,
    sources,
    async (all) => crossCheck(all, nothingKnown, ctx.settings.login),
    progress,
    ctx.settings,
  );
  // What the fixtures add begins at the real time.
  if (ctx.clock.isMoved()) await resetClock(ctx);
  // First, so that no token is signed with a key that is about to go.
  if (keys) await rotateKeys(ctx, {});
  const outcome = await ctx.passwords.transaction((tx) => {
    const before = recordsBefore(tx);
    clear(tx, keys);
    applyFixtures(tx, ctx, prepared, { mode: "start", earlier: before.users });
    ctx.fixtures.use(tx, sources, prepared);
    return compare(before, recordsBefore(tx));
  });
  ctx.attempts.forget();
  ctx.documents.forget();
  await ctx.faults.reset(await faultsOf(sources));
  // The next start reads the fixtures in use again, with their passwords. Other fixtures may never be read again.
  if (given !== undefined) await settlePasswords(ctx);
  const names = sources.flatMap((source) => ("name" in source && source.name !== null ? [source.name] : []));
  return { fixtures: names, ...outcome, keysRenewed: keys };
}

function clear(tx: Tx, keys: boolean): void {
  removeAllBut(tx, ["keys", "appliedFixtures", "meta"]);
  for (const id of appliedIds(tx)) tx.remove("appliedFixtures", id);
  tx.remove("meta", "settings");
  const old = keys ? [...tx.all("keys")].filter(({ retiredAt }) => retiredAt !== null) : [];
  for (const { kid } of old) tx.remove("keys", kid);
}

/** The records to compare, by name. */
interface Before {
  readonly users: ReadonlyMap<string, User>;
  readonly clients: ReadonlyMap<string, object>;
  readonly scopes: ReadonlyMap<string, object>;
  readonly grants: ReadonlyMap<string, object>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly sessions: number;
}

function recordsBefore(tx: ReadTx): Before {
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

function compare(before: Before, after: Before): Outcomes {
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
