import { isObject } from "../text/json.ts";
import { entryOf, managerPath } from "./paths.ts";
import {
  groupSchema,
  quoted,
  userResource,
  valueAt,
  type Attributes,
  type Difference,
  type Resource,
} from "./resource.ts";

/**
 * Composes the requests (GET, POST, PUT, PATCH, DELETE) of each vendor, as their documents show them:
 *
 * - okta: https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20/ (users are updated by GET and PUT, deactivated by PATCH without a
 *   path). okta-put: an app whose users are deactivated, and whose groups are changed, by PUT.
 * - entra: https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups, with the older PATCH ("False"),
 *   which https://learn.microsoft.com/entra/identity/app-provisioning/application-provisioning-config-problem-scim-compatibility describes.
 * - entra-compliant: the same with the flag aadOptscim062020 of that page.
 * - standard: RFC 7644.
 */

export const profileNames = ["standard", "okta", "okta-put", "entra", "entra-compliant"] as const;
export type Profile = (typeof profileNames)[number];

export interface ScimRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base address, with the query. */
  readonly path: string;
  readonly body?: Resource;
}

interface Operation {
  readonly op: string;
  readonly path?: string;
  readonly value?: unknown;
}

const isEntra = (profile: Profile): boolean => profile === "entra" || profile === "entra-compliant";
const isOkta = (profile: Profile): boolean => profile === "okta" || profile === "okta-put";

const resourceAt = (kind: "Users" | "Groups", id: string): string =>
  `/${kind}/${encodeURIComponent(Buffer.from(id).toString())}`;

/** A PATCH request (RFC 7644 3.5.2). */
const patch = (path: string, operations: readonly Operation[]): ScimRequest => ({
  method: "PATCH",
  path,
  body: { schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], Operations: operations },
});

/** The older requests of Entra ID begin their verbs with a capital letter. */
const verb = (profile: Profile, name: "add" | "replace" | "remove"): string =>
  profile === "entra" ? name.charAt(0).toUpperCase() + name.slice(1) : name;

/** They also write truth values as texts. */
const valueFor = (profile: Profile, value: unknown): unknown =>
  profile === "entra" && typeof value === "boolean" ? (value ? "True" : "False") : value;

/** What a PATCH sets at a path. Entra ID sends the id of a manager as a text, which RFC 7643 4.3 has in an object. */
const patchedValue = (profile: Profile, path: string, value: unknown): unknown =>
  path === managerPath && isEntra(profile) && isObject(value) ? value["value"] : valueFor(profile, value);

const query = (parameters: readonly (readonly [name: string, value: string])[]): string =>
  parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");

/** Okta asks for pages. */
const pageOf = (profile: Profile): readonly (readonly [string, string])[] =>
  isOkta(profile)
    ? [
        ["startIndex", "1"],
        ["count", "100"],
      ]
    : [];

export const lookUpUser = (profile: Profile, value: string, attribute = "userName"): ScimRequest => ({
  method: "GET",
  path: `/Users?${query([["filter", `${attribute} eq ${quoted(value)}`], ...pageOf(profile)])}`,
});

export const readUser = (id: string): ScimRequest => ({ method: "GET", path: resourceAt("Users", id) });

export const createUser = (attributes: Attributes): ScimRequest => ({
  method: "POST",
  path: "/Users",
  body: userResource(attributes),
});

/** Whether users are updated by GET and PUT. */
export const putsUsers = isOkta;

export const putUser = (
  id: string,
  attributes: Attributes,
  remote: Resource,
  removed: readonly string[] = [],
): ScimRequest => ({
  method: "PUT",
  path: resourceAt("Users", id),
  body: userResource(attributes, remote, removed),
});

/** The PATCH that changes attributes of a user; those whose users are updated by PUT have none. */
export function patchUser(
  profile: Profile,
  id: string,
  attributes: Attributes,
  { changed, removed, entries }: Difference,
): ScimRequest {
  const left = new Set(Object.keys(attributes).map(entryOf));
  // A value of a list goes whole, with its type.
  const goneAt = (path: string): string => {
    const entry = entryOf(path);
    return profile === "standard" && entry !== null && !left.has(entry) ? entry : path;
  };
  const gone = [...new Set(removed.map(goneAt))].map((path): Operation => ({ op: verb(profile, "remove"), path }));
  const one = (path: string): Operation => ({
    op: verb(profile, "replace"),
    path,
    value: patchedValue(profile, path, attributes[path]),
  });
  // A filter that fits nothing is an error (RFC 7644 3.5.2.3), so a value that the list does not have is added whole.
  const isNew = (path: string): boolean => profile === "standard" && entries.includes(entryOf(path) ?? "");
  const added = entries.filter(() => profile === "standard").map((entry) => addEntry(entry, attributes, changed));
  const kept = changed.filter((path) => !isNew(path));
  // A key cannot name one of several values, so a path with a filter has an operation of its own.
  const isAlone = (path: string): boolean => profile !== "entra-compliant" || entryOf(path) !== null;
  const keyed = kept.filter((path) => !isAlone(path));
  const together = Object.fromEntries(keyed.map((path) => [path, patchedValue(profile, path, attributes[path])]));
  return patch(resourceAt("Users", id), [
    ...kept.filter(isAlone).map(one),
    ...added,
    ...(keyed.length > 0 ? [{ op: "replace", value: together }] : []),
    ...gone,
  ]);
}

