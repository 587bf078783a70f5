/*
 * core/users: the people. users.ts finds and shows them; schema.ts says what a user may be, and
 * passwords.ts hashes passwords. core/edit adds, changes, suspends and bans users.
 */
import type { ReadTx, User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { OperationError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";

/** A user as the command line and the control API show it: the fixture's fields, without the password or its hash. */
export type UserView = UserFields & { readonly hasPassword: boolean };

type UserFields = Omit<
  User,
  "passwordHash" | "passwordPending" | "passwordDigest" | "updatedAt" | "otp_secret" | "passkeys"
>;

/** A user with the fields of a fixture, without the password. */
export function fieldsOf(user: User): UserFields {
  const { passwordHash: _, passwordPending: __, passwordDigest: ___, updatedAt: ____, ...shown } = user;
  const { otp_secret: _____, passkeys: ______, factors = [], ...fields } = shown;
  return { ...fields, factors };
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
