/*
 * core/testing/controls: what a tester changes. move-clock.ts moves the clock (core/base/clock.ts). expire.ts lets tokens, sessions and codes expire.
 * snapshots.ts saves the state and goes back to it. custom.ts makes tokens by hand. faults/ makes responses wrong on purpose.
 */
import type { Collections, ReadTx, Snapshot, Tx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { restoreEras, saveEras, type ErasThen } from "../../base/era.ts";
import { OperationError } from "../../base/errors.ts";
import { rememberKeys } from "../../records/keys/admin.ts";
import { isOfSaml } from "../../records/keys/saml-keys.ts";
import { removeAllBut, stateCollections } from "../state/state.ts";
import { didYouMean } from "../../base/nearest.ts";
import { movedIn, showClock, type ClockState, type Moved } from "../../base/clock.ts";
import { faultsIn, putFaults, type Fault, type FaultState } from "./faults/faults.ts";
import { putMoved } from "./move-clock.ts";
import { admin, may, type Operator } from "../../records/operators/roles.ts";

/**
 * Snapshots: all of the issuer's state under a name. A restore goes back to it in one transaction. What was revoked since is valid again;
 * nothing else undoes a revocation. Tokens that were issued since are invalid, by their era.
 */

/** A snapshot leaves these out, and a restore leaves them alone: counters that only rise, and identifiers that may be used once. */
const leftOut = ["meta", "usedAssertions"] as const;
type Kept = Exclude<(typeof stateCollections)[number], (typeof leftOut)[number]>;
const kept = stateCollections.filter((name): name is Kept => !leftOut.some((one) => one === name));

/** What a snapshot holds. */
interface Content {
  readonly records: { readonly [C in Kept]: readonly Collections[C][] };
  readonly settings: Collections["meta"] | null;
  readonly eras: ErasThen;
  /** The clock as the tester had set it. Absent in snapshots of earlier versions. */
  readonly clock?: Moved;
  readonly faults?: FaultState;
}

/** The things that a restore can leave as they are (`keep`). */
export const keepable = ["clock", "faults"] as const;
type Keepable = (typeof keepable)[number];

const contentOf = ({ content }: Snapshot): Content => content as Content;

export type SnapshotView = ReturnType<typeof view>;

function view(snapshot: Snapshot) {
  const { name, savedAt, by } = snapshot;
  const { users, clients, grants, sessions } = contentOf(snapshot).records;
  return {
    name,
    savedAt,
    // Who saved it. Absent in snapshots of earlier versions.
    ...(by !== undefined && { by }),
    users: users.length,
    clients: clients.length,
    grants: grants.length,
    sessions: sessions.length,
  };
}

export const snapshotName = /^[\w-]{1,64}$/;

/** Which snapshot is saved over or removed. */
interface Chosen {
  readonly name: string;
  /** Also one that somebody else saved. */
  readonly replace?: boolean | undefined;
}

/** @throws {OperationError} conflict for a snapshot of somebody else, unless that is meant */
function requireOwn({ name, by }: Snapshot, { replace }: Chosen, verb: "save" | "remove", operator: Operator): void {
  if (by === undefined || by === operator.name || replace === true) return;
  throw new OperationError("conflict", `the snapshot "${name}" is ${by}'s`, {
    hint: {
      text: verb === "save" ? "Choose another name. To replace it" : "To remove it",
      command: ["idp", "snapshots", verb, name, "--replace"],
    },
  });
}

/** How many a tester has at a time: each keeps all records of its time, in memory and on a disk that everybody shares. */
const maxOfTester = 50;

/** @throws {OperationError} conflict, if a tester has that many */
function requireRoom(tx: ReadTx, { name, role }: Operator): void {
  if (role === "admin") return;
  const own = [...tx.all("snapshots")].filter(({ by }) => by === name);
  if (own.length < maxOfTester) return;
  throw new OperationError(
    "conflict",
    `'${name}' has ${maxOfTester} snapshots, which is the most that a tester has at a time`,
    { hint: { text: "To remove one", command: ["idp", "snapshots", "remove", own[0]?.name ?? "NAME"] } },
  );
}

/**
 * Saves the state under this name, in place of an earlier one.
 * @throws {OperationError} conflict for the name of somebody else's, and for one more than a tester has
 */
export async function saveSnapshot(ctx: Context, chosen: Chosen, operator: Operator = admin): Promise<SnapshotView> {
  const { name } = chosen;
  // Only this process knows a password that is not hashed yet. The keys must exist, so that a restore has them.
  await ctx.passwords.settle();
  await ctx.keys.jwks();
  return ctx.store.transaction((tx) => {
    const before = tx.get("snapshots", name);
    if (before === undefined) requireRoom(tx, operator);
    else requireOwn(before, chosen, "save", operator);
    const records = Object.fromEntries(kept.map((one) => [one, tx.everything(one)])) as unknown as Content["records"];
    const settings = tx.get("meta", "settings") ?? null;
    const content: Content = { records, settings, eras: saveEras(tx), clock: movedIn(tx), faults: faultsIn(tx) };
    // The real time, because people ask how long ago that was, wherever the clock is now.
    const snapshot = { name, savedAt: new Date(ctx.clock.unmoved()).toISOString(), by: operator.name, content };
    tx.put("snapshots", snapshot);
    return view(snapshot);
  });
}

/** Every snapshot. */
export const listSnapshots = (ctx: Context): Promise<readonly SnapshotView[]> =>
  ctx.store.read((tx) => [...tx.all("snapshots")].map(view));

function requireSnapshot(tx: ReadTx, name: string): Snapshot {
  const snapshot = tx.get("snapshots", name);
  if (snapshot !== undefined) return snapshot;
  throw new OperationError("not_found", `no snapshot "${name}"`, {
    hint: didYouMean(
      name,
      Array.from(tx.all("snapshots"), (one) => one.name),
      { text: "All snapshots", command: ["idp", "snapshots", "list"] },
    ),
  });
}

/** @throws {OperationError} not_found; conflict for somebody else's */
export const removeSnapshot = (ctx: Context, chosen: Chosen, operator: Operator = admin): Promise<null> =>
  ctx.store.transaction((tx) => {
    requireOwn(requireSnapshot(tx, chosen.name), chosen, "remove", operator);
    tx.remove("snapshots", chosen.name);
    return null;
  });

export interface RestoreResult extends SnapshotView {
  /** How many grants and tokens were revoked since the snapshot, and are valid again. */
  readonly validAgain: { readonly grants: number; readonly tokens: number };
  /** The faults that are active again. */
  readonly faults: readonly Fault[];
  /** What `keep` left as it was: the clock, if it is moved, and how many faults are active. Absent without `keep`. */
  readonly stillActive?: { readonly clock?: ClockState | undefined; readonly faults?: number | undefined } | undefined;
}

/**
 * Goes back to a snapshot: whole or not at all. Sign-ins and codes under way are dropped.
 * @param input `keep`: what stays as the tester has set it now
 * @param operator a tester brings back what testers change, and no work of an admin
 * @throws {OperationError} not_found
 */
export async function restoreSnapshot(
  ctx: Context,
  { name, keep = [] }: { readonly name: string; readonly keep?: readonly Keepable[] | undefined },
  operator: Operator = admin,
): Promise<RestoreResult> {
  const isWhole = may(ctx, operator, { role: "admin", ofProcess: false });
  const result = await ctx.store.transaction((tx): RestoreResult => {
    const snapshot = requireSnapshot(tx, name);
    const saved = contentOf(snapshot);
    const content = isWhole ? saved : ofTesters(tx, saved);
    const { eras, clock } = content;
    const faults = keep.includes("faults") ? undefined : content.faults;
    const validAgain = revokedSince(tx, content.records);
    if (isWhole) putAll(tx, content);
    else putOfTesters(tx, content.records);
    if (clock !== undefined && !keep.includes("clock")) putMoved(tx, ctx.clock, clock);
    if (faults !== undefined) putFaults(tx, faults);
    restoreEras(tx, eras);
    return { ...view(snapshot), validAgain, faults: faults?.kept.map(({ fault }) => fault) ?? [] };
  });
  record(ctx, name);
  return keep.length === 0 ? result : { ...result, stillActive: stillActive(ctx, keep) };
}

function putAll(tx: Tx, { records, settings }: Content): void {
  rememberKeys(tx);
  // Service providers are configured with the certificate: one that was made since stays.
  const ofSaml = records.keys.some(isOfSaml) ? [] : [...tx.all("keys")].filter(isOfSaml);
  removeAllBut(tx, leftOut);
  for (const key of ofSaml) tx.put("keys", key);
  // A snapshot of an earlier version does not have every collection.
  for (const one of kept) for (const record of (records as Partial<typeof records>)[one] ?? []) tx.put(one, record);
  if (settings === null) tx.remove("meta", "settings");
  else tx.put("meta", settings);
}

/** What testers change, beside the status of users: consents, sessions, and what was revoked or expired. */
const testers = ["grants", "families", "deadTokens", "expirations", "sessions"] as const satisfies readonly Kept[];

/** The part of a snapshot that a tester brings back: nothing of a user or a client that is gone, or that has the name of one. */
function ofTesters(tx: ReadTx, content: Content): Content {
  const { records, faults } = content;
  const users = records.users.filter(({ id, createdAt }) => tx.get("users", id)?.createdAt === createdAt);
  // The epoch names one registration of a client_id.
  const clients = records.clients.filter(({ client_id: id, epoch }) => tx.get("clients", id)?.epoch === epoch);
  const [userIds, clientIds] = [new Set(users.map(({ id }) => id)), new Set(clients.map((one) => one.client_id))];
  const isThere = ({ fault: { client, user } }: FaultState["kept"][number]): boolean =>
    (client === undefined || tx.get("clients", client) !== undefined) &&
    (user === undefined || tx.find("users", "username", user) !== undefined);
  return {
    ...content,
    records: {
      ...records,
      users,
      clients,
      grants: records.grants.filter(({ userId, clientId }) => userIds.has(userId) && clientIds.has(clientId)),
      sessions: records.sessions.filter(({ userId }) => userIds.has(userId)),
    },
    ...(faults !== undefined && { faults: { ...faults, kept: faults.kept.filter(isThere) } }),
  };
}

function putOfTesters(tx: Tx, records: Content["records"]): void {
  removeAllBut(tx, [...leftOut, ...kept.filter((name) => !testers.some((one) => one === name))]);
  for (const one of testers) for (const record of records[one]) tx.put(one, record);
  for (const { id, status } of records.users) {
    const now = tx.get("users", id);
    if (now !== undefined && now.status !== status) tx.put("users", { ...now, status });
  }
}

const stillActive = (ctx: Context, keep: readonly Keepable[]): NonNullable<RestoreResult["stillActive"]> => ({
  ...(keep.includes("clock") && ctx.clock.isMoved() && { clock: showClock(ctx) }),
  ...(keep.includes("faults") && { faults: ctx.faults.size }),
});

/** Counts a token that was revoked alone, and a whole family of tokens, as one each. */
function revokedSince(tx: ReadTx, { grants, families, deadTokens }: Content["records"]): RestoreResult["validAgain"] {
  const grantsBack = grants.filter(({ id, status, epoch }) => {
    const now = tx.get("grants", id);
    return status === "active" && (now?.status !== "active" || now.epoch !== epoch);
  });
  const deadThen = new Set([
    ...deadTokens.map(({ jti }) => jti),
    ...families.filter(({ deadBecause }) => deadBecause !== null).map(({ id }) => id),
  ]);
  const deadNow = [
    ...tx.everything("deadTokens").map(({ jti }) => jti),
    ...tx
      .everything("families")
      .filter(({ deadBecause }) => deadBecause !== null)
      .map(({ id }) => id),
  ];
  return { grants: grantsBack.length, tokens: deadNow.filter((id) => !deadThen.has(id)).length };
}

/** The ledger records the restore, so that nobody wonders why a revoked token is valid. */
function record(ctx: Context, name: string): void {
  const path = `/_idp/api/snapshots/${name}/restore`;
  ctx.ledger.add({
    method: "POST",
    path,
    url: path,
    endpoint: "api",
    status: 200,
    isSent: true,
    ms: 0,
    body: undefined,
    authorization: undefined,
    dpop: undefined,
    time: ctx.now(),
    clock: ctx.clock.isMoved() ? showClock(ctx).offset : null,
    notes: { outcome: { kind: "snapshot-restored", values: { name } } },
  });
}
