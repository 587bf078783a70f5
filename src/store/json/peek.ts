/** Reads a data folder without a lock, a wait or a change, for `idp doctor` and completion. */
import { join, resolve } from "node:path";
import { readDataFile } from "./data-file.ts";
import { createEngine } from "../engine.ts";
import { readJournal } from "./journal-file.ts";
import { heldLines, loadCheckpoint, replayLines } from "./load.ts";
import type { Store } from "../store.ts";

export interface Peek extends Pick<Store, "read"> {
  readonly schemaVersion: number;
  /** Of `data.json` and its journal together. */
  readonly bytes: number;
}

/**
 * The records of a folder that nobody is using. While a process writes, the two files may not match, and are refused.
 * @returns null if there is no data @throws {DataFileError}
 */
export async function peek(dir: string, now: () => number): Promise<Peek | null> {
  const path = join(resolve(dir), "data.json");
  const file = await readDataFile(path);
  if (file === null) return null;
  const journalPath = join(resolve(dir), "data.journal");
  const journal = await readJournal(journalPath);
  const engine = createEngine({ now });
  await loadCheckpoint(engine, file.checkpoint, path);
  const held = heldLines(file.checkpoint, journal, journalPath);
  if (journal !== null) replayLines(engine, journal.lines.slice(held.lines), journalPath);
  const { schemaVersion } = file.checkpoint;
  return { schemaVersion, bytes: file.size + (journal?.length ?? 0), read: engine.read };
}
