import { scimKey, type ReadTx, type ScimResource } from "../../store/store.ts";
import { onRemoval } from "../../scim/profiles.ts";
import type { Attributes } from "../../scim/resource.ts";
import type { Context } from "../context.ts";
import { pushResource, type PushAction, type Pushed, type PushTo } from "./push-resource.ts";
import { groupKind, removeUser, userKind } from "./resource-kinds.ts";
import { createSender, type Sender } from "./sender.ts";
import { recordOf, recordsOf, type Provisioned, type Wanted } from "./wanted.ts";

/** Pushes one user or group, and writes down at once what the app has now, so that a restart forgets nothing. */

export interface PushedGroupView {
  readonly name: string;
  readonly action: PushAction;
  readonly status: number | null;
  readonly id: string | null;
  /** How many the group has in the app. */
  readonly members: number;
  readonly error: string | null;
}

export interface Push {
  readonly ctx: Context;
  readonly to: Provisioned;
  /** Nothing is sent, and nothing is written down. */
  readonly isDry: boolean;
  readonly how: PushTo;
}

/** @returns what the app should have of a user; null: nothing is sent after all */
export type FindWanted = (tx: ReadTx) => Wanted | null;

/** Waits until nothing else works on this user, and reads only then what the app should have. @returns null: nothing is sent after all */
export const pushUser = (push: Push, userId: string, find: FindWanted): Promise<UserOutcome | null> =>
  push.ctx.provisioning.inTurn(scimKey(push.to.client.client_id, "user", userId), () =>
    pushUserNow(push, userId, find),
  );

export type PushedUser = Pushed<Attributes>;

/** What happened to a user, and what the app should have had. */
interface UserOutcome {
  /** Null: there is nothing to do for a user who is gone. */
  readonly pushed: PushedUser | null;
  readonly wanted: Wanted;
  /** The id in the app before; null: it had none. */
  readonly idBefore: string | null;
}

async function pushUserNow(push: Push, userId: string, find: FindWanted): Promise<UserOutcome | null> {
  const { ctx, to } = push;
  const { wanted, before } = await ctx.store.read((tx) => ({
    wanted: find(tx),
    before: recordOf(tx, to, "user", userId),
  }));
  if (wanted === null) return null;
  const known = before === undefined ? null : { remoteId: before.remoteId, has: before.sent };
  const isGone = wanted.attributes === null && (known === null || known.remoteId === null);
  const isDone = wanted.attributes === null && known?.has?.["active"] === false && !onRemoval(to.profile).deletes;
  if (isGone || isDone) {
    if (!push.isDry) await keep(push, "user", wanted.userId, wanted.username, null);
    return { pushed: null, wanted, idBefore: known?.remoteId ?? null };
  }
  const { username, attributes } = wanted;
  const sent = await pushResource<Attributes>(push.how, username, known, (work) =>
    attributes === null ? removeUser(work) : work.run(userKind(work, attributes)),
  );
  const pushed = told(sent, wanted);
  if (!push.isDry) {
    const hasChanged = pushed.action !== "unchanged" || before === undefined || before.error !== null;
    if (hasChanged) await keep(push, "user", wanted.userId, wanted.username, toRecord(pushed));
  }
  return { pushed, wanted, idBefore: known?.remoteId ?? null };
}

/** A claim that cannot be sent fails the push of its user, who has everything else. It keeps nobody from being locked out. */
const told = (pushed: PushedUser, { problem, attributes }: Wanted): PushedUser =>
  problem === null || pushed.error !== null || attributes?.["active"] !== true
    ? pushed
    : { ...pushed, action: "failed", error: problem };

type Kept = Pick<ScimResource, "remoteId" | "sent" | "error" | "members">;

const toRecord = ({ known, error }: PushedUser): Kept | null =>
  known && { remoteId: known.remoteId, sent: known.has && { ...known.has }, error };

