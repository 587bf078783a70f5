/*
 * core/scim: idp as the provisioning client of an app (RFC 7643, RFC 7644).
 *
 * wanted.ts says what the app should have; push-resource.ts brings one user or group there, by the requests of src/scim that resource-kinds.ts
 * chooses, and push-one.ts writes down what the app has; push.ts does it for all. sender.ts sends, and dry-sender.ts only says what would be sent. live-changes.ts says which apps a change concerns, live.ts pushes it when it is made, status.ts shows the records.
 */
import { scimKey, type Client, type ReadTx, type ScimResource, type ScimServer, type User } from "../../store/store.ts";
import { formProblem, managerPath, pathOf, workEmail } from "../../scim/paths.ts";
import type { Attributes } from "../../scim/resource.ts";
import type { Profile } from "../../scim/profiles.ts";
import { wantsCompliant } from "../../scim/sending.ts";
import { OperationError } from "../base/errors.ts";
import { activeGrant } from "../sign-in/grants/grants.ts";
import { nameOf, standardClaims } from "../records/scopes/claims.ts";

/** The SCIM server of a client, with what applies where the client says nothing. */
export interface Provisioned {
  readonly client: Client;
  readonly scim: ScimServer;
  readonly profile: Profile;
}

/** @throws {OperationError} not_found for a client without `scim` */
export function provisioned(client: Client, profile?: Profile): Provisioned {
  const { scim } = client;
  if (scim === undefined) {
    throw new OperationError("not_found", `client "${client.client_id}" has no scim`, {
      hint: {
        text: "To give it the address of its SCIM server",
        command: ["idp", "clients", "edit", client.client_id, "--set", 'scim={"url":"http://localhost:3000/scim/v2"}'],
      },
    });
  }
  const ofUrl = wantsCompliant(scim.url) ? "entra-compliant" : undefined;
  return { client, scim, profile: profile ?? ofUrl ?? scim.profile ?? "standard" };
}

export const isLive = ({ scim }: Client): boolean => scim?.live === "on" || scim?.live === true;

/** What an app should have of one user. */
export interface Wanted {
  readonly userId: string;
  readonly username: string;
  /** Null: the user was removed, or has no grant any more. */
  readonly attributes: Attributes | null;
  readonly groups: readonly string[];
  /** Why an attribute is left out that the user should have; null: none is. */
  readonly problem: string | null;
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** What an app is sent of a user, without what has no value, and why a claim is left out. */
interface Sent {
  readonly attributes: Attributes;
  readonly problem: string | null;
}

function sentOf(tx: ReadTx, to: Provisioned, user: User): Sent {
  const { scim } = to;
  const names = nameOf(user);
  const email = text(user.claims["email"]) ?? user.email;
  const claims: Readonly<Record<string, unknown>> = { ...standardClaims(user), ...names };
  const mapped = Object.entries(scim.attributes ?? {}).flatMap(([attribute, claim]) => {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    return isEmpty(value) ? [] : [{ path: pathOf(attribute), attribute, claim, value }];
  });
  const problems = mapped.flatMap(({ path, attribute, claim, value }) => {
    const takes = formProblem(path, value);
    if (takes !== null) return [`"${attribute}" takes ${takes}, and the claim "${claim}" has another value`];
    const isUnknown = path === managerPath && tx.find("users", "username", String(value)) === undefined;
    return isUnknown ? [`"${attribute}": there is no user "${String(value)}", whom the claim "${claim}" names`] : [];
  });
  const all: readonly (readonly [string, unknown])[] = [
    ["userName", (scim.user_name === "username" ? null : email) ?? user.username],
    ["externalId", user.id],
    ["active", user.status === "active"],
    ["displayName", user.displayName],
    ["name.givenName", names.given_name],
    ["name.familyName", names.family_name],
    [workEmail, email],
    ...mapped
      .filter(({ path, value }) => formProblem(path, value) === null)
      .map(({ path, value }) => [path, path === managerPath ? managerOf(tx, to, String(value)) : value] as const),
  ];
  return {
    attributes: Object.fromEntries(all.filter(([, value]) => !isEmpty(value))),
    problem: problems.length === 0 ? null : problems.join("; "),
  };
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === "";

/** The manager as RFC 7643 4.3 has one; undefined: the app does not have the manager. */
function managerOf(tx: ReadTx, to: Provisioned, username: string): unknown {
  const manager = tx.find("users", "username", username);
  const id = manager === undefined ? undefined : recordOf(tx, to, "user", manager.id)?.remoteId;
  return id == null ? undefined : { value: id };
}

/** The groups of a user that the app should have. */
function groupsOf({ scim: { groups = "all" } }: Provisioned, user: User): readonly string[] {
  if (groups === "none") return [];
  const names = [user.claims["groups"]].flat().filter((one): one is string => typeof one === "string" && one !== "");
  return [...new Set(names)].filter((name) => groups === "all" || groups.includes(name));
}

/** @param user undefined: it was removed */
function wantedOf(
  tx: ReadTx,
  to: Provisioned,
  record: Pick<ScimResource, "local" | "name">,
  user: User | undefined,
): Wanted {
  const { client, scim } = to;
  const isIn =
    user !== undefined && (scim.users !== "granted" || activeGrant(tx, user.id, client.client_id) !== undefined);
  const sent = isIn ? sentOf(tx, to, user) : null;
  return {
    userId: record.local,
    username: user?.username ?? record.name,
    attributes: sent?.attributes ?? null,
    groups: isIn ? groupsOf(to, user) : [],
    problem: sent?.problem ?? null,
  };
}

/** The record of what the app was sent about a user or a group; undefined: nothing was sent to this address. */
export function recordOf(
  tx: ReadTx,
  { client, scim }: Provisioned,
  kind: ScimResource["kind"],
  local: string,
): ScimResource | undefined {
  const record = tx.get("scim", scimKey(client.client_id, kind, local));
  return record?.url === scim.url ? record : undefined;
}

/** The records of all users, or of all groups. */
export const recordsOf = (
  tx: ReadTx,
  { client, scim }: Provisioned,
  kind: ScimResource["kind"],
): readonly ScimResource[] =>
  tx
    .findAll("scim", kind === "group" ? "groupsOf" : "client", client.client_id)
    .filter((one) => one.kind === kind && one.url === scim.url);

/** The same as {@link wantedOf}, for the user as they are now. */
export const wantedNow = (tx: ReadTx, to: Provisioned, record: Pick<ScimResource, "local" | "name">): Wanted =>
  wantedOf(tx, to, record, tx.get("users", record.local));

/**
 * Everybody whom the app should know, in the order they were added, and those whom it knows and should not.
 * @param names only these users, by username or id
 */
export function everyWanted(tx: ReadTx, to: Provisioned, names: readonly string[] | null): readonly Wanted[] {
  const known = recordsOf(tx, to, "user");
  const present = [...tx.all("users")].map((user) => wantedOf(tx, to, { local: user.id, name: user.username }, user));
  const gone = known
    .filter(({ local }) => tx.get("users", local) === undefined)
    .map((record) => wantedOf(tx, to, record, undefined));
  const knownIds = new Set(known.map(({ local }) => local));
  return [...present, ...gone].filter(
    ({ userId, username, attributes }) =>
      (attributes !== null || knownIds.has(userId)) &&
      (names === null || names.includes(username) || names.includes(userId)),
  );
}
