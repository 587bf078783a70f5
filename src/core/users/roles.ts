import { isObject, type JsonObject } from "../../text/json.ts";
import type { User } from "../../store/store.ts";

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
