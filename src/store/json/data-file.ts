/**
 * `data.json`: all durable records as of one moment, readable JSON with a record a line. It is read and written by lowdb
 * through the adapter below, which adds what lowdb's own does not have: validation, fsync, and mode 0600.
 */
import { constants, isUtf8 } from "node:buffer";
import { lstat, readFile, readlink } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Adapter } from "lowdb";
import { quoteWord } from "../../text/terminal.ts";
import { closeToOthers, replaceFile, syncFolder, codeOf, describeFault } from "../../files/durable-file.ts";
import { DataFileError, type CollectionName } from "../store.ts";
import { durableCollections, type AnyRecord } from "../table.ts";

/**
 * The content of the data file. This is schema version 1. A later `idp` that raises it must back up an older file and migrate it in
 * `validate`, which now refuses every other version.
 */
export interface Checkpoint extends Partial<Record<CollectionName, readonly AnyRecord[]>> {
  readonly schemaVersion: number;
  /** A new random name at each write; a journal names the generation that it continues. */
  readonly generation: string;
  /** The previous journal, and how much of it this file contains: that journal may still exist. */
  readonly after: { readonly generation: string; readonly offset: number } | null;
}

export const schemaVersion = 1;

/** Text is made and written in pieces of about this many characters (a millisecond's work), with the event loop free in between. */
const pieceLength = 128 * 1024;

const syncEvery = 4 * 1024 * 1024;

/**
 * The error for a bad data file, with the position.
 * @param place where in the document, as keys and positions; undefined: where it stops being JSON
 */
