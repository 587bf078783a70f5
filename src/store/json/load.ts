/** Loads the files into memory. A refusal says where something is wrong. */
import { join, resolve } from "node:path";
import { refuseDataFile, type Checkpoint, readDataFile } from "./data-file.ts";
import { type Engine, createEngine } from "../engine.ts";
import { type JournalContent, readJournal } from "./journal-file.ts";
import { requireTrusted } from "./folder.ts";
import { ConflictError, DataFileError, type Store } from "../store.ts";
import { durableCollections } from "../table.ts";

/** @throws {DataFileError} a record lacks its key or the value of an index, or two have the same */
export async function loadCheckpoint(engine: Engine, checkpoint: Checkpoint, path: string): Promise<void> {
  for (const collection of durableCollections) {
    let position = 0;
    try {
      for (const record of checkpoint[collection] ?? []) {
        engine.load(collection, record);
        position += 1;
      }
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof TypeError)) throw error;
      throw await refuseDataFile(path, `is invalid: ${error.message}`, [collection, position]);
    }
  }
}

/**
 * How much of the journal the data file holds already. A crash while it was folded leaves both.
 * @throws {DataFileError} the journal is not this data file's
 */
export function foldedLines(
  checkpoint: Checkpoint,
  journal: JournalContent | null,
  path: string,
): { readonly lines: number; readonly offset: number } {
  if (journal === null || journal.lines.length === 0) return { lines: 0, offset: 0 };
  const { generation, lines, length } = journal;
  const { after } = checkpoint;
  const start = generation === checkpoint.generation ? 0 : generation === after?.generation ? after.offset : undefined;
  const boundary = start === 0 || start === length || lines.some(({ offset }) => offset === start);
  if (start === undefined || !boundary) {
    const hint = `Put back the data.json that it belongs to; or move ${path} away to continue with the current data.json`;
    throw new DataFileError(`${path} does not belong to the data.json beside it`, path, hint);
  }
  return { lines: lines.filter(({ offset }) => offset < start).length, offset: start };
}

/** @throws {DataFileError} a line holds something other than records */
export function replayLines(engine: Engine, lines: JournalContent["lines"], path: string): void {
  for (const { number, operations } of lines) {
    try {
      for (const operation of operations) engine.replay(operation);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const hint = `Move ${path} away to continue without its changes`;
      throw new DataFileError(`${path}:${number} is invalid: ${error.message}`, path, hint);
    }
  }
}

/** Reads a data folder without a lock, a wait or a change, for `idp doctor` and completion. */

export interface Peek extends Pick<Store, "read"> {
  readonly schemaVersion: number;
  /** The size of `data.json` and its journal together. */
  readonly bytes: number;
}

/**
 * The records of a folder that nobody is using. While a process writes, the two files may not match, and are refused.
 * @returns null if there is no data @throws {DataFileError}
 */
export async function peek(dir: string, now: () => number): Promise<Peek | null> {
  requireTrusted(dir);
  const path = join(resolve(dir), "data.json");
  const file = await readDataFile(path);
  if (file === null) return null;
  const journalPath = join(resolve(dir), "data.journal");
  const journal = await readJournal(journalPath);
  const engine = createEngine({ now });
  await loadCheckpoint(engine, file.checkpoint, path);
  const held = foldedLines(file.checkpoint, journal, journalPath);
  if (journal !== null) replayLines(engine, journal.lines.slice(held.lines), journalPath);
  const { schemaVersion } = file.checkpoint;
  return { schemaVersion, bytes: file.size + (journal?.length ?? 0), read: engine.read };
}
