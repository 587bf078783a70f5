/**
 * The requests as a table. The row of the issuer in `idp_ledgers` numbers them: whoever appends holds it until the entries can be read, so that
 * nobody reads past an entry that is still on its way.
 */
import { StorageError } from "../store.ts";
import type { LogEntry, LogPart, RequestLog } from "../request-log.ts";
import type { Database } from "./database.ts";
import { schemaVersion } from "./schema.ts";

/** How many entries are read at once. */
const partSize = 2000;

const now = "extract(epoch from clock_timestamp()) * 1000";

/** When the last request to each endpoint was dropped. @param more names and times that are added */
const latest = (more: string): string => `(
  select coalesce(jsonb_object_agg(name, last), '{}') from (
    select name, max(at) as last from (
      select key as name, value::float8 as at from jsonb_each_text(dropped) union all ${more}
    ) marks group by name
  ) latest
)`;

/** What was dropped after the last clear. */
const marks =
  "select key, (value->>'at')::float8 from jsonb_each($5::jsonb) where (value->>'earliest')::float8 > cleared";

/** No entry is later than its append, and whatever is not dropped by a clear is after it: so later clears, which look at `at`, are certain, too. */
const appendEntries = `
with moved as (
  update idp_ledgers set head = head + $3::bigint,
    lost = lost + case when exists (${marks}) then $4::bigint else 0 end, dropped = ${latest(marks)}
  where issuer = $1 and (select max(version) from idp_schema) <= ${schemaVersion}
  returning head - $3::bigint as base, cleared
)
insert into idp_requests (issuer, seq, id, at, endpoint, content)
select $1, moved.base + one.n, one.id, greatest(least(one.at, ${now}), moved.cleared + 0.001), one.endpoint, one.content
from moved, json_to_recordset($2::json) as one (n bigint, id text, at float8, earliest float8, endpoint text, content text)
where one.earliest > moved.cleared
on conflict (issuer, id) do nothing`;

const readEntries = `
select ledger.head, ledger.cleared, ledger.lost, ledger.dropped, ${now} as now,
  one.seq, one.id, one.at, one.endpoint, one.content
from idp_ledgers ledger left join lateral (
  select * from idp_requests where issuer = ledger.issuer and seq > $2 order by seq limit ${partSize}
) one on true
where ledger.issuer = $1 order by one.seq`;

const trimEntries = `
with gone as (
  delete from idp_requests where issuer = $1
  and at < (select at from idp_requests where issuer = $1 order by at desc offset $2 limit 1)
  returning endpoint, at
)
update idp_ledgers set dropped = ${latest("select endpoint, at from gone where endpoint is not null")}
where issuer = $1 and exists (select from gone)`;

const clearEntries = `
with now as (update idp_ledgers set cleared = ${now}, lost = 0, dropped = '{}' where issuer = $1 returning cleared),
  gone as (delete from idp_requests using now where issuer = $1 and at <= now.cleared)
select cleared from now`;

/** Opens the log of an issuer, and makes it if there is none. @throws {StorageError} */
export async function openRequestLog(database: Database, issuer: string): Promise<RequestLog> {
  await database.query("insert into idp_ledgers (issuer) values ($1) on conflict do nothing", [issuer]);

  async function since(place: number): Promise<LogPart> {
    const { rows } = await database.query(readEntries, [issuer, place]);
    const [first] = rows;
    if (first === undefined) throw new StorageError(`the issuer ${issuer} was removed`);
    // The database was set back to an earlier state.
    if (Number(first["head"]) < place) return since(0);
    const entries = rows.flatMap(({ seq, id, at, endpoint, content }): readonly LogEntry[] =>
      seq === null || seq === undefined
        ? []
        : [{ id: String(id), at: Number(at), endpoint: endpoint as string | null, content: String(content) }],
    );
    const isAll = entries.length < partSize;
    return {
      ...{ entries, isAll, place: entries.length === 0 ? place : Number(rows.at(-1)?.["seq"]) },
      now: Number(first["now"]),
      cleared: Number(first["cleared"]),
      lost: Number(first["lost"]),
      dropped: (first["dropped"] ?? {}) as LogPart["dropped"],
    };
  }

  return {
    since,
    async append(entries, { count, dropped }) {
      const rows = JSON.stringify(entries.map((entry, n) => ({ ...entry, n: n + 1 })));
      await database.query(appendEntries, [issuer, rows, entries.length, count, JSON.stringify(dropped)]);
    },
    async trim(size) {
      await database.query(trimEntries, [issuer, size - 1]);
    },
    async clear() {
      const { rows } = await database.query(clearEntries, [issuer]);
      return Number(rows[0]?.["cleared"]);
    },
  };
}
