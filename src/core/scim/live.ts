import { StorageError, type Client, type ReadTx, type User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { activeGrant } from "../grants/grants.ts";
import { pushSingle } from "./push-one.ts";
import { createSender } from "./sender.ts";
import { isLive, provisioned, recordOf, recordsOf, wantedOf, type Provisioned, type Wanted } from "./wanted.ts";

/**
 * `live: on`: each change of a user is sent in the background, in the order of the changes, after it is on disk. What fails is written down, and
 * sent again after the next change. Of the instances of a shared store, the one that holds the lease sends.
 *
 * Only changes of users count, and for apps that want users with a grant those of grants too, so a sign-in costs nothing for other apps.
 */

/** A change that one app is to be sent. */
interface LiveChange {
  readonly clientId: string;
  /** The user as this change left them. */
  readonly wanted: Wanted;
}

/** What each app last saw of each user, by client_id and then by the id of the user. */
type Seen = ReadonlyMap<string, ReadonlyMap<string, SeenUser>>;

interface SeenUser {
  /** The version of the record, and whether the app wants the user. While it stays, so does `sent`. */
  readonly key: string;
  /** What the app is sent, as JSON, and whether it was: a password, for one, is in no request. */
  readonly sent: string;
}

interface Live {
  /** Sends no more, and resolves when what is under way is done. */
  close(): Promise<void>;
}

/** Milliseconds. One instance of a shared store sends, as long as it renews its lease. */
const leaseMs = 10_000;
/** Milliseconds between two looks at what other instances changed. Only those that know of an app look. */
const interval = 500;

interface Lease {
  readonly holder: string;
  /** Milliseconds of real time. */
  readonly until: number;
  /** Whether the holder had sent all that stands before this in the journal. */
  readonly isDone: boolean;
}

const leaseIn = (tx: ReadTx): Lease =>
  (tx.get("testing", "scim")?.value ?? { holder: "", until: 0, isDone: false }) as Lease;

export async function startLive(ctx: Context): Promise<Live> {
  const { store } = ctx;
  const isShared = store.catchUp !== undefined;
  let { seen, lease } = await store.read((tx) => ({ seen: look(tx, new Map()), lease: leaseIn(tx) }));
  let isClosed = false;
  /** What was not sent yet, in the order of the changes: by this instance, or by the one that sends. */
  let left: LiveChange[] = [];
  /** How many are on their way. */
  let underWay = 0;
  let last: Promise<unknown> = Promise.resolve();

  const waiting = new Map<string, number>();
  const inTurn = (clientId: string, work: () => Promise<void>): Promise<void> => {
    waiting.set(clientId, (waiting.get(clientId) ?? 0) + 1);
    return ctx.provisioning.inTurn(clientId, async () => {
      waiting.set(clientId, (waiting.get(clientId) ?? 1) - 1);
      if (!isClosed && !ctx.ledger.closing.aborted) await work();
    });
  };
  /** Takes its place among the pushes at once, so that nothing later overtakes it. */
  const sendAll = (changes: readonly LiveChange[]): Promise<unknown> => {
    const clientIds = new Set(changes.map(({ clientId }) => clientId));
    return Promise.all([
      ...changes.map(({ clientId, wanted }) =>
        inTurn(clientId, () => sendTo(ctx, clientId, [wanted]).finally(() => (underWay -= 1))),
      ),
      // Only after the last change: an app that is down would be asked again for each.
      ...[...clientIds].map((clientId) =>
        inTurn(clientId, async () => {
          if (waiting.get(clientId) === 0) await sendTo(ctx, clientId, await failedBefore(ctx, clientId));
        }),
      ),
    ]);
  };
  function flush(): void {
    const changes = left;
    left = [];
    if (changes.length === 0) return;
    underWay += changes.length;
    const sent = sendAll(changes).catch((error: unknown) => {
      ctx.log(`SCIM: ${error instanceof Error ? error.message : String(error)}`);
    });
    last = Promise.all([last, sent]);
  }

  const me = ctx.random(16);
  /** @param ms for how long; 0: gives the lease up. @returns whether this instance is the one that sends */
  const hold = (ms: number): Promise<boolean> =>
    store.transaction((tx) => {
      const now = ctx.clock.unmoved();
      const { holder, until, isDone: wasDone } = leaseIn(tx);
      const isMine = holder === me;
      if (!isMine && (until > now || ms === 0)) return false;
      const isDone = left.length === 0 && underWay === 0;
      const isFresh = isMine && wasDone === isDone && until - now > leaseMs / 2;
      if (!isFresh || ms === 0) {
        tx.put("testing", { id: "scim", value: { holder: me, until: now + ms, isDone } satisfies Lease });
      }
      return true;
    });

  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  async function takeTurn(): Promise<void> {
    timer = undefined;
    try {
      if (await hold(leaseMs)) flush();
    } catch (error) {
      // The database is away, as requests are told: what is left waits.
      if (!(error instanceof StorageError)) ctx.log(`SCIM: ${String(error)}`);
    }
    looking = undefined;
    lookIn(interval);
  }
  function lookIn(ms: number): void {
    if (!isShared || isClosed || looking !== undefined || (seen.size === 0 && left.length === 0)) return;
    if (ms === 0) clearTimeout(timer);
    else if (timer !== undefined) return;
    timer = setTimeout(() => {
      looking = takeTurn();
    }, ms).unref();
  }

  store.follow((changed, read) => {
    const isOfUsers = ["users", "grants", "clients"].some((name) => changed.has(name as "users"));
    if (isClosed || !(isOfUsers || (isShared && changed.has("testing")))) return undefined;
    const found = read((tx) => {
      const now = isOfUsers ? look(tx, seen) : seen;
      return { now, changes: isOfUsers ? changesBetween(tx, seen, now) : [], lease: leaseIn(tx) };
    });
    return () => {
      seen = found.now;
      left.push(...found.changes);
      const isRenewed = found.lease.until !== lease.until || found.lease.holder !== lease.holder;
      ({ lease } = found);
      if (!isShared) flush();
      else if (isRenewed && lease.holder !== me && lease.isDone) left = [];
      lookIn(found.changes.length > 0 ? 0 : interval);
    };
  });
  lookIn(0);
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
      await last;
      // Another instance sends from now on, at once.
      if (isShared && seen.size > 0) await hold(0).catch(() => undefined);
    },
  };
}