/** Adds one value to a list, with all that is known of it. */
function addEntry(entry: string, attributes: Attributes, changed: readonly string[]): Operation {
  const own = changed.filter((path) => entryOf(path) === entry);
  const path = entry.slice(0, entry.indexOf("["));
  const resource = userResource(Object.fromEntries(own.map((one) => [one, attributes[one]])));
  return { op: "add", path, value: valueAt(resource, path) };
}

/** The PATCH of a user with operations that no profile has. */
export const patchUserBy = (id: string, operations: readonly Operation[]): ScimRequest =>
  patch(resourceAt("Users", id), operations);

/** Whether users are deactivated by GET and PUT. */
export const putsActive = (profile: Profile): boolean => profile === "okta-put";

/** The PATCH that deactivates or reactivates a user. @param value in place of how the profile writes the truth value */
export function patchActive(
  profile: Profile,
  id: string,
  active: boolean,
  value: unknown = valueFor(profile, active),
): ScimRequest {
  const path = resourceAt("Users", id);
  if (profile === "okta") return patch(path, [{ op: "replace", value: { active } }]);
  return patch(path, [{ op: verb(profile, "replace"), path: "active", value }]);
}

/** What happens to the user of an app who was removed, or has no grant any more. */
export const onRemoval = (profile: Profile): { readonly deactivates: boolean; readonly deletes: boolean } => ({
  deactivates: profile !== "standard",
  deletes: !isOkta(profile),
});

export const deleteUser = (id: string): ScimRequest => ({ method: "DELETE", path: resourceAt("Users", id) });

export const lookUpGroup = (profile: Profile, displayName: string): ScimRequest => ({
  method: "GET",
  path: `/Groups?${query([
    ...(isEntra(profile) ? [["excludedAttributes", "members"] as const] : []),
    ["filter", `displayName eq ${quoted(displayName)}`],
    ...pageOf(profile),
  ])}`,
});

export const readGroup = (id: string): ScimRequest => ({ method: "GET", path: resourceAt("Groups", id) });

/** Whether a group is created with its members. */
export const createsWithMembers = (profile: Profile): boolean => !isEntra(profile);

const references = (ids: readonly string[]): readonly { readonly value: string }[] => ids.map((value) => ({ value }));

export const createGroup = (profile: Profile, displayName: string, members: readonly string[]): ScimRequest => ({
  method: "POST",
  path: "/Groups",
  body: {
    schemas: [groupSchema],
    displayName,
    ...(createsWithMembers(profile) && { members: references(members) }),
  },
});

/** Whether groups are changed by GET and PUT. */
export const putsGroups = (profile: Profile): boolean => profile === "okta-put";

export function putGroup(
  id: string,
  displayName: string,
  members: readonly string[],
  remote: Resource = {},
): ScimRequest {
  const { meta: _, ...rest } = remote;
  const body = { schemas: [groupSchema], ...rest, displayName, members: references(members) };
  return { method: "PUT", path: resourceAt("Groups", id), body };
}

/** The PATCH that lets users join and leave a group. */
export function patchMembers(
  profile: Profile,
  id: string,
  { joining, leaving }: { readonly joining: readonly string[]; readonly leaving: readonly string[] },
): ScimRequest {
  const path = "members";
  const left: readonly Operation[] =
    profile === "entra"
      ? leaving.length === 0
        ? []
        : [{ op: "Remove", path, value: references(leaving) }]
      : leaving.map((member) => ({ op: "remove", path: `members[value eq ${quoted(member)}]` }));
  return patch(resourceAt("Groups", id), [
    ...(joining.length === 0 ? [] : [{ op: verb(profile, "add"), path, value: references(joining) }]),
    ...left,
  ]);
}

/** The PATCH that gives a group another name. Okta repeats the id. */
export const patchGroupName = (profile: Profile, id: string, displayName: string): ScimRequest =>
  patch(resourceAt("Groups", id), [
    profile === "okta"
      ? { op: "replace", value: { id, displayName } }
      : { op: verb(profile, "replace"), path: "displayName", value: displayName },
  ]);

export const deleteGroup = (id: string): ScimRequest => ({ method: "DELETE", path: resourceAt("Groups", id) });

/** A page of users (RFC 7644 3.4.2.4). @param startIndex of the first one, from 1 */
export const listUsers = (startIndex: number, count: number): ScimRequest => ({
  method: "GET",
  path: `/Users?${query([
    ["startIndex", String(startIndex)],
    ["count", String(count)],
  ])}`,
});

/** What "Test Connection" asks: Okta reads a page of users, Entra ID looks for a user whom nobody has. */
export const testConnection = (profile: Profile, nobody: string): ScimRequest =>
  isOkta(profile) ? listUsers(1, 2) : lookUpUser(profile, nobody);
