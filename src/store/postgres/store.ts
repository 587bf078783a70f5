/*
 * store/postgres: the adapter with a database that several processes share. database.ts sends statements, schema.ts makes the tables,
 * journal.ts is the journal, snapshot.ts what saves reading all of it, catch-up.ts what reads wait for.
 */
/**
 * The records of an issuer in memory, as in the other stores, and a journal in PostgreSQL that all instances append to. Every collection is in it,
 * also those that are volatile elsewhere.
 *
 * - A read first takes in what the others have written, so it never sees less than what was answered before it was asked.
 * - A change is appended at the place that memory is at. If another instance was faster, memory takes its entries in, and the work runs again.
 * - What is decided without a change (a code that was used, a name that is taken) is decided on records that were caught up with, too.
 */
import { createCommitQueue, nowhere } from "../commit-queue.ts";
import { createEngine } from "../engine.ts";
import { StorageError, UnreachableError, type OthersListener, type Store, type StoreClock } from "../store.ts";
import { createCatchUp } from "./catch-up.ts";
import { openDatabase, type Database } from "./database.ts";
import { createJournal, openJournal } from "./journal.ts";
import { compareClocks, prepareSchema } from "./schema.ts";
import { isDue, saveSnapshot, worthIt } from "./snapshot.ts";

export interface PostgresStoreOptions extends StoreClock {
  /** `postgres://USER@HOST/DB`; where it has no password, `PGPASSWORD` or `~/.pgpass` has. */
  readonly url: string;
  /** The name of the issuer whose records these are. */
  readonly issuer: string;
  /** Of its connections. Default: that of a command. */
  readonly name?: string | undefined;
  /** Receives notes for the operator: the database does not answer, tables were migrated. */
  readonly log: (note: string) => void;
  /** The time of this machine, which is compared with that of the database. Default: `Date.now`. */
  readonly machineTime?: () => number;
}

/** The name of the first issuer. No other can have it: names have no slash. */
export const firstIssuer = "/";

/**
 * @throws {UnreachableError} the database cannot be reached, or refuses the login
 * @throws {DataFileError} a newer idp made its tables, or what is there is not idp's
 * @throws {ClockError} its clock and that of this machine differ
 * @throws {StorageError} it refuses to make the tables
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const database = openDatabase(options.url, options.log, options.name);
  try {
    await compareClocks(database, options.machineTime ?? Date.now);
    await prepareSchema(database, options.log);
    await createJournal(database, options.issuer);
    return await openRecords(database, options);
  } catch (error) {
    await database.close();
    if (!(error instanceof StorageError && error.away)) throw error;
    throw new UnreachableError(`${database.location}: ${error.message}`, { cause: error.cause });
  }
}

async function openRecords(database: Database, { issuer, now, passed, log }: PostgresStoreOptions): Promise<Store> {
  /** Characters of the journal that this process has seen since it last asked whether a snapshot is due. */
  let seen = 0;
  let saving: Promise<void> | null = null;
  const listeners: OthersListener[] = [];
  const journal = openJournal(database, issuer, (length) => {
    seen += length;
    if (seen > worthIt) saving ??= save();
  });
  const queue = createCommitQueue(
    { journal, place: nowhere },
    {
      replay: (operation) => engine.replay(operation),
      reset: (records) => engine.reset(records),
      tookIn(changed) {
        for (const listener of listeners) listener(changed, (work) => engine.look(work));
      },
    },
    new StorageError(`${database.location} is closed`),
  );
  const catchUp = createCatchUp(() => queue.takeInMissed());
  const engine = createEngine({ now, passed, durability: { ...queue, catchUp } });
  await queue.takeInMissed();

  /** Never rejects: without a snapshot the journal still has all changes. */
  async function save(): Promise<void> {
    seen = 0;
    try {
      if (!(await isDue(database, issuer))) return;
      const state = await queue.checkpoint(() => {
        const records = engine.capture();
        return () => ({ records, place: queue.place() });
      });
      await saveSnapshot(database, issuer, state);
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
    others: { catchUp, follow: (listener) => void listeners.push(listener) },
    async close() {
      await queue.close();
      await saving;
      await database.close();
    },
  };
}
