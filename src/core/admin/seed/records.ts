import { createHash } from "node:crypto";
import { userAndClient, type Grant, type Tx, type User } from "../../../store/store.ts";
import type { EndedSessions } from "../../sign-in/sessions/backchannel.ts";
import type { Context } from "../../context.ts";
import { sameJson } from "../../../text/json.ts";
import { withSecret } from "../../records/step-up/otp.ts";
import { normalizeClient, normalizeScope, normalizeUser } from "../fixtures/normalize.ts";
import type { FoundInDocument } from "../../base/fixture-files/problems.ts";
import { removeClientRecord } from "../../records/clients/admin.ts";
import { splitScope } from "../../records/scopes/scopes.ts";
import {
  passwordDigestOf,
  type ClientEntry,
  type GrantEntry,
  type ScopeEntry,
  type UserEntry,
} from "../fixtures/entries.ts";
import { banEffects, removeUserRecord } from "../edit/users.ts";

/** Changes records to what their fixtures say, but only those whose fixture changed since it was last applied. */

/** What happened to the records of one kind. */
export interface SeedOutcome {
  readonly added: readonly string[];
  /** Each with the names of the changed fields. */
  readonly changed: readonly { readonly name: string; readonly fields: readonly string[] }[];
  /** How many did not change: their fixture is the same as before, or they already match it. */
  readonly same: number;
}

/** A counter of {@link SeedOutcome}. */
interface Tally {
  readonly added: string[];
  readonly changed: { readonly name: string; readonly fields: readonly string[] }[];
  same: number;
}

export const newTally = (): Tally => ({ added: [], changed: [], same: 0 });

/** Counts a record as added, as changed in these fields, or as the same. */
function count(tally: Tally, name: string, existed: boolean, fields: readonly string[]): void {
  if (!existed) tally.added.push(name);
  else if (fields.length > 0) tally.changed.push({ name, fields });
  else tally.same++;
}

/** The names of the fields in which two records differ, except times. */
export function differences(before: object, after: object): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of ["updatedAt", "passwordHash", "passwordPending", "passwordDigest", "epoch"]) names.delete(name);
  return [...names].filter((name) => !sameJson(Reflect.get(before, name), Reflect.get(after, name)));
}

/** The work of one transaction. */
export interface Work {
  readonly tx: Tx;
  readonly ctx: Pick<Context, "now" | "random" | "flags">;
  /** ISO 8601. */
  readonly at: string;
  /** Problems that only the transaction can find. */
  readonly found: FoundInDocument[];
  /** Passwords to hash, by the id of the user. */
  readonly passwords: Map<string, string>;
  /** Sessions of users who are banned or have another id now. */
  readonly ended: EndedSessions[number][];
  /** Users whom a reset has removed, by name. */
  readonly earlier: ReadonlyMap<string, User>;
}

/** Whether an entry is the same as when it was last applied. If not, it now counts as applied. */
function unchanged({ tx }: Work, id: string, digest: string): boolean {
  if (tx.get("appliedFixtures", id)?.digest === digest) return true;
  tx.put("appliedFixtures", { id, digest });
  return false;
}

export function applyScopes(work: Work, entries: readonly ScopeEntry[]): SeedOutcome {
  const tally = newTally();
  for (const { name, digest, input } of entries) {
    if (unchanged(work, `scope:${name}`, digest)) {
      tally.same++;
      continue;
    }
    const before = work.tx.get("scopes", name);
    const scope = normalizeScope(name, input);
    const fields = before === undefined ? [] : differences(before, scope);
    if (before === undefined || fields.length > 0) work.tx.put("scopes", scope);
    count(tally, name, before !== undefined, fields);
  }
  return tally;
}

export function applyClients(work: Work, entries: readonly ClientEntry[]): SeedOutcome {
  const tally = newTally();
  for (const { name, digest, input } of entries) {
    if (unchanged(work, `client:${name}`, digest)) {
      tally.same++;
      continue;
    }
    const present = work.tx.get("clients", name);
    // The client of a metadata document is another party, even with this id.
    if (present?.fromDocument === true) removeClientRecord(work.tx, present);
    const before = present?.fromDocument === true ? undefined : present;
    const client = normalizeClient(input, before ?? null, { at: work.at, epoch: work.ctx.random(9) });
    const fields = before === undefined ? [] : differences(before, client);
    if (before === undefined || fields.length > 0)
      work.tx.put("clients", Object.assign(client, { updatedAt: work.at }));
    count(tally, name, before !== undefined, fields);
  }
  return tally;
}

export function applyUsers(work: Work, entries: readonly UserEntry[]): SeedOutcome {
  const tally = newTally();
  const names = new Set(entries.map(({ name }) => name));
  const givenIds = new Map(
    entries.flatMap(({ name, input }) => (input.id === undefined ? [] : [[input.id, name] as const])),
  );
  for (const entry of entries) {
    const { name, digest, input } = entry;
    const same = unchanged(work, `user:${name}`, digest);
    const passwordDigest = passwordDigestOf(digest);
    const present = work.tx.find("users", "username", name);
    if (same) {
      tally.same++;
      // Its hash was not done when the last process ended.
      if (present?.passwordPending === true && input.password !== undefined)
        work.passwords.set(present.id, input.password);
      continue;
    }
    const previous = previousUser(work, entry, present, names);
    if (previous === "conflict") continue;
    const takenByOther = (id: string): boolean =>
      (givenIds.get(id) ?? name) !== name || (work.tx.get("users", id)?.username ?? name) !== name;
    const user = withSecret(normalizeUser(input, previous ?? null, takenByOther), work.ctx);
    const fields = previous === undefined ? [] : differences(previous, user);
    if (previous !== undefined && passwordDiffers(previous, passwordDigest)) fields.push("password");
    putUser(work, Object.assign(user, { passwordDigest }), previous, input.password, fields);
    count(tally, name, previous !== undefined, fields);
  }
  return tally;
}

