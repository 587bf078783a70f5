import {
  userAndClient,
  type Client,
  type DeadToken,
  type Expiration,
  type Grant,
  type Key,
  type Meta,
  type ReadTx,
  type TokenFamily,
} from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import type { DeadEras, Past } from "../../base/era.ts";
import { everyKey, knownKeys } from "../../records/keys/admin.ts";
import { hashOf } from "../../base/secrets.ts";
import { isUsed, type StateRecords } from "../../testing/state/state.ts";

/**
 * An import never brings back what was ended. Where the export is of the same history as the data, tokens from before the export may still be
 * out, whatever happened to the keys since: so each record of an end is kept, the export's and the data's. What the data no longer has (a
 * grant, a client, a session, a key) was ended here: of it, nothing that was issued until now is good. Otherwise the data's tokens are signed
 * with other keys, so nothing is merged.
 */

/** The records of the export, without what was ended. */
export function withoutTheEnded(tx: ReadTx, ctx: Pick<Context, "random">, then: StateRecords): StateRecords {
  const rising = metaThatRises(tx, then.meta);
  if (!isSameHistory(tx, then)) return { ...then, meta: [...rising, ...keysBefore(tx, then, then.keys)] };
  const userIds = new Set(then.users.map(({ id }) => id));
  const sessionIds = new Set(then.sessions.map(({ id }) => id));
  // A key that only the export has was removed here.
  const keys = tx.everything("keys");
  const meta = [...rising, ...keysBefore(tx, then, keys)];
  return {
    ...then,
    keys,
    meta: [...meta.filter(({ id }) => id !== "pasts" && id !== "deadEras"), ...endedEras(tx, then.meta)],
    clients: then.clients.map((client) => clientOf(ctx, tx.get("clients", client.client_id), client)),
    grants: then.grants.map((grant) =>
      grantOf(ctx, tx.find("grants", "userAndClient", userAndClient(grant.userId, grant.clientId)), grant),
    ),
    // Those that both have: any other was ended here, or began after the export.
    sessions: tx.everything("sessions").filter(({ id, userId }) => sessionIds.has(id) && userIds.has(userId)),
    families: both(tx.everything("families"), then.families, ({ id }) => id, familyOf),
    deadTokens: both(tx.everything("deadTokens"), then.deadTokens, ({ jti }) => jti, longer<DeadToken>),
    opaqueTokens: both(tx.everything("opaqueTokens"), then.opaqueTokens, ({ id }) => id, longer),
    expirations: both(tx.everything("expirations"), then.expirations, ({ id }) => id, expirationOf),
    usedAssertions: both(tx.everything("usedAssertions"), then.usedAssertions, ({ id }) => id, longer),
  };
}

/** They have a key in common, also one that was replaced or removed here since. */
function isSameHistory(tx: ReadTx, { keys }: StateRecords): boolean {
  const known = knownKeys(tx);
  return [...everyKey(keys)].some((digest) => known.has(digest));
}

/** The keys of both that there were once, or that the import replaces. Nothing was signed with those of data that nobody used. */
function keysBefore(tx: ReadTx, { keys, meta }: StateRecords, kept: readonly Key[]): readonly Meta[] {
  const known = meta.find(({ id }) => id === "knownKeys");
  const present = everyKey(kept);
  const replaced = [...everyKey(isUsed(tx) ? tx.everything("keys") : []), ...everyKey(keys)];
  const before = new Set([
    ...everyKey([], known),
    ...everyKey([], tx.get("meta", "knownKeys")),
    ...replaced.filter((digest) => !present.has(digest)),
  ]);
  return before.size === 0 ? [] : [{ id: "knownKeys", value: [...before] }];
}

/** The records of two lists; where both have one, what `merge` makes of them. */
function both<T>(here: readonly T[], then: readonly T[], keyOf: (record: T) => string, merge: (a: T, b: T) => T): T[] {
  const all = new Map(here.map((record) => [keyOf(record), record]));
  for (const record of then) {
    const other = all.get(keyOf(record));
    all.set(keyOf(record), other === undefined ? record : merge(other, record));
  }
  return [...all.values()];
}

const longer = <T extends { readonly expiresAt: number }>(a: T, b: T): T => (a.expiresAt >= b.expiresAt ? a : b);

/** The newer generation, and dead if it is dead in either. */
function familyOf(a: TokenFamily, b: TokenFamily): TokenFamily {
  const [newer, older] = a.generation >= b.generation ? [a, b] : [b, a];
  const dead = newer.deadBecause === null ? older : newer;
  return {
    ...newer,
    deadBecause: dead.deadBecause,
    ...(dead.deadAt !== undefined && { deadAt: dead.deadAt }),
    expiresAt: Math.max(a.expiresAt, b.expiresAt),
  };
}

function expirationOf(a: Expiration, b: Expiration): Expiration {
  const [access, refresh] = (["access", "refresh"] as const).map((kind) => {
    const [one, other] = [a[kind], b[kind]];
    return (one?.era ?? 0) >= (other?.era ?? 0) ? one : other;
  });
  return { id: a.id, ...(access && { access }), ...(refresh && { refresh }) };
}

/**
 * A client of the export. If it was removed here, also where its id was registered again, it gets a new epoch: that ends its old tokens, which
 * carry the epoch.
 */
function clientOf(ctx: Pick<Context, "random">, here: Client | undefined, then: Client): Client {
  if (here?.epoch === then.epoch) return then;
  const managed = then.registrationTokenHash === undefined ? {} : { registrationTokenHash: hashOf(ctx.random(32)) };
  return { ...then, epoch: ctx.random(9), ...managed };
}

/** A grant that is revoked in either stays so. One that the data no longer has, or under another epoch, begins a new epoch. */
function grantOf(ctx: Pick<Context, "random">, here: Grant | undefined, then: Grant): Grant {
  if (then.status === "revoked") return then;
  if (here?.status === "revoked") return { ...here, id: then.id };
  return here?.epoch === then.epoch ? then : { ...then, epoch: ctx.random(9) };
}

/** The counters, which only rise: a snapshot of the data may hold the keys that the import replaces. */
function metaThatRises(tx: ReadTx, then: readonly Meta[]): readonly Meta[] {
  const here = (["longestLife", "latestEnd", "era"] as const).flatMap((id) => tx.get("meta", id) ?? []);
  return both(
    here,
    then.filter(({ id }) => id !== "knownKeys"),
    ({ id }) => id,
    (a, b) => (Number(a.value) > Number(b.value) ? a : b),
  );
}

function endedEras(tx: ReadTx, then: readonly Meta[]): Meta[] {
  const all = (id: Meta["id"]): readonly unknown[] =>
    [tx.get("meta", id), then.find((one) => one.id === id)].flatMap((one) => (one?.value ?? []) as readonly unknown[]);
  const pasts = (all("pasts") as readonly Past[]).toSorted((a, b) => b.end - a.end || b.era - a.era);
  // A later era with an earlier end adds something, and nothing else does (era.ts).
  const needed = pasts.filter(({ era }, index) => pasts.slice(0, index).every((before) => before.era < era));
  const dead = new Map((all("deadEras") as DeadEras).map((range) => [range.join(), range]));
  return [
    ...(needed.length > 0 ? [{ id: "pasts", value: needed } as const] : []),
    ...(dead.size > 0 ? [{ id: "deadEras", value: [...dead.values()] } as const] : []),
  ];
}
