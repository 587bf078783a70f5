import { randomUUID } from "node:crypto";
import {
  OvertakenError,
  isOperation,
  type Journal,
  type JournalEntry,
  type Missed,
  type JournalPlace,
  type Records,
} from "../journal.ts";
import { StorageError, DataFileError, type CollectionName } from "../store.ts";
import type { Database, Query } from "./database.ts";
import { newerSchema, schemaVersion } from "./schema.ts";
import { allCollections, type AnyRecord } from "../table.ts";

/**
 * A snapshot: all records as they were behind one entry of the journal, in parts. It saves a start from reading the whole journal, and lets
 * older entries go.
 */

/** Parts have about this many characters, and so many are read at once. */
const partLength = 512 * 1024;
const partsAtOnce = 8;

/** "idq": the advisory lock of whoever writes the snapshot of an issuer. */
const lock = 0x696471;

type Row = Readonly<Record<string, unknown>>;

const refuse = (location: string, what: string): DataFileError =>
  new DataFileError(
    `${location} holds something that is not idp's: ${what}`,
    location,
    "It was not changed. Use the idp that wrote it, or another database.",
  );

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** @throws {DataFileError} it is not an entry */
function entryIn(row: Row, location: string): JournalEntry {
  const entry = parse(row["entry"]);
  if (Array.isArray(entry) && entry.every((one) => isOperation(one, allCollections))) return entry;
  throw refuse(location, `entry ${String(row["seq"])} of the journal`);
}

/** A part: some records of one collection. */
type Part = readonly [CollectionName, readonly AnyRecord[]];

function* partsOf(records: Records): Generator<string, void> {
  for (const name of allCollections) {
    let texts: string[] = [];
    let length = 0;
    const part = (): string => `["${name}",[${texts.join(",")}]]`;
    for (const record of records[name] ?? []) {
      const text = JSON.stringify(record);
      texts.push(text);
      length += text.length;
      if (length < partLength) continue;
      yield part();
      texts = [];
      length = 0;
    }
    if (texts.length > 0) yield part();
  }
}

async function readParts(query: Query, issuer: string, seq: number, location: string): Promise<Records> {
  const records: Partial<Record<CollectionName, AnyRecord[]>> = {};
  const text = `select part, content from idp_snapshots where issuer = $1 and seq = $2 and part >= $3 order by part limit ${partsAtOnce}`;
  for (let next = 0; ; next += partsAtOnce) {
    const rows = await query(text, [issuer, seq, next]);
    for (const row of rows) {
      const part = parse(row["content"]);
      if (!Array.isArray(part) || !allCollections.includes(part[0] as CollectionName) || !Array.isArray(part[1]))
        throw refuse(location, `part ${String(row["part"])} of a snapshot`);
      const [name, some] = part as unknown as Part;
      const all = (records[name] ??= []);
      for (const record of some) all.push(record);
    }
    if (rows.length < partsAtOnce) return records;
  }
}

/** Reads the snapshot and the entries after it. @throws {StorageError} the issuer was removed @throws {DataFileError} */
function loadAll(database: Database, issuer: string): Promise<Missed> {
  return database.transaction("begin isolation level repeatable read read only", async (query) => {
    const [schema] = await query("select max(version) as version from idp_schema");
    if (Number(schema?.["version"]) > schemaVersion) throw newerSchema(database.location, Number(schema?.["version"]));
    const [head] = await query("select head, head_id, snapshot from idp_issuers where name = $1", [issuer]);
    if (head === undefined) throw new StorageError(`the issuer ${issuer} was removed`);
    const snapshot = Number(head["snapshot"]);
    const records = await readParts(query, issuer, snapshot, database.location);
    const rows = await query("select seq, entry from idp_journal where issuer = $1 and seq > $2 order by seq", [
      issuer,
      snapshot,
    ]);
    const place = { seq: Number(head["head"]), id: String(head["head_id"]) };
    if (rows.length !== place.seq - snapshot) throw refuse(database.location, "the journal has a gap");
    return { records, entries: rows.map((row) => entryIn(row, database.location)), place };
  });
}

