/** From the files into memory, with a refusal that says where something is wrong. */
import { refuseDataFile, type Snapshot } from "./data-file.ts";
import type { Engine } from "../engine.ts";
import type { JournalContent } from "./journal.ts";
import { ConflictError, DataFileError } from "../store.ts";
import { durableCollections } from "../table.ts";

/** @throws {DataFileError} a record without its key or what it is found by, or two that claim the same */
export async function loadSnapshot(engine: Engine, snapshot: Snapshot, path: string): Promise<void> {
  for (const collection of durableCollections) {
    let position = 0;
    try {
      for (const record of snapshot[collection] ?? []) {
        engine.load(collection, record);
        position += 1;
      }
    } catch (error) {
      if (!(error instanceof ConflictError || error instanceof TypeError)) throw error;
      throw await refuseDataFile(path, `is not right: ${error.message}`, [collection, position]);
    }
  }
}

/**
 * @returns how many bytes of the journal the data file held already
 * @throws {DataFileError} the journal is not this data file's
 */
export function replayJournal(engine: Engine, snapshot: Snapshot, journal: JournalContent, path: string): number {
  const { generation, lines, length } = journal;
  if (lines.length === 0) return 0;
  let from: number | undefined;
  if (generation === snapshot.generation) from = 0;
  else if (generation === snapshot.after?.generation) from = snapshot.after.offset;
  const boundary = from === 0 || from === length || lines.some(({ offset }) => offset === from);
  if (from === undefined || !boundary) {
    const hint = `Put the data.json back to which it belongs; or, to go on with the one that is there as it is, move ${path} away`;
    throw new DataFileError(`${path} holds changes to another data.json than the one beside it`, path, hint);
  }
  for (const { number, offset, operations } of lines) {
    if (offset < from) continue;
    try {
      for (const operation of operations) engine.replay(operation);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new DataFileError(
        `${path}:${number} is not right: ${error.message}`,
        path,
        `Move ${path} away to go on without what it holds`,
      );
    }
  }
  return from;
}