export async function refuseDataFile(
  file: string,
  what: string,
  place?: readonly (string | number)[],
): Promise<DataFileError> {
  const { parse, parseTree, findNodeAtLocation } = await import("jsonc-parser");
  const text = await readFile(file, "utf8").catch(() => "");
  let offset: number | undefined;
  if (place === undefined && text !== "") {
    const errors: { offset: number }[] = [];
    parse(text, errors as Parameters<typeof parse>[1], { disallowComments: true });
    offset = errors[0]?.offset ?? text.length;
  } else if (place !== undefined) {
    const tree = parseTree(text);
    offset = tree && findNodeAtLocation(tree, [...place])?.offset;
  }
  const before = offset === undefined ? undefined : text.slice(0, offset).split("\n");
  const position = before === undefined ? "" : `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  const path = (place ?? []).map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return new DataFileError(
    `${file}${position}${path === "" ? "" : ` ${path.replace(/^\./, "")}`} ${what}`,
    file,
    "It was not changed. Repair it, or move it away to start afresh, or use another folder with --data.",
  );
}

async function validate(file: string, value: unknown): Promise<Checkpoint> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw await refuseDataFile(file, "is not a data file of idp: it holds no JSON object", []);
  }
  const document = value as Readonly<Record<string, unknown>>;
  const version = document["schemaVersion"];
  if (typeof version === "number" && version > schemaVersion) {
    const hint = "Use the idp that wrote it (or a newer one), or another folder with --data.";
    const message = `${file} has schema version ${version}; this idp reads version ${schemaVersion}: a newer idp wrote it`;
    throw new DataFileError(message, file, hint);
  }
  if (version !== schemaVersion) {
    throw await refuseDataFile(
      file,
      `is not a data file of idp: its "schemaVersion" is ${version === undefined ? "missing" : JSON.stringify(version)}`,
      [],
    );
  }
  const { generation, after } = document;
  if (typeof generation !== "string" || generation === "") throw await refuseDataFile(file, `has no "generation"`, []);
  const continues = after as Checkpoint["after"] | undefined;
  if (after !== null && (typeof continues?.generation !== "string" || typeof continues.offset !== "number")) {
    throw await refuseDataFile(file, `has no usable "after"`, []);
  }
  for (const [name, records] of Object.entries(document)) {
    if (["schemaVersion", "generation", "after"].includes(name)) continue;
    if (!durableCollections.includes(name as CollectionName))
      throw await refuseDataFile(file, "is not a collection of this idp: it was written by a newer version", [name]);
    if (!Array.isArray(records)) throw await refuseDataFile(file, "must be an array of records", [name]);
    const wrong = records.findIndex((record) => typeof record !== "object" || record === null || Array.isArray(record));
    if (wrong !== -1) throw await refuseDataFile(file, "is not a record: it must be an object", [name, wrong]);
  }
  return document as unknown as Checkpoint;
}

function* serialize(checkpoint: Checkpoint): Generator<string, void> {
  const { schemaVersion, generation, after } = checkpoint;
  let piece = `{\n"schemaVersion":${schemaVersion},\n"generation":${JSON.stringify(generation)},\n"after":${JSON.stringify(after)}`;
  for (const name of durableCollections) {
    piece += `,\n"${name}":[`;
    let separator = "\n";
    for (const record of checkpoint[name] ?? []) {
      piece += separator + JSON.stringify(record);
      separator = ",\n";
      if (piece.length > pieceLength) {
        yield piece;
        piece = "";
      }
    }
    piece += separator === "\n" ? "]" : "\n]";
  }
  yield `${piece}\n}\n`;
}

/** The longest string of V8: half a gigabyte. */
const maxBytes = constants.MAX_STRING_LENGTH;

interface DataFile extends Adapter<Checkpoint> {
  /** Bytes of the file as it was last read or written. */
  size(): number;
}

/** @throws {DataFileError} */
async function refuseLink(file: string): Promise<never> {
  // Replacing a file replaces a link too, and the lock lies beside the link, not beside what it points to.
  const target = resolve(dirname(file), await readlink(file));
  const folder = quoteWord(dirname(file));
  const hint =
    dirname(target) === resolve(dirname(file))
      ? `Put the file itself there: mv ${quoteWord(target)} ${quoteWord(file)}`
      : `Link the folder instead: remove ${folder}, then ln -s ${quoteWord(dirname(target))} ${folder}`;
  throw new DataFileError(`${file} is a symbolic link`, file, hint);
}

/**
 * What a data file holds, and its size in bytes. Changes nothing.
 * @returns null if there is no file @throws {DataFileError}
 */
export async function readDataFile(
  file: string,
): Promise<{ readonly checkpoint: Checkpoint; readonly size: number } | null> {
  const stats = await lstat(file).catch(() => null);
  if (stats?.isSymbolicLink() === true) await refuseLink(file);
  if (stats !== null && stats.size > maxBytes) {
    const hint = "Move it away to start afresh, or use another folder with --data.";
    throw new DataFileError(`${file} is larger than half a gigabyte, the most that idp reads`, file, hint);
  }
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    const isFolder = codeOf(error) === "EISDIR";
    throw new DataFileError(
      `${file} cannot be read: ${isFolder ? "it is a folder" : describeFault(error)}`,
      file,
      `${isFolder ? "Move it away" : "Make it readable for this user"}, or use another folder with --data`,
    );
  }
  if (bytes.length === 0) throw await refuseDataFile(file, "is empty", []);
  if (!isUtf8(bytes)) throw await refuseDataFile(file, "is not JSON: it is not UTF-8 text", []);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    // V8's own message quotes the text around the error, which may be a secret.
    throw await refuseDataFile(file, "is not JSON from here on");
  }
  return { checkpoint: await validate(file, value), size: bytes.length };
}

export function createDataFile(file: string): DataFile {
  let size = 0;

  return {
    size: () => size,
    async read() {
      const found = await readDataFile(file);
      if (found === null) return null;
      size = found.size;
      await closeToOthers(file);
      return found.checkpoint;
    },
    /** The file is on disk when it resolves. Rejects with what `node:fs` threw; the old file is there then. */
    async write(checkpoint) {
      let written = 0;
      let synced = 0;
      const handle = await replaceFile(file, async (target) => {
        for (const piece of serialize(checkpoint)) {
          const bytes = Buffer.from(piece);
          await target.writeFile(bytes);
          written += bytes.length;
          if (written > maxBytes) throw new Error("it would be larger than half a gigabyte, the most that idp reads");
          // One large sync at the end would delay the small ones of the journal, and the responses that wait for them.
          if (written - synced > syncEvery) {
            await target.datasync();
            synced = written;
          }
        }
      });
      await handle.close();
      await syncFolder(dirname(file));
      size = written;
    },
  };
}