/** The journal is worth a snapshot when it is longer than this and than the last snapshot: so snapshots at most double the cost of a change. */
export const worthIt = 1024 * 1024;

/** Whether the journal has grown enough since the last snapshot, whoever made that. */
export async function isDue(database: Database, issuer: string): Promise<boolean> {
  const { rows } = await database.query(
    `select
       (select coalesce(sum(octet_length(content)), 0) from idp_snapshots where issuer = $1) as snapshot,
       (select coalesce(sum(octet_length(entry)), 0) from idp_journal
        where issuer = $1 and seq > (select snapshot from idp_issuers where name = $1)) as journal`,
    [issuer],
  );
  return Number(rows[0]?.["journal"]) > Math.max(worthIt, Number(rows[0]?.["snapshot"]));
}

/**
 * Writes a snapshot in place of the last one. Entries that the last one held go: what came after it stays, so that instances that are a little
 * behind need not read everything again. Of several instances one does it.
 */
export function saveCheckpoint(
  database: Database,
  issuer: string,
  { records, place }: { readonly records: Records; readonly place: JournalPlace },
): Promise<void> {
  return database.transaction("begin", async (query) => {
    const [free] = await query(
      `select pg_try_advisory_xact_lock(${lock}, hashtext($1)) as taken, (select max(version) from idp_schema) as version`,
      [issuer],
    );
    if (free?.["taken"] !== true || Number(free["version"]) > schemaVersion) return;
    // Locked against its removal, not against appends. The place must be one of this journal, and beyond the last snapshot.
    const [last] = await query(
      `select i.snapshot from idp_issuers i join idp_journal j on j.issuer = i.name
       where i.name = $1 and j.seq = $2 and j.id = $3 and i.snapshot < $2 for key share of i`,
      [issuer, place.seq, place.id],
    );
    if (last === undefined) return;
    let part = 0;
    for (const content of partsOf(records)) {
      await query("insert into idp_snapshots (issuer, seq, part, content) values ($1, $2, $3, $4)", [
        issuer,
        place.seq,
        part++,
        content,
      ]);
    }
    await query("delete from idp_snapshots where issuer = $1 and seq <> $2", [issuer, place.seq]);
    await query("delete from idp_journal where issuer = $1 and seq < $2", [issuer, last["snapshot"]]);
    // Last, since appends wait for this row from now on until the transaction ends.
    await query("update idp_issuers set snapshot = $2 where name = $1", [issuer, place.seq]);
  });
}

/**
 * The journal as a table. The row of its issuer says where it ends. An append moves that end on from the place that the writer knows, in one
 * statement: whoever comes later finds another end, and has lost. (The primary key alone could not tell: an entry that a snapshot made
 * superfluous is gone, and its number looks free.) Each statement also looks at the version of the tables, because a newer idp may change them while this
 * one runs.
 */

const appendEntry = `
with moved as (
  update idp_issuers set head = head + 1, head_id = $4
  where name = $1 and head = $2 and head_id = $3 and (select max(version) from idp_schema) <= ${schemaVersion} returning head
)
insert into idp_journal (issuer, seq, id, entry) select $1, head, $4, $5 from moved returning seq`;

/** The entry of the place itself is among them: as long as it is there, and the same, nothing is missing after it. */
const readEntries = `
select seq, id, case when seq > $2 then entry end as entry, (select max(version) from idp_schema) as version
from idp_journal where issuer = $1 and seq >= $2 order by seq`;

/**
 * Makes the journal of an issuer, if it is not there. It begins with an entry that says nothing and has a name, as every place has.
 * @param maker who makes an issuer that is not there for others until it is complete; null: it is complete
 * @returns whether it was this caller that made it
 */
