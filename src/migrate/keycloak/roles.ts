import { isObject, type JsonObject } from "../../text/json.ts";
import { listOf, textOf, textsOf } from "../draft.ts";

/** Roles and groups of a Keycloak realm: a composite role has others in it, and a group gives its roles and attributes to its users. */

/** What a user has, with what roles and groups bring along. */
export interface Membership {
  readonly realmRoles: readonly string[];
  readonly clientRoles: Readonly<Record<string, readonly string[]>>;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Attributes of groups by name, each group's own. */
  readonly inherited: Readonly<Record<string, readonly unknown[]>>;
}

/** A role of the realm, or of a client. */
type Role = readonly [client: string | null, name: string];
const keyOf = ([client, name]: Role): string => JSON.stringify([client, name]);

const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** A map by names of the realm. It inherits nothing: a client may be called "constructor". */
const named = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/** The roles that an object names: `realmRoles` and `clientRoles`, or `realm` and `client`. */
function rolesIn(ofRealm: unknown, ofClients: unknown): Role[] {
  return [
    ...textsOf(ofRealm).map((name): Role => [null, name]),
    ...Object.entries(objectIn(ofClients)).flatMap(([client, names]) =>
      textsOf(names).map((name): Role => [client, name]),
    ),
  ];
}

function compositesOf(realms: readonly JsonObject[]): ReadonlyMap<string, readonly Role[]> {
  const inside = new Map<string, Role[]>();
  const add = (role: Role, more: readonly Role[]): void => {
    inside.set(keyOf(role), [...(inside.get(keyOf(role)) ?? []), ...more]);
  };
  const addRole = (client: string | null, role: unknown): void => {
    const { name, composites } = objectIn(role);
    const { realm, client: ofClients } = objectIn(composites);
    add([client, textOf(name) ?? ""], rolesIn(realm, ofClients));
  };
  for (const realm of realms) {
    const { realm: ofRealm, client: ofClients } = objectIn(realm["roles"]);
    for (const role of listOf(ofRealm)) addRole(null, role);
    for (const [client, roles] of Object.entries(objectIn(ofClients))) {
      for (const role of listOf(roles)) addRole(client, role);
    }
    addRole(null, realm["defaultRole"]);
    // Before Keycloak 13, default roles were lists.
    const name =
      textOf(objectIn(realm["defaultRole"])["name"]) ?? `default-roles-${String(realm["realm"]).toLowerCase()}`;
    add([null, name], rolesIn(realm["defaultRoles"], {}));
    for (const client of listOf(realm["clients"]).filter(isObject)) {
      add([null, name], rolesIn([], { [textOf(client["clientId"]) ?? ""]: client["defaultRoles"] }));
    }
  }
  return inside;
}

interface Group {
  readonly value: JsonObject;
  readonly parent: string;
}

function addGroups(groups: Map<string, Group>, list: unknown, parent: string): void {
  for (const group of listOf(list).filter(isObject)) {
    const path = `${parent}/${textOf(group["name"]) ?? ""}`;
    groups.set(path, { value: group, parent });
    addGroups(groups, group["subGroups"], path);
  }
}

/** @param realms the realm in all files */
export function membershipOf(realms: readonly JsonObject[]): (user: JsonObject) => Membership {
  const inside = compositesOf(realms);
  const groups = new Map<string, Group>();
  for (const realm of realms) addGroups(groups, realm["groups"], "");
  return (user) => {
    const chain = textsOf(user["groups"]).flatMap((path) => {
      const above: JsonObject[] = [];
      for (let group = groups.get(path); group !== undefined; group = groups.get(group.parent)) above.push(group.value);
      return above;
    });
    const open = [user, ...chain].flatMap(({ realmRoles, clientRoles }) => rolesIn(realmRoles, clientRoles));
    const roles = new Map<string, Role>();
    for (let role = open.shift(); role !== undefined; role = open.shift()) {
      if (roles.has(keyOf(role))) continue;
      roles.set(keyOf(role), role);
      open.push(...(inside.get(keyOf(role)) ?? []));
    }
    const clientRoles = named<string[]>();
    for (const [client, name] of roles.values()) if (client !== null) (clientRoles[client] ??= []).push(name);
    const inherited = named<unknown[]>();
    for (const group of chain) {
      for (const [name, values] of Object.entries(objectIn(group["attributes"]))) (inherited[name] ??= []).push(values);
    }
    return {
      realmRoles: [...roles.values()].flatMap(([client, name]) => (client === null ? [name] : [])),
      ...{ clientRoles, inherited, attributes: Object.assign(named<unknown>(), objectIn(user["attributes"])) },
    };
  };
}
