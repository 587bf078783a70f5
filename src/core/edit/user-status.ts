import type { Tx, User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { OperationError } from "../errors.ts";
import { revokeGrant } from "../grants/grants.ts";
import { notifyClients, type EndedSessions } from "../sessions/backchannel.ts";
import { endSessionsOf } from "../sessions/sessions.ts";
import { requireUser, viewUser, type UserView } from "../users/users.ts";

/** Suspends, bans and restores users, and what the end of a user brings with it. */

/** A user after a change of status, and the effects of the change. */
export type StatusChange = UserView & {
  readonly previousStatus: User["status"];
  readonly sessionsEnded: number;
  readonly grantsRevoked: number;
};

function setStatus(
  tx: Tx,
  ctx: Context,
  user: User,
  status: User["status"],
  { sessionsEnded, grantsRevoked }: Omit<BanEffects, "endedSessions"> = { sessionsEnded: 0, grantsRevoked: 0 },
): StatusChange {
  const changed: User =
    user.status === status ? user : { ...user, status, updatedAt: new Date(ctx.now()).toISOString() };
  if (changed !== user) tx.put("users", changed);
  return { ...viewUser(changed), previousStatus: user.status, sessionsEnded, grantsRevoked };
}

interface BanEffects {
  readonly sessionsEnded: number;
  readonly grantsRevoked: number;
  /** Their clients are notified once the change is on disk. */
  readonly endedSessions: EndedSessions;
}

/** The effects of a ban: sessions end, grants are revoked permanently. */
export function banEffects(tx: Tx, ctx: Pick<Context, "now">, userId: string): BanEffects {
  const active = tx.findAll("grants", "user", userId).filter((grant) => grant.status === "active");
  for (const grant of active) revokeGrant(tx, ctx, grant, "ban");
  const ended = endSessionsOf(tx, userId);
  return { sessionsEnded: ended.length, grantsRevoked: active.length, endedSessions: ended };
}

/** Removes a user with all their grants and sessions. @returns the sessions, whose clients are notified once the change is on disk */
export function removeUserRecord(tx: Tx, user: User): EndedSessions {
  for (const grant of tx.findAll("grants", "user", user.id)) tx.remove("grants", grant.id);
  tx.remove("users", user.id);
  return endSessionsOf(tx, user.id);
}

/**
 * Suspends a user: no sign-in, and tokens answer 403 until {@link restoreUser}. Sessions and grants stay.
 * @throws {OperationError} not_found; conflict for a banned user, whose ban this would lighten
 */
export const suspendUser = (ctx: Context, input: { readonly username: string }): Promise<StatusChange> =>
  ctx.store.transaction((tx) => {
    const user = requireUser(tx, input.username);
    if (user.status === "banned") {
      throw new OperationError("conflict", `${user.username} is already banned`, {
        hint: { text: "Lift the ban first", command: ["idp", "users", "restore", user.username] },
      });
    }
    return setStatus(tx, ctx, user, "suspended");
  });

/**
 * Bans a user: they cannot sign in, their sessions end, and their grants are revoked permanently. The clients of those
 * sessions are notified.
 * @throws {OperationError} not_found
 */
export async function banUser(ctx: Context, input: { readonly username: string }): Promise<StatusChange> {
  const { change, endedSessions } = await ctx.store.transaction((tx) => {
    const user = requireUser(tx, input.username);
    const effects = banEffects(tx, ctx, user.id);
    return { change: setStatus(tx, ctx, user, "banned", effects), endedSessions: effects.endedSessions };
  });
  await notifyClients(ctx, endedSessions);
  return change;
}

/**
 * Makes a suspended or banned user active again. What a ban revoked stays revoked.
 * @throws {OperationError} not_found
 */
export const restoreUser = (ctx: Context, input: { readonly username: string }): Promise<StatusChange> =>
  ctx.store.transaction((tx) => setStatus(tx, ctx, requireUser(tx, input.username), "active"));
