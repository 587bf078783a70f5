import type { Store, Tx, User } from "../../../store/store.ts";
import { createTurns } from "../../base/turns.ts";
import { hashPassword, matchesHash } from "../../records/users/passwords.ts";
import { digestKey, digestOf } from "../../base/fixture-files/digest.ts";
import { sameSecret } from "../../base/secrets.ts";

/**
 * Passwords of fixtures that wait to be hashed. Their plain text is held in memory only, and each is forgotten once its hash is in the
 * store. So 100,000 users are ready at once, and their hashes follow one at a time, in the background.
 */
export interface PendingPasswords {
  /**
   * Runs a transaction of the store that adds and drops passwords. Nobody sees a user whose password is unknown, and a transaction that
   * fails adds and drops nothing.
   * @throws what `work` and the store throw
   */
  transaction<T>(work: (tx: Tx) => T): Promise<T>;
  /** Takes over a user's password, inside {@link transaction}; it replaces an earlier one. The record must say `passwordPending`. */
  add(userId: string, password: string): void;
  /** Forgets the password that waits for a user, inside {@link transaction}. */
  drop(userId: string): void;
  /** Begins to hash in the background, and continues with what is added later. */
  start(): void;
  /** Hashes everything that waits, now, on every thread. @throws what the store throws */
  settle(): Promise<void>;
  /** The hash of a user's waiting password, computed before all others; null if none waits. */
  hashNow(userId: string): Promise<string | null>;
  /** How many wait. */
  readonly waiting: number;
  /** Ends the background work; resolves when it has stopped. Calls of {@link settle} fail once the store is closed. */
  close(): Promise<void>;
}

interface Job {
  readonly password: string;
  /** Set once somebody works on it. */
  hash: Promise<string> | null;
}

type Replaced = readonly [before: Job | undefined, after: Job | undefined];

/** The background work of all issuers of the process hashes one password at a time: the other threads are for requests and files. */
const inTurn = createTurns();

/** libuv has four threads for this by default. */
const threads = 4;

/**
 * @param ctx the store for the hashes, and the source of their salt
 * @param onError is called if the background work cannot write, for example on a full disk; the password then waits for the next start
 */
export function createPendingPasswords(
  ctx: { readonly store: Store; readonly random: (bytes: number) => string },
  onError: (error: unknown) => void,
): PendingPasswords {
  const jobs = new Map<string, Job>();
  let running: Promise<void> | null = null;
  let started = false;
  let closed = false;
  /** What the background work writes now, or wrote last. */
  let writing: Promise<void> | null = null;
  /** The changes of the running transaction. An undefined job: the user has no waiting password. */
  let replaced: Map<string, Replaced> | null = null;

  function replace(userId: string, after: Job | undefined): void {
    if (replaced === null) throw new Error("passwords are added and dropped within passwords.transaction");
    replaced.set(userId, [replaced.has(userId) ? replaced.get(userId)?.[0] : jobs.get(userId), after]);
    put(userId, after);
  }

  function put(userId: string, job: Job | undefined): void {
    if (job === undefined) jobs.delete(userId);
    else jobs.set(userId, job);
    wake();
  }

  const hash = (job: Job): Promise<string> => (job.hash ??= hashPassword(job.password, ctx.random, "fixture"));

  /** Writes a hash, unless the user is gone or was given another password meanwhile. */
  async function write(userId: string, job: Job): Promise<void> {
    const passwordHash = await hash(job);
    if (jobs.get(userId) !== job) return;
    await ctx.store.transaction((tx) => {
      const user = tx.get("users", userId);
      if (jobs.get(userId) === job && user?.passwordPending === true) {
        tx.put("users", { ...user, passwordHash, passwordPending: false });
      }
    });
    if (jobs.get(userId) === job) jobs.delete(userId);
  }

  async function workInBackground(): Promise<void> {
    for (const [userId, job] of jobs) {
      await inTurn(async () => {
        if (!closed) await hash(job);
      });
      if (closed) return;
      writing = write(userId, job);
      await writing;
    }
  }

  function wake(): void {
    if (!started || closed || running !== null || jobs.size === 0) return;
    running = workInBackground()
      .then(
        () => true,
        (error: unknown) => {
          onError(error);
          return false;
        },
      )
      .then((goOn) => {
        running = null;
        if (goOn) wake();
      });
  }

  return {
    async transaction(work) {
      let changes = new Map<string, Replaced>();
      const takeBack = (): void => {
        // Unless somebody has replaced them again.
        for (const [userId, [before, after]] of changes) if (jobs.get(userId) === after) put(userId, before);
        changes = new Map();
      };
      try {
        return await ctx.store.transaction((tx) => {
          // It may run twice.
          takeBack();
          replaced = changes;
          try {
            return work(tx);
          } finally {
            replaced = null;
          }
        });
      } catch (error) {
        takeBack();
        throw error;
      }
    },
    add(userId, password) {
      replace(userId, { password, hash: null });
    },
    drop(userId) {
      replace(userId, undefined);
    },
    start() {
      started = true;
      wake();
    },
    async settle() {
      // One iterator for all of them: each job is taken once.
      const queue = jobs.entries();
      const work = async (): Promise<void> => {
        for (const [userId, job] of queue) await write(userId, job);
      };
      await Promise.all(Array.from({ length: threads }, work));
    },
    async hashNow(userId) {
      const job = jobs.get(userId);
      return job === undefined ? null : hash(job);
    },
    get waiting() {
      return jobs.size;
    },
    async close() {
      closed = true;
      await writing?.catch(() => undefined);
    },
  };
}

/**
 * Whether this is the user's password. If it is a fixture password that still waits to be hashed, it is hashed before the others.
 * @param user undefined if nobody has the name that was typed: the same time is spent
 */
export async function verifyPassword(
  { passwords, store }: { readonly passwords: Pick<PendingPasswords, "hashNow">; readonly store: Store },
  user: User | undefined,
  password: string,
): Promise<boolean> {
  if (user === undefined) return matchesHash(password, null);
  const pending = user.passwordPending ? await passwords.hashNow(user.id) : null;
  const known = pending ?? user.passwordHash;
  if (known !== null || !user.passwordPending) return matchesHash(password, known);
  // Another process will hash it. The same time is spent.
  await matchesHash(password, null);
  const key = await store.read(digestKey);
  return key !== undefined && sameSecret(digestOf(key, password), user.passwordDigest ?? "");
}
