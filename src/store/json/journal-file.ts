/**
 * The journal as a file: what was committed since `data.json` was last written. Text, line by line:
 *
 *     {"journal":1,"generation":"5f0c…"}      which data.json it continues
 *     [{"put":"users","record":{…}},{"remove":"sessions","key":"…"}]
 *
 * A line is one write: the operations of all transactions that were committed together, in their order. So however much of a
 * write reached the disk when the machine stopped, only the last line can be torn. It was never acknowledged, so it is dropped.
 */
import { constants, fstatSync, statSync, writeSync } from "node:fs";
import { open, readFile, unlink, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile, syncFolder, codeOf, describeFault } from "../../files/durable-file.ts";
import { OvertakenError, isOperation, type Journal, type Operation, type JournalPlace } from "../journal.ts";
import { DataFileError, StorageError } from "../store.ts";
import { durableCollections } from "../table.ts";

const newline = 0x0a;
const headerOf = (generation: string): Buffer => Buffer.from(`${JSON.stringify({ journal: 1, generation })}\n`);

export interface JournalContent {
  /** The generation of the data file that it continues; "" if nothing was ever committed to it. */
  readonly generation: string;
  readonly lines: readonly {
    readonly number: number;
    readonly offset: number;
    readonly operations: readonly Operation[];
  }[];
  /** Bytes that are intact; what follows them is torn. */
  readonly length: number;
  readonly torn: number;
}

const isChange = (value: unknown): value is Operation => isOperation(value, durableCollections);

const hint =
  "It was not changed. To continue without its changes, move it away: data.json is complete without it, as it was last written.";

/** @returns null if there is no journal @throws {DataFileError} */
export async function readJournal(path: string): Promise<JournalContent | null> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new DataFileError(`${path} cannot be read: ${describeFault(error)}`, path, "Make it readable for this user.");
  }
  const refuse = (line: number, what: string) => new DataFileError(`${path}:${line} ${what}`, path, hint);

  let length = bytes.lastIndexOf(newline) + 1;
  const parsed: { number: number; offset: number; value: unknown }[] = [];
  for (let offset = 0, end; offset < length; offset = end + 1) {
    end = bytes.indexOf(newline, offset);
    const number = parsed.length + 1;
    try {
      parsed.push({ number, offset, value: JSON.parse(bytes.toString("utf8", offset, end)) });
    } catch {
      if (end + 1 < bytes.length) throw refuse(number, "is damaged: it is not JSON, and it is not the last line");
      // Bytes that a crash kept from the disk are read as zeros. Without zeros the line is damaged, not torn: it may be two lines that became
      // one, and the first of them was acknowledged.
      if (!bytes.subarray(offset, end).includes(0))
        throw refuse(number, "is damaged: it is not JSON, though nothing is missing at its end");
      length = offset;
      break;
    }
  }

  const [head, ...rest] = parsed;
  // The head is written with the first line: alone, it is part of a torn write.
  if (head === undefined || rest.length === 0) return { generation: "", lines: [], length: 0, torn: bytes.length };
  const header = head.value;
  if (typeof header !== "object" || header === null || !("journal" in header && "generation" in header)) {
    throw refuse(1, "is not the head of a journal");
  }
  if (header.journal !== 1) throw refuse(1, `is of journal format ${String(header.journal)}; this idp reads format 1`);
  const lines = rest.map(({ number, offset, value }) => {
    if (!Array.isArray(value) || !value.every(isChange))
      throw refuse(number, "holds something that is not a change of a record");
    return { number, offset, operations: value };
  });
  return { generation: String(header.generation), lines, length, torn: bytes.length - length };
}

/** The refusal of a change after this process lost its data folder. */
export const lostFolder = (folder: string): StorageError =>
  new StorageError(
    `${folder} or its journal was deleted or taken over while this idp ran: changes are no longer kept. Stop this idp and start it again`,
  );

/** One writer numbers the entries, so the number alone tells which one it is. */
export const placeAt = (seq: number): JournalPlace => ({ seq, id: "" });

/** A place between two lines. */
export interface Position {
  /** The number of the entry before it. */
  readonly seq: number;
  /** The offset in bytes. */
  readonly offset: number;
}