/** Milliseconds of real time. A process that ends meanwhile holds nobody back for longer. */
const leavesWithin = 60_000;

/** `users leave` tells the apps itself: meanwhile this user is sent to none, by no instance, so that each request is reported once. */
export async function whileLeaving<T>({ store, clock }: Context, userId: string, work: () => Promise<T>): Promise<T> {
  const id = `leaving ${userId}` as const;
  await store.transaction((tx) => tx.put("testing", { id, value: clock.unmoved() + leavesWithin }));
  try {
    return await work();
  } finally {
    await store.transaction((tx) => void tx.remove("testing", id));
  }
}

const isLeaving = (tx: ReadTx, { clock }: Context, userId: string): boolean =>
  Number(tx.get("testing", `leaving ${userId}`)?.value ?? 0) > clock.unmoved();

const liveClients = (tx: ReadTx): readonly Client[] => [...tx.all("clients")].filter(isLive);

function look(tx: ReadTx, before: Seen): Seen {
  const clients = liveClients(tx);
  if (clients.length === 0) return new Map();
  const users = [...tx.all("users")];
  return new Map(
    clients.map((client) => {
      const to = provisioned(client);
      const was = before.get(client.client_id);
      return [client.client_id, new Map(users.map((user) => [user.id, seenOf(tx, to, user, was?.get(user.id))]))];
    }),
  );
}

function seenOf(tx: ReadTx, to: Provisioned, user: User, was: SeenUser | undefined): SeenUser {
  const isIn = to.scim.users !== "granted" || activeGrant(tx, user.id, to.client.client_id) !== undefined;
  const key = `${tx.version("users", user.id) ?? 0} ${isIn}`;
  if (was?.key === key) return was;
  const wanted = wantedOf(tx, to, { local: user.id, name: user.username }, user);
  return { key, sent: JSON.stringify([wanted, recordOf(tx, to, "user", user.id) !== undefined]) };
}

/** An app that was not live before is sent nothing of what was there. */
function changesBetween(tx: ReadTx, before: Seen, now: Seen): readonly LiveChange[] {
  return liveClients(tx).flatMap((client) => {
    const [was, is] = [before.get(client.client_id), now.get(client.client_id)];
    if (was === undefined || is === undefined) return [];
    const to = provisioned(client);
    const ids = [...new Set([...is.keys(), ...was.keys()])].filter((id) => is.get(id)?.sent !== was.get(id)?.sent);
    const names = new Map(recordsOf(tx, to, "user").map(({ local, name }) => [local, name]));
    return ids.map((id) => {
      const user = tx.get("users", id);
      const name = user?.username ?? names.get(id) ?? id;
      return { clientId: client.client_id, wanted: wantedOf(tx, to, { local: id, name }, user) };
    });
  });
}

/** Users whose last push failed, as they are now. */
const failedBefore = (ctx: Context, clientId: string): Promise<readonly Wanted[]> =>
  ctx.store.read((tx) => {
    const client = tx.get("clients", clientId);
    if (client?.scim === undefined) return [];
    const to = provisioned(client);
    return recordsOf(tx, to, "user")
      .filter(({ error }) => error !== null)
      .map((record) => wantedOf(tx, to, record, tx.get("users", record.local)));
  });

async function sendTo(ctx: Context, clientId: string, all: readonly Wanted[]): Promise<void> {
  const client = await ctx.store.read((tx) => tx.get("clients", clientId));
  if (client?.scim === undefined) return;
  const sender = createSender(ctx, client, client.scim);
  for (const wanted of all) {
    if (await ctx.store.read((tx) => isLeaving(tx, ctx, wanted.userId))) continue;
    const pushed = await pushSingle(ctx, provisioned(client), wanted, sender);
    if (pushed?.error != null) ctx.log(`SCIM of client "${clientId}", ${wanted.username}: ${pushed.error}`);
    if (sender.stopped !== null) return;
  }
}
