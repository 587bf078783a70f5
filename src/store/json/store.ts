/*
 * store/json: the adapter with files. data-file.ts is data.json (lowdb), journal-file.ts what changed since it was written. issuer-stores.ts has one
 * of them for each issuer, lock.ts says who owns them, and trust.ts whether they may be another user's. load.ts reads both, at a start or without a lock. Files are written by
 * src/files/durable-file.ts.
 */
/**
 * The store on disk: the engine's records, a journal that makes each change durable, and lowdb's `data.json`, into
 * which the journal is folded on close, after a crash, and when it has grown large.
 *
 * Folding, and what the next start finds if the process or the machine stops after each step:
 *
 * 0. data.json is of generation A, and so is the journal: all of the journal is replayed.
 * 1. A moment is captured: all records as of `offset` in the journal. Requests go on and the journal grows. As 0.
 * 2. The records are written to data.json.….tmp. As 0; the unfinished file is removed.
 * 3. It is renamed to data.json: generation B, "after" generation A up to `offset`. The journal is still of generation A:
 *    it is replayed from `offset` on. This state may last: if the disk is full now, folding is done anew later.
 * 4. A journal of generation B with only what came after `offset` replaces the old one (where nothing came, the old one
 *    is removed). As 0, with B for A; should the removal be undone by a loss of power, as 3.
 *
 * So at every moment the two files themselves say which parts belong together. A journal of neither generation belongs to another
 * data file and is refused.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Low } from "lowdb";
import { createCommitQueue } from "../commit-queue.ts";
import { createDataFile, schemaVersion, type Checkpoint } from "./data-file.ts";
import { closeToOthers, removeUnfinished, syncFile, syncFolder, describeFault } from "../../files/durable-file.ts";
import { createEngine } from "../engine.ts";
import { prepareFolder } from "./folder.ts";
import { lostFolder, openJournalFile, placeAt, readJournal, type Position } from "./journal-file.ts";
import type { JournalEntry, JournalPlace } from "../journal.ts";
import { foldedLines, loadCheckpoint, replayLines } from "./load.ts";
import { DataFileError, StorageError, type Store, type StoreClock } from "../store.ts";

interface JsonStoreOptions extends StoreClock {
  /** The folder; made if there is none. */
  readonly dir: string;
  /** Whether this process still holds the lock. */
  readonly isHeld: () => boolean;
  /** Receives notes for the operator: a torn line was dropped, data.json could not be rewritten. */
  readonly log: (note: string) => void;
}

/** The journal is folded when it is larger than this many bytes and than data.json, so that folding at most doubles the cost of a change. */
const foldBeyond = 1024 * 1024;

const tag = (): string => randomBytes(6).toString("hex");

const empty = (): Checkpoint => ({ schemaVersion, generation: tag(), after: null });

/**
 * For a start after a crash: the journal's content and a renamed data.json may be only in the system's cache, and a power loss would undo
 * what is acknowledged from now on.
 */
async function syncJournal(journalPath: string): Promise<void> {
  await syncFile(journalPath);
  await syncFolder(dirname(journalPath));
}

/**
 * @throws {DataFileError} the data cannot be read, or is not idp's
 * @throws {StorageError} the folder cannot be written
 */
