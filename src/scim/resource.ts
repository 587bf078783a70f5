/*
 * scim: what a provisioning client sends, as values: resources (resource.ts) and the requests of each vendor (profiles.ts). sending.ts says who
 * asks, what is sent again, and how an answer is read. It sends nothing itself. A leaf, because src/core pushes users with it and src/client
 * checks apps with it, and they know nothing of each other.
 */

/** A user as attributes by their paths (RFC 7644 3.10): `name.givenName`, `emails[type eq "work"].value`, `urn:…:User:department`. */
export type Attributes = Readonly<Record<string, unknown>>;

/** A resource as JSON (RFC 7643 3). */
export type Resource = Readonly<Record<string, unknown>>;

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const enterpriseSchema = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

/** The path of the work address (RFC 7643 4.1.2). */
export const workEmail = 'emails[type eq "work"].value';

/** A text as a filter has it: a JSON string (RFC 7644 3.4.2.2), so that no quote in it ends the value. */
export const quoted = (value: string): string => JSON.stringify(value);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schema of a path, and the names below it. */
function placeOf(path: string): { readonly schema: string | null; readonly names: readonly string[] } {
  const at = path.startsWith("urn:") ? path.lastIndexOf(":") : -1;
  return { schema: at < 0 ? null : path.slice(0, at), names: path.slice(at + 1).split(".") };
}

/** Sets a value below names; objects on the way are made. */
function setBelow(target: Record<string, unknown>, names: readonly string[], value: unknown): void {
  const [name = "", ...rest] = names;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const own = Object.hasOwn(target, name) && isObject(target[name]) ? { ...target[name] } : {};
  target[name] = own;
  setBelow(own, rest, value);
}

function setEmail(target: Record<string, unknown>, value: unknown): void {
  const others = (Array.isArray(target["emails"]) ? target["emails"] : []) as unknown[];
  const before = others.find(isWork);
  const mine = { ...(isObject(before) ? before : {}), value, type: "work", primary: true };
  target["emails"] = [mine, ...others.filter((one) => one !== before)];
}

const isWork = (email: unknown): boolean =>
  isObject(email) && typeof email["type"] === "string" && email["type"].toLowerCase() === "work";

function setPath(target: Record<string, unknown>, path: string, value: unknown): void {
  if (path === workEmail) {
    setEmail(target, value);
    return;
  }
  const { schema, names } = placeOf(path);
  setBelow(target, schema === null || schema === userSchema ? names : [schema, ...names], value);
}

function removePath(target: Record<string, unknown>, path: string): void {
  if (path === workEmail) {
    const emails = target["emails"];
    if (Array.isArray(emails)) target["emails"] = (emails as unknown[]).filter((email) => !isWork(email));
    return;
  }
  const { schema, names } = placeOf(path);
  const all = schema === null || schema === userSchema ? names : [schema, ...names];
  const last = all.at(-1) ?? "";
  let below: Record<string, unknown> = target;
  for (const name of all.slice(0, -1)) {
    const own = below[name];
    if (!Object.hasOwn(below, name) || !isObject(own)) return;
    below[name] = { ...own };
    below = below[name] as Record<string, unknown>;
  }
  Reflect.deleteProperty(below, last);
}

/**
 * A user as JSON.
 * @param remote what the server has: what is not ours in it stays (RFC 7644 3.5.1 replaces the whole resource)
 * @param removed paths that are to go from it
 */
export function userResource(attributes: Attributes, remote: Resource = {}, removed: readonly string[] = []): Resource {
  // The server writes these itself (RFC 7643 3.1, 4.1.2).
  const { meta: _, groups: __, schemas, ...rest } = remote;
  const resource: Record<string, unknown> = { ...rest };
  for (const path of removed) removePath(resource, path);
  for (const [path, value] of Object.entries(attributes)) setPath(resource, path, value);
  const extensions = Object.keys(resource).filter((name) => name.startsWith("urn:"));
  const known = Array.isArray(schemas) ? (schemas as unknown[]).filter((name) => typeof name === "string") : [];
  return { schemas: [...new Set([userSchema, ...known, ...extensions])], ...resource };
}

/** The member of an object by its name, in any case (RFC 7643 2.1). */
function member(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const key = Object.keys(value).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : value[key];
}

/** The value that a resource has at a path; undefined: none. */
export function valueAt(resource: Resource, path: string): unknown {
  if (path === workEmail) {
    const emails = member(resource, "emails");
    const all: readonly unknown[] = Array.isArray(emails) ? emails : [];
    return member(all.find(isWork) ?? all.find((one) => member(one, "primary") === true) ?? all[0], "value");
  }
  const { schema, names } = placeOf(path);
  const all = schema === null || schema === userSchema ? names : [schema, ...names];
  return all.reduce<unknown>(member, resource);
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What has to be sent so that the server has `after` in place of `before`. */
export interface Difference {
  /** Paths with another value, or a new one. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export const differenceOf = (before: Attributes, after: Attributes): Difference => ({
  changed: Object.keys(after).filter((path) => !Object.hasOwn(before, path) || !sameJson(before[path], after[path])),
  removed: Object.keys(before).filter((path) => !Object.hasOwn(after, path)),
});

export const isSame = (difference: Difference): boolean =>
  difference.changed.length === 0 && difference.removed.length === 0;

/** What a server has at the paths that are ours. */
export const attributesIn = (resource: Resource, paths: readonly string[]): Attributes =>
  Object.fromEntries(
    paths.flatMap((path) => {
      const value = valueAt(resource, path);
      return value === undefined || value === null ? [] : [[path, value]];
    }),
  );

/** The ids in `members` of a group; null: it has none, or they were left out. */
export function membersIn(resource: Resource): readonly string[] | null {
  const members = member(resource, "members");
  if (!Array.isArray(members)) return null;
  return members.flatMap((one) => {
    const value = member(one, "value");
    return typeof value === "string" ? [value] : [];
  });
}

/** The id of a resource; null: there is none. */
export const idIn = (resource: Resource | null): string | null => {
  const id = resource === null ? undefined : member(resource, "id");
  // A URL parser would take dots for a step upwards.
  return typeof id === "string" && !/^\.*$/.test(id) ? id : typeof id === "number" ? String(id) : null;
};

/** The resources of a ListResponse (RFC 7644 3.4.2). */
export function resourcesIn(list: Resource | null): readonly Resource[] {
  const found = list === null ? undefined : member(list, "Resources");
  return Array.isArray(found) ? found.filter(isObject) : [];
}
