import { isObject, type JsonObject } from "../../text/json.ts";
import { listOf, textOf } from "../draft.ts";
import type { SourceRecord } from "../entry.ts";
import type { OrganizationClaim } from "./mappers.ts";

/** Organizations of a Keycloak realm: their members have a claim with them. */

/** The organizations of a user, by the username, which Keycloak keeps in lower case. */
export type OrganizationsOf = (username: unknown) => readonly JsonObject[];

/** @param realms the realm in all files */
export function organizationsOf(realms: readonly JsonObject[]): OrganizationsOf {
  const found = new Map<string, JsonObject[]>();
  for (const organization of realms.flatMap((realm) => listOf(realm["organizations"])).filter(isObject)) {
    if (organization["enabled"] === false) continue;
    for (const member of listOf(organization["members"]).filter(isObject)) {
      const name = textOf(member["username"])?.toLowerCase() ?? "";
      found.set(name, [...(found.get(name) ?? []), organization]);
    }
  }
  return (username) => found.get(textOf(username)?.toLowerCase() ?? "") ?? [];
}

const aliasOf = ({ alias, name }: JsonObject): string => textOf(alias) ?? textOf(name) ?? "";

/** A list of aliases, the first one, or an object by alias. Undefined: the user has none. */
export function organizationValue(
  organizations: readonly JsonObject[],
  { isList, withId, withAttributes }: OrganizationClaim,
): unknown {
  const [first] = organizations;
  if (first === undefined) return undefined;
  if (!withId && !withAttributes) return isList ? organizations.map(aliasOf) : aliasOf(first);
  return Object.fromEntries(
    organizations.map((one) => {
      const attributes = withAttributes && isObject(one["attributes"]) ? one["attributes"] : {};
      return [aliasOf(one), { ...attributes, ...(withId && { id: textOf(one["id"]) }) }];
    }),
  );
}

/** Notes what of organizations is not carried over. */
export function leaveOrganizations(realm: SourceRecord, claims: readonly OrganizationClaim[]): void {
  realm.ignore("organizationsEnabled");
  if (!realm.has("organizations")) return;
  const [claim] = claims;
  realm.note(
    claim === undefined
      ? "organizations are not carried over: no mapper puts them into tokens; write them into claims of their members"
      : `of organizations, members have the claim "${claim.claim}"; domains and identity providers are not carried over`,
    "organizations",
  );
}
