import type { Tx, User } from "../../store/store.ts";
import { tellAll } from "../logout/backchannel.ts";
import { checkComputed, checkEntry, type Entry } from "../fixtures/schema/check-entry.ts";
import type { Context } from "../context.ts";
import { OperationError } from "../errors.ts";
import { normalizeUser } from "../fixtures/schema/normalize.ts";
import type { FixtureUser } from "../fixtures/schema/user.ts";
import { hashPassword } from "../login/passwords.ts";
import { banEffects, fieldsOf, removeUserRecord, requireUser, viewUser, type UserView } from "./users.ts";

/** Adds, changes and removes users one at a time. What a user may be is what a fixture may say. */

/** An entry that {@link checkEntry} has let through. */
const checked = (entry: Entry): FixtureUser => entry as unknown as FixtureUser;

/** Whether a user has a password is shown but cannot be set. @param is as it would be after the change */
const checkHasPassword = (given: unknown, is: boolean): void =>
  checkComputed("user", { field: "hasPassword", given, is, rule: "set a password instead" });

function requireFree(tx: Tx, username: string): void {
  if (tx.find("users", "username", username) === undefined) return;
  throw new OperationError("conflict", `user "${username}" already exists`, {
    hint: { text: "Choose another name. To change this user", command: ["idp", "users", "edit", username] },
  });
}

/** @returns null where no password is given */
const hashed = async (ctx: Context, { password }: FixtureUser): Promise<string | null> =>
  password === undefined ? null : hashPassword(password, ctx.random);

/**
 * Adds a user; `{ username }` is enough.
 * @param input `entry`: a user of a fixture
 * @throws {OperationError} invalid, with every problem; conflict where the name or the id is taken
 */
export async function addUser(ctx: Context, input: { readonly entry: Entry }): Promise<UserView> {
  const { hasPassword: shown, ...fields } = input.entry;
  const entry = { createdAt: new Date(ctx.now()).toISOString(), ...fields };
  await checkEntry("user", entry, ctx.settings);
  const given = checked(entry);
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
    const user = { ...normalizeUser(given, null, (id) => tx.get("users", id) !== undefined), passwordHash };
    tx.insert("users", user);
    return viewUser(user);
  });
}

/**
 * Changes fields of a user; each that is given takes the place of what was there, and `username` renames.
 * A change to `banned` ends sessions and revokes grants permanently, as a ban does.
 * @param input `username`: who is meant; `entry`: fields of a user of a fixture
 * @throws {OperationError} not_found; invalid, with every problem; conflict where the new name is taken
 */
export async function editUser(
  ctx: Context,
  input: { readonly username: string; readonly entry: Entry },
): Promise<UserView> {
  const { hasPassword: shown, ...fields } = input.entry;
  for (;;) {
    const { before, version } = await ctx.store.read((tx) => {
      const before = requireUser(tx, input.username);
      return { before, version: tx.version("users", before.id) };
    });
    const entry = { ...fieldsOf(before), ...fields } as Entry;
    if (entry.id !== before.id) {
      throw new OperationError("conflict", "the id of a user cannot be changed: it is the sub of every token", {
        hint: { text: "To add another user", command: ["idp", "users", "add", "NAME", "--set", "id=ID"] },
      });
    }
    await checkEntry("user", entry, ctx.settings);
    const given = checked(entry);
    checkHasPassword(shown, given.password !== undefined || viewUser(before).hasPassword);
    const passwordHash = await hashed(ctx, given);
    const done = await ctx.store.transaction((tx) => {
      // If the user was changed since, what was checked is not what would be written.
      if (tx.version("users", before.id) !== version) return null;
      if (given.username !== before.username) requireFree(tx, given.username);
      const user: User = {
        ...normalizeUser(given, before, () => false),
        ...(passwordHash !== null && { passwordHash, passwordPending: false, passwordDigest: null }),
        updatedAt: new Date(ctx.now()).toISOString(),
      };
      const isBan = user.status === "banned" && before.status !== "banned";
      const telling = isBan ? banEffects(tx, ctx, user.id).telling : [];
      tx.put("users", user);
      return { view: viewUser(user), telling };
    });
    if (done === null) continue;
    await tellAll(ctx, done.telling);
    return done.view;
  }
}

/** Removes a user, and with them their grants and sessions, whose clients are told. @throws {OperationError} not_found */
export async function removeUser(ctx: Context, input: { readonly username: string }): Promise<null> {
  const telling = await ctx.store.transaction((tx) => removeUserRecord(tx, requireUser(tx, input.username)));
  await tellAll(ctx, telling);
  return null;
}
