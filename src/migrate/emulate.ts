import { isObject } from "../text/json.ts";
import { addClient, grantsOf, leaveResponseTypes } from "./draft-clients.ts";
import { addUser } from "./draft-users.ts";
import type { PlacedValue, Draft, SourcePlace } from "./draft.ts";
import { sourceRecordOf, type SourceRecord } from "./entry.ts";

/** A seed of emulate: for each service that it stands in for, users and OAuth clients. Here all of them are in one issuer. */

const services = ["vercel", "github", "google", "slack", "apple", "microsoft", "okta", "clerk"];
const clientLists = ["oauth_clients", "oauth_apps", "oauth_applications", "integrations"];

export const isEmulate = (root: unknown): boolean =>
  isObject(root) &&
  services.some((name) => {
    const service = root[name];
    return isObject(service) && ["users", ...clientLists].some((list) => Array.isArray(service[list]));
  });

export function readEmulate(draft: Draft, root: unknown, place: SourcePlace): void {
  const file = sourceRecordOf(draft, place, root);
  for (const name of services) {
    const service = file.below(name);
    const groups = groupsOf(service);
    for (const user of service.list("users")) readUser(user, groups);
    for (const client of clientLists.flatMap(service.list)) readClient(client);
    service.ignore("port");
  }
  file.noteUnread();
}

/** Okta: the names of the groups of each user, by the user's id. */
function groupsOf(service: SourceRecord): (id: unknown) => readonly unknown[] {
  const all = service.list("groups");
  const names = new Map(all.map((group) => [group.get("okta_id"), group.get("name")]));
  const members = service.list("group_memberships");
  for (const group of all) group.ignore("type");
  for (const group of all) group.noteUnread();
  const pairs = members.map((one) => [one.get("user_okta_id"), names.get(one.get("group_okta_id"))] as const);
  return (id) => pairs.flatMap(([user, name]) => (user === id && name !== undefined ? [name] : []));
}

function readUser(user: SourceRecord, groups: (id: unknown) => readonly unknown[]): void {
  const { carry, place } = user;
  const [email = carry("email")] = user.each("email_addresses");
  const [name = [user.joined("first_name last_name"), place] as PlacedValue] = ["display_name", "real_name", "name"]
    .filter(user.has)
    .map(carry);
  const inGroups = groups(user.get("okta_id"));
  const isOut = ["SUSPENDED", "DEPROVISIONED", "LOCKED_OUT"].includes(user.text("status") ?? "");
  addUser(user.draft, {
    place,
    names: [carry("username"), carry("login"), email, carry("name")],
    fields: {
      id: carry(["okta_id", "clerk_id", "external_id"].find(user.has) ?? "sub"),
      displayName: name,
      email,
      // The services have checked the addresses of their users.
      emailVerified: user.as("email_verified", (verified) => verified ?? true),
      status: user.as("status", () => (isOut ? "suspended" : undefined)),
      about: carry("bio"),
      location: carry("location"),
      website: carry("blog"),
    },
    claims: {
      ...user.pick("picture locale hd tenant_id given_name family_name public_metadata is_private_email"),
      ...user.pick("is_admin site_admin company"),
      ...(user.has("first_name") && { given_name: carry("first_name") }),
      ...(user.has("last_name") && { family_name: carry("last_name") }),
      zoneinfo: carry("time_zone"),
      ...(inGroups.length > 0 && { groups: [inGroups, place] as const }),
    },
    password: carry("password"),
  });
  user.noteUnread();
}

function readClient(client: SourceRecord): void {
  const { carry, each, draft, place } = client;
  const [scope, scopeAt] = carry("scopes");
  const scopes =
    typeof scope === "string" ? scope.split(/[ ,]+/).map((one): PlacedValue => [one, scopeAt]) : each("scopes");
  addClient(draft, {
    place,
    id: carry("client_id"),
    isPublic: client.get("token_endpoint_auth_method") === "none" || client.on("public") === true,
    secret: carry("client_secret"),
    redirectUris: each("redirect_uris"),
    grantTypes: grantsOf(draft, each("grant_types"), ["authorization_code", "refresh_token"]),
    ...(scopes.length > 0 && { scopes: [["openid", place], ...scopes] }),
    fields: { client_name: carry("name"), ...client.pick("token_endpoint_auth_method") },
  });
  leaveResponseTypes(draft, each("response_types"));
  client.noteUnread();
}
