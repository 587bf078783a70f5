import { StorageError, type ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { createMachine } from "../base/states.ts";
import { look, newsOf, type LiveChange } from "./live-changes.ts";
import { pushUserWithGroups, type FindWanted } from "./push-one.ts";
import { createSender } from "./sender.ts";
import { provisioned, wantedNow } from "./wanted.ts";

/**
 * `live: on`: each change of a user is sent in the background, in the order of the changes, after it is on disk. What fails is written down, and
 * sent again after the next change. Of the instances of a shared store, the one that holds the lease sends.
 *
 * Only changes of users count, and for apps that want users with a grant those of grants too, so a sign-in costs nothing for other apps.
 */

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

/** What this instance does. Of those on a shared store, the one that holds the lease sends. */
const newInstance = (isShared: boolean) =>
  createMachine(
    {
      alone: { close: "closed" },
      standby: { won: "leader", close: "closed" },
      leader: { lost: "standby", close: "closed" },
      closed: {},
    },
    isShared ? "standby" : "alone",
  );

/** What becomes of a change. */
const newState = () =>
  createMachine(
    {
      // For this instance, or for the one that sends.
      waiting: { send: "sending", overtake: "gone", sentByOther: "gone" },
      // It waits for its turn at the app, or is on the way.
      sending: { overtake: "overtaken", done: "gone" },
      // A command told the app something newer itself, so nothing is sent in its turn.
      overtaken: { done: "gone" },
      gone: {},
    },
    "waiting",
  );

interface Queued extends LiveChange {
  readonly state: ReturnType<typeof newState>;
}

export async function startLive(ctx: Context): Promise<Live> {
  const { store } = ctx;
  const isShared = store.catchUp !== undefined;
  const { seen, lease: first } = await store.read((tx) => ({ seen: look(tx), lease: leaseIn(tx) }));
  const instance = newInstance(isShared);
  let lease = first;
  /** In the order of the changes; none that is gone. */
  const queue = new Set<Queued>();
  const waiting = (): readonly Queued[] => [...queue].filter(({ state }) => state.is("waiting"));
  let last: Promise<unknown> = Promise.resolve();

  function step(one: Queued, event: Parameters<Queued["state"]["on"]>[0]): void {
    one.state.on(event);
    if (one.state.is("gone")) queue.delete(one);
  }

  /** One app gets one change after the other, and waits for no push. */
  const inTurn = (clientId: string, work: () => Promise<void>): Promise<void> =>
    ctx.provisioning.inTurn(`live ${clientId}`, async () => {
      if (!instance.is("closed") && !ctx.ledger.closing.aborted) await work();
    });
  const send = (one: Queued): Promise<void> =>
    inTurn(one.clientId, () =>
      sendTo(ctx, one.clientId, [
        { userId: one.wanted.userId, find: () => (one.state.is("overtaken") ? null : one.wanted) },
      ]).finally(() => {
        step(one, "done");
      }),
    );
  /** Takes its place among the changes at once, so that nothing later overtakes it. */
  const sendAll = (changes: readonly Queued[]): Promise<unknown> => {
    const clientIds = new Set(changes.map(({ clientId }) => clientId));
    return Promise.all([
      ...changes.map(send),
      // Only after the last change: an app that is down would be asked again for each.
      ...[...clientIds].map((clientId) =>
        inTurn(clientId, async () => {
          if ([...queue].some((one) => one.clientId === clientId && !one.state.is("waiting"))) return;
          await sendTo(ctx, clientId, await failedBefore(ctx, clientId));
        }),
      ),
    ]);
  };
  function flush(): void {
    const changes = waiting();
    if (changes.length === 0) return;
    for (const one of changes) step(one, "send");
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
      const isDone = queue.size === 0;
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
      instance.on((await hold(leaseMs)) ? "won" : "lost");
      if (instance.is("leader")) flush();
    } catch (error) {
      // The database is away, as requests are told: what is left waits.
      if (!(error instanceof StorageError)) ctx.log(`SCIM: ${String(error)}`);
    }
    looking = undefined;
    lookIn(interval);
  }
  function lookIn(ms: number): void {
    if (instance.is("alone", "closed") || looking !== undefined) return;
    if (seen.size === 0 && waiting().length === 0) return;
    if (ms === 0) clearTimeout(timer);
    else if (timer !== undefined) return;
    timer = setTimeout(() => {
      looking = takeTurn();
    }, ms).unref();
  }

  store.follow((changed, read) => {
    const isOfUsers = ["users", "grants", "clients"].some((name) => changed.has(name as "users"));
    if (instance.is("closed") || !(isOfUsers || (isShared && changed.has("testing")))) return undefined;
    const { news, leaseNow } = read((tx) => ({ news: newsOf(tx, seen, changed), leaseNow: leaseIn(tx) }));
    return () => {
      news.takeOver();
      for (const one of queue) if (news.overtaken.has(one.wanted.userId)) step(one, "overtake");
      for (const change of news.changes) queue.add({ ...change, state: newState() });
      const isRenewed = leaseNow.until !== lease.until || leaseNow.holder !== lease.holder;
      lease = leaseNow;
      if (instance.is("alone")) flush();
      else if (isRenewed && lease.holder !== me) {
        instance.on("lost");
        if (lease.isDone) for (const one of waiting()) step(one, "sentByOther");
      }
      lookIn(news.changes.length > 0 ? 0 : interval);
    };
  });
  lookIn(0);
  return {
    async close() {
      instance.on("close");
      clearTimeout(timer);
      await looking;
      await last;
      // Another instance sends from now on, at once.
      if (isShared && seen.size > 0) await hold(0).catch(() => undefined);
    },
  };
}

/** Users whose last push failed, as they are now. */
const failedBefore = (ctx: Context, clientId: string): Promise<readonly ToSend[]> =>
  ctx.store.read((tx) => {
    const client = tx.get("clients", clientId);
    if (client?.scim === undefined) return [];
    const to = provisioned(client);
    return tx
      .findAll("scim", "failedUsersOf", clientId)
      .filter(({ url }) => url === to.scim.url)
      .map((record) => ({ userId: record.local, find: (now) => wantedNow(now, to, record) }));
  });

interface ToSend {
  readonly userId: string;
  readonly find: FindWanted;
}

async function sendTo(ctx: Context, clientId: string, all: readonly ToSend[]): Promise<void> {
  const client = await ctx.store.read((tx) => tx.get("clients", clientId));
  if (client?.scim === undefined) return;
  const sender = createSender(ctx, client, client.scim);
  for (const { userId, find } of all) {
    const pushed = await pushUserWithGroups(ctx, provisioned(client), userId, find, sender);
    if (pushed?.error != null) {
      const user = await ctx.store.read((tx) => tx.get("users", userId)?.username ?? userId);
      ctx.log(`SCIM of client "${clientId}", ${user}: ${pushed.error}`);
    }
    if (sender.stopped !== null) return;
  }
}
