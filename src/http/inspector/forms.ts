import type { RawParameters } from "../../core/authorize/parameters.ts";
import { OperationError } from "../../core/errors.ts";
import { commandOn, flagWith } from "../../core/hint.ts";
import { parseJson } from "../../text/json-depth.ts";
import { isObject, type JsonObject } from "../../text/json-object.ts";
import { expirable } from "../../core/controls/expire.ts";
import { single } from "../input/params.ts";

/** Forms with several fields: each becomes the JSON that the operation takes, and the command that does the same. */

const typed = (body: RawParameters, name: string): string => (single(body, name) ?? "").trim();

/** Only the fields that were filled in. */
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

const flagsOf = (entry: JsonObject): readonly string[] => {
  const { email, displayName, claims } = entry;
  return [
    ...(typeof email === "string" ? flagWith("--email", email) : []),
    ...(typeof displayName === "string" ? flagWith("--display-name", displayName) : []),
    ...(claims === undefined ? [] : ["--set", `claims=${JSON.stringify(claims)}`]),
  ];
};

export function newUserIn(body: RawParameters): string {
  const roles = rolesIn(body);
  const entry = filled(body, ["username", "email", "displayName"]);
  return JSON.stringify({ ...entry, ...(roles.length > 0 && { claims: { roles } }) });
}

const nameIn = ({ username }: JsonObject): string => (typeof username === "string" ? username : "");

export const addUserCommand = (entry: JsonObject): readonly string[] =>
  commandOn(["idp", "users", "add"], nameIn(entry), flagsOf(entry));

/** The roles, and the other claims as JSON. @throws {OperationError} usage */
export function claimsIn(body: RawParameters): string {
  const text = typed(body, "claims");
  let others: unknown;
  try {
    others = text === "" ? {} : parseJson(text);
  } catch (cause) {
    throw new OperationError("usage", `the claims cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(others))
    throw new OperationError("usage", 'the claims must be a JSON object, such as {"tenant":"acme"}');
  const roles = rolesIn(body);
  return JSON.stringify({ ...(roles.length > 0 && { roles }), ...others });
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
