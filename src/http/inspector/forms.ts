import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { OperationError } from "../../core/base/errors.ts";
import { commandOn, flagWith } from "../../core/base/hint.ts";
import { parseJson, isObject, sameJson, type JsonObject } from "../../text/json.ts";
import { expirable } from "../../core/testing/controls/expire.ts";
import { editedRoles, type UserView } from "../../core/records/users/users.ts";
import { every, single } from "../input/params.ts";

/** Forms with several fields: each becomes the JSON that the operation takes, and the command that does the same. */

/** What users may have beside their password. */
export const factorsOfUsers = ["otp", "passkey"] as const;

const typed = (body: RawParameters, name: string): string => (single(body, name) ?? "").trim();

/** The fields that were filled in. */
const filled = (body: RawParameters, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries<string>(
    names.map((name) => [name, typed(body, name)] as const).filter(([, value]) => value !== ""),
  );

export function objectIn(json: string): JsonObject {
  const value = parseJson(json);
  return isObject(value) ? value : {};
}

/** `admin, ops` */
const rolesIn = (body: RawParameters): readonly string[] =>
  typed(body, "roles")
    .split(",")
    .map((role) => role.trim())
    .filter((role) => role !== "");

/** A value of a field that the commands take as JSON. */
const setting = (name: string, value: unknown): readonly string[] =>
  value === undefined ? [] : ["--set", `${name}=${JSON.stringify(value)}`];

/** The fields of a user as flags. A password is read from standard input, so that no history keeps it. */
const flagsOf = ({ email, displayName, claims, factors, password }: JsonObject): readonly string[] => [
  ...(typeof email === "string" ? flagWith("--email", email) : setting("email", email)),
  ...(typeof displayName === "string" ? flagWith("--display-name", displayName) : []),
  ...(password === undefined ? [] : ["--password-stdin"]),
  ...setting("factors", factors),
  ...setting("claims", claims),
];

/** The password as it was typed: it may begin with a space. */
const passwordIn = (body: RawParameters): { readonly password?: string } => {
  const password = single(body, "password");
  return password === undefined ? {} : { password };
};

/** What somebody typed, without the password: a page says only that there was one. */
export function withoutPassword(json: string): string {
  const { password, ...fields } = objectIn(json);
  return JSON.stringify({ ...fields, ...(password !== undefined && { password: "" }) });
}

export function newUserIn(body: RawParameters): string {
  const roles = rolesIn(body);
  const entry = filled(body, ["username", "email", "displayName"]);
  return JSON.stringify({ ...entry, ...passwordIn(body), ...(roles.length > 0 && { claims: { roles } }) });
}

const nameIn = ({ username }: JsonObject): string => (typeof username === "string" ? username : "");

export const addUserCommand = (entry: JsonObject): readonly string[] =>
  commandOn(["idp", "users", "add"], nameIn(entry), flagsOf(entry));

export const editUserCommand = (username: string, fields: JsonObject): readonly string[] =>
  commandOn(["idp", "users", "edit"], username, flagsOf(fields));

/** The roles, and the other claims as JSON. @throws {OperationError} usage */
function claimsIn(body: RawParameters, user: UserView): JsonObject {
  const text = typed(body, "claims");
  let others: unknown;
  try {
    others = text === "" ? {} : parseJson(text);
  } catch (cause) {
    throw new OperationError("usage", `the claims cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(others))
    throw new OperationError("usage", 'the claims must be a JSON object, such as {"tenant":"acme"}');
  const given = rolesIn(body);
  // A claim that is one text stays one.
  const roles = sameJson(given, editedRoles(user)) ? user.claims["roles"] : given.length > 0 ? given : undefined;
  return { ...(roles !== undefined && { roles }), ...others };
}

/** The fields of a user that differ from what they are; a password where one was typed. @throws {OperationError} usage */
export function editIn(body: RawParameters, user: UserView): string {
  const email = typed(body, "email");
  const displayName = typed(body, "displayName");
  const given = {
    email: email === "" ? null : email,
    // No user is without a name.
    displayName: displayName === "" ? user.displayName : displayName,
    factors: factorsOfUsers.filter((factor) => every(body, "factors").includes(factor)),
    claims: claimsIn(body, user),
  };
  const changed = Object.entries(given).filter(([name, value]) => !sameJson(value, user[name as keyof typeof given]));
  return JSON.stringify({ ...Object.fromEntries(changed), ...passwordIn(body) });
}

/** Which of `access`, `refresh`, `sessions` and `codes`, and whose; of everybody where no name is given. */
export function expiryIn(body: RawParameters): string {
  const whose = filled(body, ["user", "client"]);
  const kind = expirable.find((one) => one === single(body, "kind")) ?? "access";
  return JSON.stringify({ ...(Object.keys(whose).length === 0 ? { all: true } : whose), [kind]: true });
}

export const expireCommand = (expiry: JsonObject): readonly string[] => [
  ...["idp", "expire"],
  ...Object.entries(expiry).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : flagWith(`--${name}`, String(value)),
  ),
];
