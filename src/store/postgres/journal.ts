/**
 * The journal as a table. The row of its issuer says where it ends. An append moves that end on from the place that the writer knows, in one
 * statement: whoever comes later finds another end, and has lost. (The primary key alone could not tell: an entry that a snapshot made
 * superfluous is gone, and its number looks free.) Each statement also looks at the version of the tables, because a newer idp may change them while this
 * one runs.
 */
import { randomUUID } from "node:crypto";
import { OvertakenError, type Journal, type JournalEntry, type Missed, type JournalPlace } from "../journal.ts";
import { StorageError } from "../store.ts";
import type { Database } from "./database.ts";
import { newerSchema, schemaVersion } from "./schema.ts";
import { entryIn, loadAll } from "./checkpoint.ts";

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
 * @returns whether it was this caller that made it
 */
export async function createJournal(database: Database, issuer: string): Promise<boolean> {
  const id = randomUUID();
  const { rows, repeated } = await database.query(
    `with made as (
       insert into idp_issuers (name, head, head_id, snapshot)
       select $1, 0, $2, 0 where (select max(version) from idp_schema) <= ${schemaVersion} on conflict do nothing returning name
     )
     insert into idp_journal (issuer, seq, id, entry) select name, 0, $2, '[]' from made returning seq`,
    [issuer, id],
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
