import type { Changed, Client, ReadTx, Tx } from "../../store/store.ts";
import { isLive, provisioned, recordOf, wantedNow, type Provisioned, type Wanted } from "./wanted.ts";

/**
 * What a change of the records is for apps with `live: on`. Only the users that it changed are looked at, so its price does not grow with the
 * number of users.
 */

/** A change that one app is to be sent. */
export interface LiveChange {
  readonly clientId: string;
  /** The user as this change left them. */
  readonly wanted: Wanted;
}

/** What each app saw last, by client_id. */
export type Seen = Map<string, SeenByApp>;

interface SeenByApp {
  /** The app's SCIM server, as JSON. */
  readonly scim: string;
  /** By the id of the user. */
  readonly users: Map<string, SeenUser>;
  /** Whose the grants are, by id; empty where the app wants all users. */
  readonly grants: Map<string, string>;
}

interface SeenUser {
  readonly isWanted: boolean;
  /** What the app is sent, as JSON: a password, for one, is in no request. */
  readonly sent: string;
}

/** An app that was not live before is sent nothing of what is there. */
export const look = (tx: ReadTx): Seen =>
  new Map(liveClients(tx).map((client) => [client.client_id, seenBy(tx, client)]));

const liveClients = (tx: ReadTx): readonly Client[] => [...tx.all("clients")].filter(isLive);

function seenBy(tx: ReadTx, client: Client): SeenByApp {
  const to = provisioned(client);
  const grants = to.scim.users === "granted" ? tx.findAll("grants", "client", client.client_id) : [];
  return {
    scim: JSON.stringify(to.scim),
    users: new Map([...tx.all("users")].map(({ id }) => [id, seenOf(tx, to, id)])),
    grants: new Map(grants.map(({ id, userId }) => [id, userId])),
  };
}

const wantedBy = (tx: ReadTx, to: Provisioned, userId: string): Wanted =>
  wantedNow(tx, to, { local: userId, name: recordOf(tx, to, "user", userId)?.name ?? userId });

function seenOf(tx: ReadTx, to: Provisioned, userId: string): SeenUser {
  const wanted = wantedBy(tx, to, userId);
  return { isWanted: wanted.attributes !== null, sent: JSON.stringify(wanted) };
}

interface News {
  /** In their order. */
  readonly changes: readonly LiveChange[];
  /** Users of whom a command tells the apps itself, so that what was not sent yet is out of date. */
  readonly overtaken: ReadonlySet<string>;
  /** Writes down what the apps see now; called once the change is kept. */
  takeOver(): void;
}

/** What changed since `seen`. */
export function newsOf(tx: ReadTx, seen: Seen, changed: Changed): News {
  const overtaken = new Set([...(changed.get("testing") ?? [])].flatMap((id) => toldIn(id) ?? []));
  const writes: (() => void)[] = [];
  const changes: LiveChange[] = [];
  const clientIds = [...seen.keys()];
  const changedClients = changed.get("clients");
  if (changedClients === null) clientIds.push(...liveClients(tx).map(({ client_id }) => client_id));
  else clientIds.push(...(changedClients ?? []));

  for (const clientId of new Set(clientIds)) {
    const before = seen.get(clientId);
    const client = tx.get("clients", clientId);
    if (client === undefined || !isLive(client)) {
      writes.push(() => void seen.delete(clientId));
      continue;
    }
    const to = provisioned(client);
    const isMoved = before !== undefined && before.scim !== JSON.stringify(to.scim);
    if (before === undefined || isMoved) {
      const now = seenBy(tx, client);
      writes.push(() => void seen.set(clientId, now));
      if (before === undefined) continue;
    }
    const grants = isMoved ? [] : changedGrants(tx, to, before, changed);
    writes.push(() => {
      for (const { id, userId, isGone } of grants) {
        if (isGone) before.grants.delete(id);
        else before.grants.set(id, userId);
      }
    });
    for (const id of isMoved ? before.users.keys() : changedUsers(tx, before, changed, grants)) {
      const was = before.users.get(id);
      const is = tx.get("users", id) === undefined ? undefined : seenOf(tx, to, id);
      // What an operator changes about all users is for the next push.
      if (isMoved ? is?.isWanted === was?.isWanted : is?.sent === was?.sent) continue;
      if (!isMoved)
        writes.push(() => {
          if (is === undefined) before.users.delete(id);
          else before.users.set(id, is);
        });
      if (!overtaken.has(id)) changes.push({ clientId, wanted: wantedBy(tx, to, id) });
    }
  }
  return { changes, overtaken, takeOver: () => writes.forEach((write) => write()) };
}

interface ChangedGrant {
  readonly id: string;
  readonly userId: string;
  readonly isGone: boolean;
}

/** The grants of an app that a change touched; none where the app wants all users. */
function changedGrants(
  tx: ReadTx,
  { client, scim }: Provisioned,
  { grants }: SeenByApp,
  changed: Changed,
): readonly ChangedGrant[] {
  if (scim.users !== "granted") return [];
  return [...(changed.get("grants") ?? [])].flatMap((id) => {
    const grant = tx.get("grants", id);
    const userId = grants.get(id) ?? grant?.userId;
    if (userId === undefined || (grant !== undefined && grant.clientId !== client.client_id)) return [];
    return [{ id, userId, isGone: grant === undefined }];
  });
}

/** The ids of the users whom a change may have changed for an app. */
function changedUsers(
  tx: ReadTx,
  { users }: SeenByApp,
  changed: Changed,
  grants: readonly ChangedGrant[],
): Iterable<string> {
  const ofUsers = changed.get("users");
  if (ofUsers === null || changed.get("grants") === null)
    return new Set([...users.keys(), ...[...tx.all("users")].map(({ id }) => id)]);
  return new Set([...(ofUsers ?? []), ...grants.map(({ userId }) => userId)]);
}

/** In a record that is put and removed at once, a transaction says that its command tells the apps of a user itself. */
const told = "leaving ";

const toldIn = (id: string): string | null => (id.startsWith(told) ? id.slice(told.length) : null);

/**
 * `users leave` tells the apps itself, at once: `live` then sends nothing of the user that is older, at no instance, so that each request is
 * reported once.
 */
export function tellsApps(tx: Tx, userId: string): void {
  const id = `${told}${userId}` as const;
  tx.put("testing", { id, value: null });
  tx.remove("testing", id);
}
