/*
 * store/postgres: the adapter with a database that several processes share. store.ts has the issuers of a database, database.ts sends
 * statements, schema.ts makes the tables, and looks at them for `idp status` and `idp doctor`; journal.ts is the journal with its checkpoints, so that
 * nobody reads all of it; request-log.ts has the requests.
 */
/**
 * The records of an issuer in memory, as in the other stores, and a journal in PostgreSQL that all instances append to. Every collection is in it,
 * also those that are volatile elsewhere.
 *
 * - A read first takes in what the others have written, so it never sees less than what was answered before it was asked.
 * - A change is appended at the place that memory is at. If another instance was faster, memory takes its entries in, and the work runs again.
 * - An entry that cannot be read, or tables of a newer idp, end all reads and changes of this instance until they can be read: nothing is
 *   answered from old records, and nothing is written.
 * - What is decided without a change (a code that was used, a name that is taken) is decided on records that were caught up with, too.
 */
import { createCommitQueue, nowhere } from "../commit-queue.ts";
import { createEngine } from "../engine.ts";
import type { Missed, JournalPlace } from "../journal.ts";
import { DataFileError, StorageError, UnreachableError, type Store, type StoreClock } from "../store.ts";
import { away, timeoutMs, within, nameOfServers, openDatabase, type Database } from "./database.ts";
import { claimName, createJournal, openJournal, removeIssuer, isDue, saveCheckpoint, worthIt } from "./journal.ts";
import { openRequestLog } from "./request-log.ts";
import { randomUUID } from "node:crypto";
import type { FolderOptions } from "../json/issuer-stores.ts";
import type { IssuerStores } from "../issuer-stores.ts";
import { compareClocks, prepareSchema } from "./schema.ts";

/**
 * Opens the records of an issuer, whose journal is there.
 * @param issuer its name
 * @throws {DataFileError} what is there is not idp's
 * @throws {StorageError}
 */
async function openPostgresStore(
  database: Database,
  issuer: string,
  { now, passed, log }: StoreClock & { readonly log: (note: string) => void },
): Promise<Store> {
  const requests = await openRequestLog(database, issuer);
  /** Characters of the journal that this process has seen since it last asked whether a snapshot is due. */
  let seen = 0;
  let saving: Promise<void> | null = null;
  const journal = openJournal(database, issuer, (length) => {
    seen += length;
    if (seen > worthIt) saving ??= save();
  });
  let isRunning = false;
  /** Once this process answers requests, it goes on without what it cannot read: each request fails until it can be read. */
  async function since(place: JournalPlace): Promise<Missed> {
    try {
      return await journal.since(place);
    } catch (error) {
      const isKnown = error instanceof DataFileError || (error instanceof StorageError && !error.away);
      if (!isRunning || !isKnown) throw error;
      const reason = error.message.replace(database.location, "the database");
      throw new StorageError(reason, { cause: error, away: true });
    }
  }
  const queue = createCommitQueue(
    { journal: { ...journal, since }, place: nowhere },
    {
      replay: (operation) => engine.replay(operation),
      reset: (records) => engine.reset(records),
      prepare: (changed) => engine.prepare(changed),
    },
    new StorageError(`${database.location} is closed`),
  );
  const catchUp = createCatchUp(() => queue.readMissed());
  const engine = createEngine({ now, passed, durability: { ...queue, catchUp } });
  await queue.readMissed();
  isRunning = true;

  /** Never rejects: without a snapshot the journal still has all changes. */
  async function save(): Promise<void> {
    seen = 0;
    try {
      if (!(await isDue(database, issuer))) return;
      const state = await queue.checkpoint(() => {
        const records = engine.capture();
        return () => ({ records, place: queue.place() });
      });
      await saveCheckpoint(database, issuer, state);
    } catch (error) {
      log(`no snapshot of the records was written: ${String(error)}. Nothing is lost: the journal holds all changes`);
    } finally {
      saving = null;
    }
  }

  return {
    location: database.location,
    transaction: engine.transaction,
    read: engine.read,
    follow: engine.follow,
    catchUp,
    requests,
    async close() {
      await queue.close();
      await saving;
    },
  };
}

/**
 * One look at the journal serves all that asked before it began. One that is under way serves nobody who asks now: it may have seen the
 * journal before a change that the asker knows of.
 * @param takeIn takes in what others have written until now
 */
function createCatchUp(takeIn: () => Promise<void>): () => Promise<void> {
  /** Never rejects. */
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | null = null;

  async function begin(before: Promise<unknown>): Promise<void> {
    await before;
    next = null;
    await takeIn();
  }

  return () => {
    if (next !== null) return next;
    const begun = begin(running);
    running = begun.catch(() => undefined);
    next = within(timeoutMs, begun, away);
    return next;
  };
}

/** The stores of a database: the rows of each issuer have its name. Other instances use them at the same time, so there is no lock. */

interface PostgresOptions extends Pick<FolderOptions, "kind" | "log"> {
  /** `postgres://USER@HOST/DB`; where it has no password, `PGPASSWORD` or `~/.pgpass` has. */
  readonly url: string;
}

/** Each server keeps a connection open, by which the others see it. */
const otherServers = `
select count(*) as others from pg_stat_activity
where datname = current_database() and application_name like '${nameOfServers}%' and application_name <> $1`;

/** The name of the first issuer. No other can have it: names have no slash. */
const firstIssuer = "/";

/**
 * @throws {UnreachableError} the database cannot be reached, or refuses the login
 * @throws {DataFileError} a newer idp made its tables
 * @throws {ClockError} its clock and that of this machine differ
 * @throws {StorageError} it refuses to make the tables
 */
export async function openPostgresStores({ url, log, kind }: PostgresOptions): Promise<IssuerStores> {
  const name = nameOfServers + randomUUID();
  const database = openDatabase(url, log, kind === "server" ? name : undefined);
  try {
    await compareClocks(database, Date.now);
    await prepareSchema(database, log);
  } catch (error) {
    await database.close();
    if (!(error instanceof StorageError && error.away)) throw error;
    throw new UnreachableError(`${database.location}: ${error.message}`, { cause: error.cause });
  }
  return {
    async names() {
      const { rows } = await database.query(
        "select name from idp_issuers where name <> $1 and name not in (select name from idp_unfinished)",
        [firstIssuer],
      );
      return rows.map((row) => String(row["name"]));
    },
    claim: (issuer) => within(timeoutMs, claimName(database, issuer, kind === "server" ? name : ""), away),
    async confirm(issuer) {
      await database.query("delete from idp_unfinished where name = $1", [issuer]);
    },
    async open(name, clock, isFound = false) {
      const issuer = name ?? firstIssuer;
      if (!isFound) await createJournal(database, issuer, null);
      return openPostgresStore(database, issuer, { ...clock, log });
    },
    remove: (name) =>
      within(
        timeoutMs,
        database.transaction("begin", (query) => removeIssuer(query, database.location, name)),
        away,
      ),
    async isLast() {
      const { rows } = await database.query(otherServers, [name]);
      return Number(rows[0]?.["others"]) === 0;
    },
    updateLock: () => undefined,
    close: () => database.close(),
  };
}
