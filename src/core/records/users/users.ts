/*
 * core/records/users: the people. users.ts finds and shows them; schema.ts says what a user may be, and
 * passwords.ts hashes passwords. core/admin/edit adds, changes, suspends and bans users.
 */
import { hash } from "node:crypto";
import type { ReadTx, User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { didYouMean } from "../../base/nearest.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";

/** A user as the command line and the control API show it: the fixture's fields, without the password or its hash. */
export type UserView = ReturnType<typeof viewUser>;

/** A user with the fields of a fixture, without the password. */
export function fieldsOf(user: User) {
  const { passwordHash: _, passwordPending: __, passwordDigest: ___, updatedAt: ____, ...shown } = user;
  const { otp_secret: _____, passkeys: ______, factors = [], ...fields } = shown;
  return { ...fields, factors };
}

export const viewUser = (user: User) => ({
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
interface Limit {
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

/**
 * Snowflake ids: a string of digits. The upper bits are a time in milliseconds, and the lower 22 bits tell apart ids of the same
 * millisecond. Ids are derived, not random, so that a user of a fixture has the same id on every run.
 */

const lowBits = 22n;

/** The upper bits that keep an id positive as a signed 64-bit number, which is what most databases keep it in. */
const latest = 2 ** 41 - 1;

/**
 * The id of a user.
 * @param createdAt milliseconds since 1970; earlier times count as 1970, times after 2039 as 2039
 * @param username decides the lower bits
 * @param attempt counts up from 0 where an id is taken by another user
 */
export function deriveSnowflake(createdAt: number, username: string, attempt = 0): string {
  const time = BigInt(Math.min(Math.max(Math.floor(createdAt), 0), latest));
  const seed = attempt === 0 ? username : `${username} ${attempt}`;
  const low = Number.parseInt(hash("sha256", seed, "hex").slice(0, 8), 16) >>> 10;
  return ((time << lowBits) | BigInt(low)).toString();
}

/** A claim that is one text or a list of texts. */
function textsOf(claim: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return all.filter((text): text is string => typeof text === "string" && text !== "");
}

const objectIn = (claims: JsonObject, name: string): JsonObject => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return isObject(value) ? value : {};
};

/** The claim `roles`, which the inspector edits. */
export const editedRoles = ({ claims }: Pick<User, "claims">): readonly string[] => textsOf(claims["roles"]);

/**
 * The roles of a user, wherever tokens have them: in `roles` or `role`, or in Keycloak's `realm_access` and `resource_access`. They tell the
 * users of a list apart.
 */
export function rolesOf({ claims }: Pick<User, "claims">): readonly string[] {
  const ofClients = Object.values(objectIn(claims, "resource_access"));
  return [
    ...new Set([
      ...editedRoles({ claims }),
      ...textsOf(claims["role"]),
      ...textsOf(objectIn(claims, "realm_access")["roles"]),
      ...ofClients.flatMap((client) => (isObject(client) ? textsOf(client["roles"]) : [])),
    ]),
  ];
}

/** Roles that Keycloak gives to everybody: they tell nobody apart. */
const ofEverybody =
  /^(?:default-roles-.*|offline_access|uma_authorization|manage-account|manage-account-links|view-profile)$/;

/** Roles that lists show. */
export const tellingRoles = (user: Pick<User, "claims">): readonly string[] =>
  rolesOf(user).filter((role) => !ofEverybody.test(role));

/** The claim `groups`. */
export const groupsOf = ({ claims }: Pick<User, "claims">): readonly string[] => textsOf(claims["groups"]);

/** What lists show beside a user: the roles, else the note. */
export function badgesOf({ claims, note }: Pick<User, "claims" | "note">): readonly string[] {
  const roles = tellingRoles({ claims });
  return roles.length === 0 && typeof note === "string" ? [note] : roles;
}
