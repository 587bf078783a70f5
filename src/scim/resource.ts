/*
 * scim: what a provisioning client sends, as values: resources (resource.ts), the paths of their attributes (paths.ts) and the requests of each
 * vendor (profiles.ts). sending.ts says who asks, what is sent again, and how an answer is read. It sends nothing itself. A leaf, because src/core
 * pushes users with it and src/check checks apps with it, and they know nothing of each other.
 */
import { isObject } from "../text/json.ts";
import { entryOf, managerPath, placeOf, userSchema, workEmail, type Place } from "./paths.ts";

/** A user as attributes by their paths (RFC 7644 3.10): `name.givenName`, `emails[type eq "work"].value`, `urn:…:User:department`. */
export type Attributes = Readonly<Record<string, unknown>>;

/** A resource as JSON (RFC 7643 3). */
export type Resource = Readonly<Record<string, unknown>>;

export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";

/** A text as a filter has it: a JSON string (RFC 7644 3.4.2.2), so that no quote in it ends the value. */
export const quoted = (value: string): string => JSON.stringify(value);

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

/** Whether an entry of a list is the one that a path means; the case of a type does not count (RFC 7643 4.1.2). */
const isOne =
  ({ key, value }: NonNullable<Place["one"]>) =>
  (entry: unknown): boolean => {
    const own = member(entry, key);
    return typeof own === "string" ? own.toLowerCase() === String(value).toLowerCase() : own === value;
  };

/** Some apps keep one address, and no type; a second primary one would be wrong (RFC 7643 2.4). */
const isUntyped = (entry: unknown, _index: number, all: readonly unknown[]): boolean =>
  member(entry, "type") === undefined && (member(entry, "primary") === true || all.length === 1);

const listAt = (resource: unknown, names: readonly string[]): readonly unknown[] => {
  const list = names.reduce<unknown>(member, resource);
  return Array.isArray(list) ? list : [];
};

function setPath(target: Record<string, unknown>, path: string, value: unknown): void {
  const { names, one } = placeOf(path);
  if (one === null) {
    setBelow(target, names, value);
    return;
  }
  const all = listAt(target, names);
  const before = all.find(isOne(one)) ?? (path === workEmail ? all.find(isUntyped) : undefined);
  const mine = {
    ...(isObject(before) ? before : {}),
    ...{ [one.below]: value, [one.key]: one.value },
    ...(path === workEmail && { primary: true }),
  };
  setBelow(
    target,
    names,
    before === undefined ? [...all, mine] : all.map((entry) => (entry === before ? mine : entry)),
  );
}

function removePath(target: Record<string, unknown>, path: string): void {
  const { names, one } = placeOf(path);
  if (one === null) {
    removeBelow(target, names);
    return;
  }
  const all = listAt(target, names);
  if (all.length === 0) return;
  const left = all.flatMap((entry) => {
    if (!isOne(one)(entry) || !isObject(entry)) return [entry];
    const { [one.below]: _, ...rest } = entry;
    const says = Object.keys(rest).some((name) => name !== one.key && name !== "primary");
    return says && one.below !== "value" ? [rest] : [];
  });
  setBelow(target, names, left);
}

function removeBelow(target: Record<string, unknown>, names: readonly string[]): void {
  let below = target;
  for (const name of names.slice(0, -1)) {
    const own = below[name];
    if (!Object.hasOwn(below, name) || !isObject(own)) return;
    const copy = { ...own };
    below[name] = copy;
    below = copy;
  }
  Reflect.deleteProperty(below, names.at(-1) ?? "");
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
  const { names, one } = placeOf(path);
  if (one === null) return names.reduce<unknown>(member, resource);
  const all = listAt(resource, names);
  // Some apps keep one address, and no type.
  const other = path === workEmail ? (all.find((entry) => member(entry, "primary") === true) ?? all[0]) : undefined;
  return member(all.find(isOne(one)) ?? other, one.below);
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What has to be sent so that the server has `after` in place of `before`. */
export interface Difference {
  /** Paths with another value, or a new one. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Values of lists that the server does not have yet, as `phoneNumbers[type eq "mobile"]`. */
  readonly entries: readonly string[];
}

export function differenceOf(before: Attributes, after: Attributes): Difference {
  const entriesIn = (attributes: Attributes): readonly string[] =>
    Object.keys(attributes).flatMap((path) => entryOf(path) ?? []);
  const known = new Set(entriesIn(before));
  return {
    changed: Object.keys(after).filter((path) => !Object.hasOwn(before, path) || !sameJson(before[path], after[path])),
    removed: Object.keys(before).filter((path) => !Object.hasOwn(after, path)),
    entries: [...new Set(entriesIn(after))].filter((entry) => !known.has(entry)),
  };
}

export const isSame = (difference: Difference): boolean =>
  difference.changed.length === 0 && difference.removed.length === 0;

/** What a server has at the paths that are ours. */
export const attributesIn = (resource: Resource, paths: readonly string[]): Attributes =>
  Object.fromEntries(
    paths.flatMap((path) => {
      const value = path === managerPath ? managerIn(resource) : valueAt(resource, path);
      return value === undefined || value === null ? [] : [[path, value]];
    }),
  );

/** An app adds a name and an address to the id (RFC 7643 4.3). */
function managerIn(resource: Resource): unknown {
  const manager = valueAt(resource, managerPath);
  return isObject(manager) ? { value: member(manager, "value") } : manager;
}

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

/** Whether an answer is a list of resources; an empty one may leave `Resources` out (RFC 7644 3.4.2). */
export const isList = (json: Resource | null): boolean =>
  json !== null && Array.isArray(member(json, "Resources") ?? []);

/** The problem of an answer without a ListResponse: it does not say whether a user is there. */
export const noList = "answered no ListResponse (RFC 7644 3.4.2)";

/** The resources of a ListResponse (RFC 7644 3.4.2). */
export function resourcesIn(list: Resource | null): readonly Resource[] {
  const found = list === null ? undefined : member(list, "Resources");
  return Array.isArray(found) ? found.filter(isObject) : [];
}