/** Writes down what the app has; null: nothing. A user who is gone here is forgotten with it. */
async function keep(
  { ctx, to }: Push,
  kind: ScimResource["kind"],
  local: string,
  name: string,
  kept: Kept | null,
): Promise<void> {
  const { client, scim } = to;
  const id = scimKey(client.client_id, kind, local);
  const at = new Date(ctx.now()).toISOString();
  await ctx.store.transaction((tx) => {
    // The client may have been removed, or moved to another server.
    if (tx.get("clients", client.client_id)?.scim?.url !== scim.url) return;
    const before = tx.get("scim", id);
    const isForgotten = kept === null || (kind === "user" && isInactive(kept) && tx.get("users", local) === undefined);
    if (isForgotten) {
      if (before !== undefined) tx.remove("scim", id);
      return;
    }
    const pushedAt = kept.error === null ? at : before?.url === scim.url ? before.pushedAt : null;
    tx.put("scim", { id, clientId: client.client_id, kind, local, name, url: scim.url, ...kept, pushedAt });
  });
}

const isInactive = ({ sent, error }: Kept): boolean => error === null && sent?.["active"] === false;

/** @returns the ids there of those who should be in a group; null: nothing is sent after all */
type FindMembers = (record: ScimResource | undefined) => readonly string[] | null;

/** Waits until nothing else works on this group, as {@link pushUser} does. @returns null: nothing was sent */
export const pushGroup = (push: Push, name: string, find: FindMembers): Promise<PushedGroupView | null> =>
  push.ctx.provisioning.inTurn(scimKey(push.to.client.client_id, "group", name), () => pushGroupNow(push, name, find));

async function pushGroupNow(push: Push, name: string, find: FindMembers): Promise<PushedGroupView | null> {
  const { ctx, to } = push;
  const before = await ctx.store.read((tx) => recordOf(tx, to, "group", name));
  const members = find(before);
  if (members === null) return null;
  const known = before?.remoteId == null ? null : { remoteId: before.remoteId, has: before.members ?? [] };
  const pushed = await pushResource<readonly string[]>(push.how, null, known, (work) =>
    work.run(groupKind(work, name, members)),
  );
  const { action, status, error } = pushed;
  const { remoteId, has } = pushed.known ?? { remoteId: null, has: null };
  const there = has ?? [];
  if (!push.isDry && (action !== "unchanged" || before?.error !== null)) {
    await keep(push, "group", name, name, { remoteId, sent: { displayName: name }, members: there, error });
  }
  return { name, action, status, id: remoteId, members: there.length, error };
}

/**
 * Pushes one user of one client, with the groups that the user joins or leaves.
 * @returns null: there was nothing to send
 */
export async function pushUserWithGroups(
  ctx: Context,
  to: Provisioned,
  userId: string,
  find: FindWanted,
  sender: Sender = createSender(ctx, to.client, to.scim),
): Promise<PushedUser | null> {
  const push: Push = { ctx, to, isDry: false, how: { sender, profile: to.profile, full: false } };
  const done = await pushUser(push, userId, find);
  if (done === null) return null;
  const { pushed, wanted, idBefore } = done;
  const id = pushed?.known?.remoteId ?? null;
  const hasFailed = pushed !== null && pushed.error !== null && pushed.error !== wanted.problem;
  if (to.scim.groups === "none" || hasFailed) return pushed;
  const known = await ctx.store.read((tx) => recordsOf(tx, to, "group").map(({ local }) => local));
  const ids = new Set([id, idBefore]);
  for (const name of new Set([...known, ...wanted.groups])) {
    const isIn = id !== null && wanted.groups.includes(name);
    await pushGroup(push, name, (record) => {
      const { members = [] } = record ?? {};
      const there = members.filter((one) => ids.has(one));
      const isSame = isIn ? there.length === 1 && there[0] === id && record !== undefined : there.length === 0;
      if (isSame) return null;
      const others = members.filter((one) => !ids.has(one));
      return isIn ? [...others, id] : others;
    });
  }
  return pushed;
}
