import type { Client, ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { activeGrant } from "../grants/grants.ts";
import { pushSingle } from "./push-one.ts";
import { createSender } from "./sender.ts";
import { isLive, provisioned, recordsOf, wantedOf, type Wanted } from "./wanted.ts";

/**
 * `live: on`: each change of a user is sent in the background, in the order of the changes, after it is on disk. What fails is written down, and
 * sent again after the next change.
 *
 * Only changes of users count, and for apps that want users with a grant those of grants too, so a sign-in costs nothing for other apps.
 */

/** A change that one app is to be sent. */
interface LiveChange {
  readonly clientId: string;
  /** The user as this change left them. */
  readonly wanted: Wanted;
}

/** What each app last saw of each user, by client_id and then by the id of the user: the version of the record, and whether the app has it. */
type Seen = ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface Live {
  /** Sends no more, and resolves when what is under way is done. */
  close(): Promise<void>;
}

/** The instances of a shared store take turns: one sends as long as it renews this. */
const leaseMs = 30_000;

export async function startLive(ctx: Context): Promise<Live> {
  const { store } = ctx;
  let seen = await store.read(look);
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();
  const me = ctx.random(16);

  const isLeader = (): Promise<boolean> =>
    store.catchUp === undefined
      ? Promise.resolve(true)
      : store.transaction((tx) => {
          const now = ctx.clock.unmoved();
          const { holder = me, until = 0 } = (tx.get("testing", "scim")?.value ?? {}) as Partial<Lease>;
          if (holder !== me && until > now) return false;
          tx.put("testing", { id: "scim", value: { holder: me, until: now + leaseMs } satisfies Lease });
          return true;
        });

  const waiting = new Map<string, number>();
  const inTurn = (clientId: string, work: () => Promise<void>): Promise<void> => {
    waiting.set(clientId, (waiting.get(clientId) ?? 0) + 1);
    return ctx.provisioning.inTurn(clientId, async () => {
      waiting.set(clientId, (waiting.get(clientId) ?? 1) - 1);
      if (isClosed || ctx.ledger.closing.aborted || !(await isLeader())) return;
      await work();
    });
  };
  /** Takes its place among the pushes at once, so that nothing later overtakes it. */
  const sendAll = (changes: readonly LiveChange[]): Promise<unknown> => {
    const clientIds = new Set(changes.map(({ clientId }) => clientId));
    return Promise.all([
      ...changes.map(({ clientId, wanted }) => inTurn(clientId, () => sendTo(ctx, clientId, [wanted]))),
      // Only after the last change: an app that is down would be asked again for each.
      ...[...clientIds].map((clientId) =>
        inTurn(clientId, async () => {
          if (waiting.get(clientId) === 0) await sendTo(ctx, clientId, await failedBefore(ctx, clientId));
        }),
      ),
    ]);
  };

  store.follow((changed, read) => {
    if (isClosed || !["users", "grants", "clients"].some((name) => changed.has(name as "users"))) return undefined;
    const found = read((tx) => {
      const now = look(tx);
      return { now, changes: changesBetween(tx, seen, now) };
    });
    return () => {
      seen = found.now;
      if (found.changes.length === 0) return;
      const sent = sendAll(found.changes).catch((error: unknown) => {
        ctx.log(`SCIM: ${error instanceof Error ? error.message : String(error)}`);
      });
      last = Promise.all([last, sent]);
    };
  });
  return {
    async close() {
      isClosed = true;
      await last;
    },
  };
}

interface Lease {
  readonly holder: string;
  /** Milliseconds of real time. */
  readonly until: number;
}

const liveClients = (tx: ReadTx): readonly Client[] => [...tx.all("clients")].filter(isLive);

function look(tx: ReadTx): Seen {
  const clients = liveClients(tx);
  if (clients.length === 0) return new Map();
  const users = [...tx.all("users")];
  return new Map(
    clients.map(({ client_id: id, scim }) => [
      id,
      new Map(
        users.map((user) => {
          const isIn = scim?.users !== "granted" || activeGrant(tx, user.id, id) !== undefined;
          return [user.id, `${tx.version("users", user.id) ?? 0} ${isIn}`];
        }),
      ),
    ]),
  );
}

/** An app that was not live before is sent nothing of what was there. */
function changesBetween(tx: ReadTx, before: Seen, now: Seen): readonly LiveChange[] {
  return liveClients(tx).flatMap((client) => {
    const [was, is] = [before.get(client.client_id), now.get(client.client_id)];
    if (was === undefined || is === undefined) return [];
    const to = provisioned(client);
    const ids = [...new Set([...is.keys(), ...was.keys()])].filter((id) => is.get(id) !== was.get(id));
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
    if (ctx.provisioning.busyUsers.has(wanted.userId)) continue;
    const pushed = await pushSingle(ctx, provisioned(client), wanted, sender);
    if (pushed?.error != null) ctx.log(`SCIM of client "${clientId}", ${wanted.username}: ${pushed.error}`);
    if (sender.stopped !== null) return;
  }
}