/** The record of an entry: that of its username, or that of its id, which then gets a new username. */
function previousUser(
  { tx, found }: Work,
  { name, input, document, index }: UserEntry,
  present: User | undefined,
  names: ReadonlySet<string>,
): User | undefined | "conflict" {
  const holder = input.id === undefined ? undefined : tx.get("users", input.id);
  if (holder === undefined || holder.username === name) return present;
  if (present === undefined && !names.has(holder.username)) return holder;
  const message = `"${holder.id}" is the id of user "${holder.username}" in the data`;
  found.push({ document, path: ["users", index, "id"], message });
  return "conflict";
}

/** Whether the password of a user does not have this digest; for null, whether the user has a password. */
export function passwordDiffers(user: User, digest: string | null): boolean {
  return digest === null ? user.passwordHash !== null || user.passwordPending : user.passwordDigest !== digest;
}

function putUser(
  work: Work,
  user: User,
  previous: User | undefined,
  password: string | undefined,
  fields: readonly string[],
): void {
  const { tx, ctx, at, ended } = work;
  if (previous !== undefined && fields.length === 0) {
    if (previous.passwordPending && password !== undefined) work.passwords.set(user.id, password);
    return;
  }
  // Under another id a user is another subject.
  if (previous !== undefined && previous.id !== user.id) ended.push(...removeUserRecord(tx, previous));
  if (user.status === "banned" && previous !== undefined && previous.status !== "banned") {
    ended.push(...banEffects(tx, ctx, user.id).endedSessions);
  }
  const updatedAt = previous === undefined ? user.updatedAt : at;
  const before = previous ?? work.earlier.get(user.username);
  const isSame = user.passwordDigest !== null && user.passwordDigest === before?.passwordDigest;
  const passwordHash = isSame ? before.passwordHash : null;
  // If only the digest is known here, the user signs in by that (core/sign-in/login/pending-passwords.ts).
  const passwordPending = user.passwordDigest !== null && passwordHash === null;
  tx.put("users", Object.assign(user, { passwordHash, passwordPending, updatedAt }));
  if (passwordPending && password !== undefined) work.passwords.set(user.id, password);
}

/** @param added the names of users and clients that were just added; a grant that was removed with them comes back */
export function applyGrants(
  work: Work,
  entries: readonly GrantEntry[],
  added: { readonly users: ReadonlySet<string>; readonly clients: ReadonlySet<string> },
): SeedOutcome {
  const tally = newTally();
  for (const { name, digest, input, document, index } of entries) {
    const user = work.tx.find("users", "username", input.user);
    const client = work.tx.get("clients", input.client);
    const last = work.tx.get("appliedFixtures", `grant:${name}`)?.digest.split(".")[0];
    if ((user === undefined || client === undefined) && last !== digest) {
      const [field, what] = user === undefined ? ["user", "user"] : ["client", "client"];
      const gone = user === undefined ? input.user : input.client;
      const message = `${what} "${gone}" was removed from the data and its fixture did not change since; idp reset brings it back`;
      work.found.push({ document, path: ["grants", index, field], message });
      continue;
    }
    const isNew = added.users.has(input.user) || added.clients.has(input.client);
    // The grant of a user whose id changed is a new one.
    const isDone = (id: string): boolean => unchanged(work, `grant:${name}`, `${digest}.${id}`) && !isNew;
    if (user === undefined || client === undefined || isDone(user.id)) {
      tally.same++;
      continue;
    }
    const before = work.tx.find("grants", "userAndClient", userAndClient(user.id, client.client_id));
    const grant = grantOf(work, user.id, client.client_id, splitScope(input.scope), before);
    const fields =
      before === undefined ? [] : differences(before, grant).filter((field) => ["scopes", "status"].includes(field));
    if (before === undefined || fields.length > 0) work.tx.put("grants", grant);
    count(tally, name, before !== undefined, fields);
  }
  return tally;
}

/** The grant of a fixture. An active one keeps its epoch, and with it its tokens. */
function grantOf(
  { ctx, at }: Work,
  userId: string,
  clientId: string,
  scopes: readonly string[],
  before: Grant | undefined,
): Grant {
  const active = before?.status === "active" ? before : undefined;
  return {
    id:
      before?.id ??
      `g_${createHash("sha256").update(userAndClient(userId, clientId)).digest("base64url").slice(0, 12)}`,
    userId,
    clientId,
    scopes: active !== undefined && sameJson([...active.scopes].sort(), [...scopes].sort()) ? active.scopes : scopes,
    status: "active",
    epoch: active?.epoch ?? ctx.random(9),
    by: "fixture",
    createdAt: active?.createdAt ?? at,
    updatedAt: at,
    revokedAt: null,
    ...(active?.lastUsedAt !== undefined && { lastUsedAt: active.lastUsedAt }),
  };
}
