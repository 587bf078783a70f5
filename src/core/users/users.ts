/*
 * core/users: the people. users.ts shows, suspends, bans and restores them; schema.ts says what a user may be, and
 * passwords.ts hashes passwords. core/edit adds and changes users.
 */
import type { ReadTx, Tx, User } from "../../store/store.ts";
import { notifyClients, type EndedSessions } from "../sessions/backchannel.ts";
import type { Context } from "../context.ts";
import { OperationError } from "../errors.ts";
import { revokeGrant } from "../grants/grants.ts";
import { didYouMean } from "../nearest.ts";
import { endSessionsOf } from "../sessions/sessions.ts";

/** A user as the command line and the control API show it: the fixture's fields, without the password or its hash. */
export type UserView = UserFields & { readonly hasPassword: boolean };

type UserFields = Omit<
  User,
  "passwordHash" | "passwordPending" | "passwordDigest" | "updatedAt" | "otp_secret" | "passkeys"
>;

/** A user with the fields of a fixture, without the password. */
export function fieldsOf(user: User): UserFields {
  const { passwordHash: _, passwordPending: __, passwordDigest: ___, updatedAt: ____, ...shown } = user;
  const { otp_secret: _____, passkeys: ______, factors = [], federated = [], ...fields } = shown;
  return { ...fields, factors, federated };
}

export const viewUser = (user: User): UserView => ({
  ...fieldsOf(user),
  hasPassword: user.passwordHash !== null || user.passwordPending,
});

function* usernames(tx: ReadTx): Generator<string> {
  for (const user of tx.all("users")) yield user.username;
}

/** The user of this name, or of this id. @throws {OperationError} not_found, with the name that may be meant */
export function requireUser(tx: ReadTx, name: string): User {
  const user = tx.find("users", "username", name) ?? tx.get("users", name);
  if (user === undefined) {
    throw new OperationError("not_found", `no user "${name}"`, {
      hint: didYouMean(name, usernames(tx), { text: "All users", command: ["idp", "users", "list"] }),
    });
  }
  return user;
}

/** The maximum number of users to list; absent: all. */
export interface Limit {
  readonly limit?: number | undefined;
}

/** The users, in the order they were added. */
export const listUsers = (ctx: Context, { limit }: Limit): Promise<readonly UserView[]> =>
  ctx.store.read((tx) => {
    const users: UserView[] = [];
    for (const user of tx.all("users")) {
      if (users.length === limit) break;
      users.push(viewUser(user));
    }
    return users;
  });

/** One user. @throws {OperationError} not_found */
export const showUser = (ctx: Context, input: { readonly username: string }): Promise<UserView> =>
  ctx.store.read((tx) => viewUser(requireUser(tx, input.username)));

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