interface JournalFile extends Journal {
  /** Where the next line begins. */
  position(): Position;
  generation(): string;
  /** Drops what is before a position and is in the data file of this generation now. */
  continueFrom(generation: string, from: Position): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens it for writing. The file is made with the first line, so that a store that nobody changes writes nothing.
 * @param content as it was read; null: there is no file
 * @param held how many of its lines the data file has already: entry 1 is the one after them
 * @param isHeld whether the folder is still this process's: asked before a file is made there
 */
export function openJournalFile(
  path: string,
  { content, held, generation: first }: { content: JournalContent | null; held: number; generation: string },
  isHeld: () => boolean,
): JournalFile {
  const folder = dirname(path);
  let generation = content === null || content.lines.length === 0 ? first : content.generation;
  let handle: FileHandle | null = null;
  let length = content?.length ?? 0;
  /** The number of the entry before the first line. */
  let before = -held;
  let seq = (content?.lines.length ?? 0) - held;
  // Whether something may follow `length`: a torn line, or a refused change that could not be removed.
  let tailed = true;
  let nameOnDisk = length > 0;

  async function cut(file: FileHandle): Promise<void> {
    await file.truncate(length);
    await file.datasync();
    tailed = false;
  }

  /** Whether the file was deleted: writes to it still succeed, but are lost. Not every file system counts links. */
  function isDeleted(file: FileHandle): boolean {
    const { nlink, ino } = fstatSync(file.fd);
    return nlink === 0 && statSync(path, { throwIfNoEntry: false })?.ino !== ino;
  }

  return {
    position: () => ({ seq, offset: length }),
    generation: () => generation,
    async since({ seq: last }) {
      const lines = (await readJournal(path))?.lines ?? [];
      return { entries: lines.slice(last - before).map(({ operations }) => operations), place: placeAt(seq) };
    },
    async append({ seq: last }, entry) {
      if (last !== seq) throw new OvertakenError(`${path} is at entry ${seq}, not ${last}`);
      if (handle === null ? !isHeld() : isDeleted(handle)) throw lostFolder(folder);
      seq += 1;
      try {
        // Creates the file only if it has no lines yet: if it has lines and is missing, somebody deleted it.
        handle ??= await open(path, constants.O_RDWR | (length === 0 ? constants.O_CREAT : 0), 0o600);
        if (tailed) await cut(handle);
        tailed = true;
        const line = Buffer.from(`${JSON.stringify(entry)}\n`);
        const bytes = length === 0 ? Buffer.concat([headerOf(generation), line]) : line;
        for (let done = 0; done < bytes.length;)
          done += writeSync(handle.fd, bytes, done, bytes.length - done, length + done);
        await handle.datasync();
        if (!nameOnDisk) await syncFolder(folder);
        nameOnDisk = true;
        length += bytes.length;
        tailed = false;
        return placeAt(seq);
      } catch (error) {
        seq -= 1;
        if (handle === null && codeOf(error) === "ENOENT") throw lostFolder(folder);
        if (handle !== null) await cut(handle).catch(() => undefined);
        throw new StorageError(`The change could not be written to ${path}: ${describeFault(error)}`, { cause: error });
      }
    },
    async continueFrom(next, { seq: dropped, offset }) {
      if (offset === length) {
        await unlink(path).catch((error: unknown) => {
          if (codeOf(error) !== "ENOENT") throw error;
        });
        await handle?.close();
        handle = null;
        length = 0;
      } else {
        const tail = Buffer.alloc(length - offset);
        handle ??= await open(path, "r+");
        const { bytesRead } = await handle.read(tail, 0, tail.length, offset);
        if (bytesRead !== tail.length) throw new Error(`${path} is shorter than what was written to it`);
        await handle.close();
        handle = null;
        const bytes = Buffer.concat([headerOf(next), tail]);
        handle = await replaceFile(path, (file) => file.writeFile(bytes));
        length = bytes.length;
      }
      generation = next;
      before = dropped;
      tailed = length === 0;
      nameOnDisk = false;
    },
    async close() {
      try {
        // Removes a refused change that could not be removed at once, so that the next start does not read it.
        if (handle !== null && tailed) await cut(handle);
      } catch (error) {
        const message = `The last refused change could not be removed from ${path}, and may be there at the next start`;
        throw new StorageError(`${message}: ${describeFault(error)}`, { cause: error });
      } finally {
        await handle?.close();
      }
    },
  };
}
