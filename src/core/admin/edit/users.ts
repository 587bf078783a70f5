import type { Tx, User } from "../../../store/store.ts";
import { notifyClients, type EndedSessions } from "../../sign-in/sessions/backchannel.ts";
import { checkComputed } from "../fixtures/entries.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { withSecret } from "../../records/step-up/otp.ts";
import { normalizeUser } from "../fixtures/normalize.ts";
import type { FixtureUser } from "../../records/users/schema.ts";
import { hashPassword } from "../../records/users/passwords.ts";
import { fieldsOf, requireUser, viewUser, type UserView } from "../../records/users/users.ts";
import { revokeGrant } from "../../sign-in/grants/revoke.ts";
import { endSessionsOf } from "../../sign-in/sessions/sessions.ts";

/** Suspends, bans and restores users, and what the end of a user brings with it. */

/** A user after a change of status, and the effects of the change. */
export type StatusChange = ReturnType<typeof setStatus>;

function setStatus(
  tx: Tx,
  ctx: Context,
  user: User,
  status: User["status"],
  { sessionsEnded, grantsRevoked }: Omit<BanEffects, "endedSessions"> = { sessionsEnded: 0, grantsRevoked: 0 },
) {
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
 * Suspends a user: no sign-in, and tokens answer 403 until {@link restore}. Sessions and grants stay.
 * @throws {OperationError} not_found; conflict for a banned user, whose ban this would lighten
 */
export function suspend(tx: Tx, ctx: Context, username: string): StatusChange {
  const user = requireUser(tx, username);
  if (user.status === "banned") {
    throw new OperationError("conflict", `${user.username} is already banned`, {
      hint: { text: "Lift the ban first", command: ["idp", "users", "restore", user.username] },
    });
  }
  return setStatus(tx, ctx, user, "suspended");
}

export const suspendUser = (ctx: Context, input: { readonly username: string }): Promise<StatusChange> =>
  ctx.store.transaction((tx) => suspend(tx, ctx, input.username));

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

/** Makes a suspended or banned user active again. What a ban revoked stays revoked. @throws {OperationError} not_found */
export const restore = (tx: Tx, ctx: Context, username: string): StatusChange =>
  setStatus(tx, ctx, requireUser(tx, username), "active");

/** A user of a fixture, as it was shown or with changes. */
type UserInput = FixtureUser & { readonly hasPassword?: boolean | undefined };

/** `hasPassword` is shown but cannot be set. @param is its value after the change */
const checkHasPassword = (given: boolean | undefined, is: boolean): void =>
  checkComputed("user", { field: "hasPassword", given, is, rule: "set a password instead" });

function requireFree(tx: Tx, username: string): void {
  if (tx.find("users", "username", username) === undefined) return;
  throw new OperationError("conflict", `user "${username}" already exists`, {
    hint: { text: "Choose another name. To change this user", command: ["idp", "users", "edit", username] },
  });
}

/** @returns null if no password is given */
const hashed = async (ctx: Context, { password }: FixtureUser): Promise<string | null> =>
  password === undefined ? null : hashPassword(password, ctx.random);

/** Adds a user; `{ username }` is enough. @throws {OperationError} conflict if the name or the id is taken */
export async function addUser(ctx: Context, { hasPassword: shown, ...fields }: UserInput): Promise<UserView> {
  const given = { createdAt: new Date(ctx.now()).toISOString(), ...fields };
  checkHasPassword(shown, given.password !== undefined);
  const passwordHash = await hashed(ctx, given);
  return ctx.store.transaction((tx) => {
    requireFree(tx, given.username);
    const holder = given.id === undefined ? undefined : tx.get("users", given.id);
    if (holder !== undefined) {
      throw new OperationError("conflict", `the id "${holder.id}" belongs to user "${holder.username}"`, {
        hint: "Leave out the id to get a new one.",
      });
    }
    const made = { ...normalizeUser(given, null, (id) => tx.get("users", id) !== undefined), passwordHash };
    const user = withSecret(made, ctx);
    tx.insert("users", user);
    return viewUser(user);
  });
}

/**
 * Changes the given fields of a user. `username` renames the user.
 * A change to `banned` ends sessions and revokes grants permanently, as a ban does.
 * @param name who is meant
 * @throws {OperationError} not_found; conflict if the new name is taken
 */
export async function editUser(
  ctx: Context,
  name: string,
  { hasPassword: shown, ...fields }: Partial<UserInput>,
): Promise<UserView> {
  for (;;) {
    const { before, version } = await ctx.store.read((tx) => {
      const before = requireUser(tx, name);
      return { before, version: tx.version("users", before.id) };
    });
    const given = { ...fieldsOf(before), ...fields };
    if (given.id !== before.id) {
      throw new OperationError("conflict", "the id of a user cannot be changed: it is the sub of every token", {
        hint: { text: "To add another user", command: ["idp", "users", "add", "NAME", "--set", "id=ID"] },
      });
    }
    checkHasPassword(shown, given.password !== undefined || viewUser(before).hasPassword);
    const passwordHash = await hashed(ctx, given);
    const done = await ctx.store.transaction((tx) => {
      // If the user was changed in the meantime, the check was for another record: start again.
      if (tx.version("users", before.id) !== version) return null;
      if (given.username !== before.username) requireFree(tx, given.username);
      const user: User = {
        ...withSecret(
          normalizeUser(given, before, () => false),
          ctx,
        ),
        ...(passwordHash !== null && { passwordHash, passwordPending: false, passwordDigest: null }),
        updatedAt: new Date(ctx.now()).toISOString(),
      };
      const isBan = user.status === "banned" && before.status !== "banned";
      const endedSessions = isBan ? banEffects(tx, ctx, user.id).endedSessions : [];
      tx.put("users", user);
      return { view: viewUser(user), endedSessions };
    });
    if (done === null) continue;
    await notifyClients(ctx, done.endedSessions);
    return done.view;
  }
}

/** Removes a user with their grants and sessions, whose clients are notified. @throws {OperationError} not_found */
export async function removeUser(ctx: Context, input: { readonly username: string }): Promise<null> {
  const endedSessions = await ctx.store.transaction((tx) => removeUserRecord(tx, requireUser(tx, input.username)));
  await notifyClients(ctx, endedSessions);
  return null;
}
