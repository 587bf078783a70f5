import { isObject } from "../text/json.ts";

/** The paths of attributes (RFC 7644 3.10), and what RFC 7643 has at them. */

export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
export const enterpriseSchema = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

/** The path of the work address (RFC 7643 4.1.2). */
export const workEmail = 'emails[type eq "work"].value';

/** The path of the manager, whose value is the user's id in the app (RFC 7643 4.3). */
export const managerPath = `${enterpriseSchema}:manager`;

/** Where a path leads. */
export interface Place {
  /** The names from the top: that of an extension first. */
  readonly names: readonly string[];
  /** Which value of the list at these names, and what of it; null: the path has no filter. */
  readonly one: { readonly key: string; readonly value: unknown; readonly below: string } | null;
}

/** `phoneNumbers[type eq "mobile"].value`; the value is JSON (RFC 7644 3.4.2.2). */
const filtered = /^([^[]+)\[([^ ]+) eq (.+)\]\.([^.\]]+)$/s;

export function placeOf(path: string): Place {
  const [, list, key, value, below] = filtered.exec(path) ?? [];
  const attribute = list ?? path;
  const at = attribute.startsWith("urn:") ? attribute.lastIndexOf(":") : -1;
  const schema = attribute.slice(0, Math.max(at, 0));
  const names = attribute.slice(at + 1).split(".");
  return {
    names: schema === "" || schema === userSchema ? names : [schema, ...names],
    one:
      key === undefined || value === undefined || below === undefined
        ? null
        : { key, value: keyValue(key, value), below },
  };
}

/** Entra ID writes `primary`, a truth value, as a text. */
function keyValue(key: string, json: string): unknown {
  const value: unknown = JSON.parse(json);
  return key === "primary" && typeof value === "string" ? value.toLowerCase() === "true" : value;
}

/** Where the list of a path with a filter is, and which of its values is meant; null: the path has no filter. */
export const entryOf = (path: string): string | null => {
  const end = placeOf(path).one === null ? -1 : path.lastIndexOf("].");
  return end < 0 ? null : path.slice(0, end + 1);
};

/** The attributes of a user that are not plain values (RFC 7643 4.1.1, 4.1.2, 4.3), in lower case: the case does not count. */
const lists = new Set("emails phonenumbers ims photos addresses groups entitlements roles x509certificates".split(" "));
const objects = new Set(["name", managerPath.toLowerCase()]);

/** The attribute that a path begins at, and the names below it. */
function attributeOf(path: string): { readonly key: string; readonly name: string; readonly below: number } {
  const { names } = placeOf(path);
  const [first = "", second = ""] = names;
  const isExtension = first.startsWith("urn:");
  return {
    key: (isExtension ? `${first}:${second}` : first).toLowerCase(),
    name: isExtension ? second : first,
    below: names.length - (isExtension ? 2 : 1),
  };
}

/** Why no user can have a value at a path; null: one can. */
export function pathProblem(path: string): string | null {
  const { key, name, below } = attributeOf(path);
  const { one } = placeOf(path);
  if (lists.has(key) && below > 0 && one === null)
    return `"${path}" leads into a list (RFC 7643 4.1.2): name one of its values, as in ${name}[type eq "work"].value`;
  return objects.has(key) && one !== null ? `"${path}" has a filter, and ${name} is not a list (RFC 7643 4.1.1)` : null;
}

/** What a path takes in place of a value; null: it takes the value. */
export function formProblem(path: string, value: unknown): string | null {
  if (path === managerPath) return typeof value === "string" ? null : "a username";
  const { key, name, below } = attributeOf(path);
  if (below > 0 || placeOf(path).one !== null) return null;
  if (lists.has(key))
    return Array.isArray(value) && value.every(isObject)
      ? null
      : `a list of objects (RFC 7643 4.1.2); ${name}[type eq "work"].value takes a text`;
  return objects.has(key) && !isObject(value) ? "an object (RFC 7643 4.1.1)" : null;
}

/** `enterprise:department` as a path. */
export const pathOf = (attribute: string): string => attribute.replace(/^enterprise:/, `${enterpriseSchema}:`);