export async function openJsonStore({ dir: shown, isHeld, now, passed, log }: JsonStoreOptions): Promise<Store> {
  const dir = resolve(shown);
  prepareFolder(dir);
  const dataPath = join(dir, "data.json");
  const location = join(shown, "data.json");
  const journalPath = join(dir, "data.journal");
  const file = createDataFile(dataPath);
  const db = new Low<Checkpoint>(file, empty());
  const blank = db.data;
  await db.read();
  const content = await readJournal(journalPath);
  if (content !== null) {
    await closeToOthers(journalPath);
    await syncJournal(journalPath).catch((error: unknown) => {
      throw new StorageError(`${journalPath} could not be written: ${describeFault(error)}`, { cause: error });
    });
  }

  const isNew = db.data === blank;
  if (isNew) {
    if (content !== null && content.lines.length > 0) {
      const message = `${dataPath} is missing, and ${journalPath} holds changes to it`;
      throw new DataFileError(message, dataPath, `Put it back, or move ${journalPath} away to start afresh`);
    }
    await db.write().catch((error: unknown) => {
      throw new StorageError(`${location} could not be written: ${describeFault(error)}`, { cause: error });
    });
  }

  const { generation } = db.data;
  const held = foldedLines(db.data, content, journalPath);
  const journal = openJournalFile(journalPath, { content, held: held.lines, generation }, isHeld);
  /** The part of the journal up to here is already in data.json. */
  let folded: Position = { seq: 0, offset: held.offset };
  const queue = createCommitQueue(
    { journal: { ...journal, append }, place: placeAt(journal.position().seq) },
    {
      replay: (operation) => engine.replay(operation),
      reset: (records) => engine.reset(records),
      prepare: (changed) => engine.prepare(changed),
    },
    new StorageError(`${location} is closed`),
  );
  const engine = createEngine({ now, passed, durability: queue });
  await loadCheckpoint(engine, db.data, dataPath);
  if (content !== null) replayLines(engine, content.lines.slice(held.lines), journalPath);
  // The records live in the engine now.
  db.data = empty();

  if (content !== null && content.torn > 0) {
    log(`the last write to ${journalPath} was cut off by a crash (${content.torn} bytes, never answered): dropped`);
  }
  await removeUnfinished(dataPath);
  await removeUnfinished(journalPath);
  // All of the journal is in data.json already: a crash prevented its removal.
  if (content !== null && folded.offset === content.length) await continueFrom(generation, folded);
  let folding: Promise<void> | null = null;
  /** The size beyond which the journal must grow, after a failure, before folding is tried again. */
  let retryBeyond = 0;

  const unfolded = (): number => journal.position().offset - folded.offset;
  const limit = (): number => Math.max(foldBeyond, file.size());

  async function append(place: JournalPlace, entry: JournalEntry): Promise<JournalPlace> {
    const next = await journal.append(place, entry);
    if (unfolded() > Math.max(limit(), retryBeyond)) void fold();
    return next;
  }

  /** Never rejects: if it fails, the journal still has all changes. */
  function fold(): Promise<void> {
    folding ??= foldOnce()
      .catch((error: unknown) => {
        retryBeyond = unfolded() + limit();
        log(
          error instanceof StorageError
            ? error.message
            : `${location} could not be rewritten: ${describeFault(error)}. Nothing is lost: ${journalPath} holds all changes`,
        );
      })
      .finally(() => {
        folding = null;
      });
    return folding;
  }

  async function foldOnce(): Promise<void> {
    if (!isHeld()) throw lostFolder(dir);
    const { records, position } = await queue.checkpoint(() => {
      const records = engine.capture();
      return () => ({ records, position: journal.position() });
    });
    const next = tag();
    const after = { generation: journal.generation(), offset: position.offset };
    db.data = { schemaVersion, generation: next, after, ...records };
    try {
      await db.write();
    } finally {
      db.data = empty();
    }
    folded = position;
    await queue.exclusive(() => continueFrom(next, position));
    retryBeyond = 0;
  }

  async function continueFrom(next: string, position: Position): Promise<void> {
    await journal.continueFrom(next, position);
    folded = { ...position, offset: 0 };
  }

  if (unfolded() > 0) void fold();
  return {
    location: dataPath,
    transaction: engine.transaction,
    read: engine.read,
    follow: engine.follow,
    async close() {
      await queue.close();
      await folding;
      if (unfolded() > 0) await fold();
      // After a failed start: if an empty data.json stayed, commands would take this for the right folder.
      const isEmpty = isNew && journal.generation() === generation && journal.position().offset === 0 && isHeld();
      await journal.close();
      if (isEmpty) await rm(dataPath, { force: true });
    },
  };
}