export async function createJournal(database: Database, issuer: string, maker: string | null): Promise<boolean> {
  const id = randomUUID();
  const { rows, repeated } = await database.query(
    `with made as (
       insert into idp_issuers (name, head, head_id, snapshot)
       select $1, 0, $2, 0 where (select max(version) from idp_schema) <= ${schemaVersion} on conflict do nothing returning name
     ), marked as (
       insert into idp_unfinished (name, maker) select name, $3::text from made where $3::text is not null
     )
     insert into idp_journal (issuer, seq, id, entry) select name, 0, $2, '[]' from made returning seq`,
    [issuer, id, maker],
  );
  return rows.length > 0 || (repeated && (await isThere(database, issuer, { seq: 0, id })));
}

/** Whether an entry that was appended without an answer was written. */
async function isThere(database: Database, issuer: string, { seq, id }: JournalPlace): Promise<boolean> {
  const { rows } = await database.query("select id from idp_journal where issuer = $1 and seq = $2", [issuer, seq]);
  const [row] = rows;
  // A snapshot was made meanwhile, so nobody can tell. Memory is read again before it is used.
  if (row === undefined) throw new StorageError("it is not known whether the change was made", { away: true });
  return row["id"] === id;
}

/** @param onEntry receives the length, in characters, of each entry that was appended or read */
export function openJournal(database: Database, issuer: string, onEntry: (length: number) => void): Journal {
  async function since({ seq, id }: JournalPlace): Promise<Missed> {
    const { rows } = await database.query(readEntries, [issuer, seq]);
    const [first, ...rest] = rows;
    if (Number(first?.["version"] ?? 0) > schemaVersion)
      throw newerSchema(database.location, Number(first?.["version"]));
    // What followed this place is in a snapshot only, or the database was set back to an earlier state.
    if (Number(first?.["seq"] ?? -1) !== seq || first?.["id"] !== id) return loadAll(database, issuer);
    const last = rest.at(-1) ?? first;
    const entries: JournalEntry[] = [];
    for (const row of rest) {
      entries.push(entryIn(row, database.location));
      onEntry(String(row["entry"]).length);
    }
    return { entries, place: { seq: Number(last["seq"]), id: String(last["id"]) } };
  }

  async function append({ seq, id }: JournalPlace, entry: JournalEntry): Promise<JournalPlace> {
    const next = { seq: seq + 1, id: randomUUID() };
    const text = JSON.stringify(entry);
    const { rows, repeated } = await database.query(appendEntry, [issuer, seq, id, next.id, text]);
    if (rows.length === 0) {
      if (!repeated || !(await isThere(database, issuer, next)))
        throw new OvertakenError(`${issuer} is beyond entry ${seq}`);
    }
    onEntry(text.length);
    return next;
  }

  return { since, append };
}

/** Removes everything of an issuer, where the version of the tables is known. */
export async function removeIssuer(query: Query, location: string, name: string): Promise<void> {
  const [schema] = await query("select max(version) as version from idp_schema");
  const version = Number(schema?.["version"]);
  if (version > schemaVersion) throw newerSchema(location, version);
  await query("delete from idp_issuers where name = $1", [name]);
  await query("delete from idp_unfinished where name = $1", [name]);
  await query("delete from idp_journal where issuer = $1", [name]);
  await query("delete from idp_snapshots where issuer = $1", [name]);
  await query("delete from idp_ledgers where issuer = $1", [name]);
  await query("delete from idp_requests where issuer = $1", [name]);
}

/**
 * An issuer whose maker will not complete it: the server is this one, which makes one at a time, or is connected no more. A command has no
 * connection that others know, so it has a minute.
 */
const isAbandoned = `
select name from idp_unfinished where name = $1 and (
  maker = $2
  or (maker = '' and at < now() - interval '1 minute')
  or (maker <> '' and not exists (select from pg_stat_activity where application_name = maker)))
for update`;

/** Claims the name of an issuer that is to be made. What an earlier maker left unfinished is removed. @param maker empty: a command */
export async function claimName(database: Database, name: string, maker: string): Promise<boolean> {
  await database.transaction("begin", async (query) => {
    if ((await query(isAbandoned, [name, maker === "" ? null : maker])).length > 0)
      await removeIssuer(query, database.location, name);
  });
  return createJournal(database, name, maker);
}
