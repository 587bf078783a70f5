/** The tables, and what has to hold before they are used. */
import { ClockError, DataFileError, UnreachableError } from "../store.ts";
import { type Database, type Query, nameOfServers, openDatabase } from "./database.ts";

/**
 * Every row is keyed by the name of its issuer. `idp_issuers` says where the journal of each ends, and up to which entry its snapshot holds it.
 * `idp_snapshots` has the snapshot in parts.
 */
const tables = `
create table idp_issuers (
  name text primary key,
  head bigint not null,
  head_id text not null,
  snapshot bigint not null
);
create table idp_journal (
  issuer text not null,
  seq bigint not null,
  id text not null,
  entry text not null,
  primary key (issuer, seq)
);
create table idp_snapshots (
  issuer text not null,
  seq bigint not null,
  part integer not null,
  content text not null,
  primary key (issuer, seq, part)
);`;

/**
 * `idp_requests` has the requests that the instances got. `idp_ledgers` numbers them, and says until when they were cleared (times are
 * milliseconds since 1970), how many were lost, and when the last one to each endpoint was dropped.
 */
const ledgers = `
create table idp_ledgers (
  issuer text primary key,
  head bigint not null default 0,
  cleared double precision not null default 0,
  lost bigint not null default 0,
  dropped jsonb not null default '{}'
);
create table idp_requests (
  issuer text not null,
  seq bigint not null,
  id text not null,
  at double precision not null,
  endpoint text,
  content text not null,
  primary key (issuer, seq),
  unique (issuer, id)
);
create index idp_requests_at on idp_requests (issuer, at);`;

/** `idp_unfinished` has the issuers that are being made, and the name of the connection of the server that makes each (a command has none). */
const unfinished = `
create table idp_unfinished (
  name text primary key,
  maker text not null,
  at timestamptz not null default now()
);`;

/** The step at position n brings a schema of version n to version n + 1. Whoever adds one keeps those before it. */
const migrations: readonly string[] = [tables, ledgers, unfinished];

export const schemaVersion = migrations.length;

/** The refusal of tables that this version does not know. @param version of the tables */
export const newerSchema = (location: string, version: number): DataFileError =>
  new DataFileError(
    `${location} has schema version ${version}; this idp reads version ${schemaVersion}: a newer idp made its tables`,
    location,
    "Use that idp (or a newer one), or another database.",
  );

/** "idp" in ASCII: the advisory lock of those who make or change the tables. */
const lock = 0x696470;

/** 0: there are no tables yet. */
async function versionIn(query: Query): Promise<number> {
  const [found] = await query("select to_regclass('idp_schema') is not null as present");
  if (found?.["present"] !== true) return 0;
  const [row] = await query("select version from idp_schema");
  return Number(row?.["version"] ?? 0);
}

/**
 * Makes the tables where there are none, and migrates those of an older version.
 * @throws {DataFileError} a newer idp made them
 */
export function prepareSchema(database: Database, log: (note: string) => void): Promise<void> {
  const { location } = database;
  return database.transaction("begin", async (query) => {
    // First: a connection that has looked for a table in vain remembers that until its transaction ends.
    await query(`select pg_advisory_xact_lock(${lock})`);
    const version = await versionIn(query);
    if (version > schemaVersion) throw newerSchema(location, version);
    if (version === schemaVersion) return;
    for (const step of migrations.slice(version)) await query(step);
    await query("create table if not exists idp_schema (version integer not null)");
    await query("delete from idp_schema");
    await query("insert into idp_schema values ($1)", [schemaVersion]);
    if (version > 0) log(`${location} had schema version ${version}: its tables were migrated to ${schemaVersion}`);
  });
}

/** Milliseconds. */
const maxDifference = 5000;
/** Milliseconds, by which the difference is known exactly enough. */
const exactness = 200;
const maxQuestions = 5;

/**
 * Refuses a difference that is certainly too large. An answer may be late, on its way there or back: the time that it names lies between the
 * question and its arrival. So the database is asked again until that leaves little room.
 * @param now the time of this machine @throws {ClockError}
 */
export async function compareClocks(
  { location, query }: Pick<Database, "location" | "query">,
  now: () => number,
): Promise<void> {
  // How far this machine is ahead, at least and at most.
  let [least, most] = [-Infinity, Infinity];
  for (let asked = 0; asked < maxQuestions && most - least > exactness; asked += 1) {
    const before = now();
    const { rows } = await query("select extract(epoch from clock_timestamp()) * 1000 as time", []);
    const time = Number(rows[0]?.["time"]);
    [least, most] = [Math.max(least, before - time), Math.min(most, now() - time)];
  }
  if (least <= maxDifference && most >= -maxDifference) return;
  const seconds = (Math.abs(least + most) / 2000).toFixed(1);
  const which = least > 0 ? "ahead of" : "behind";
  throw new ClockError(
    `the clock of this machine is ${seconds} s ${which} that of ${location}; at most 5 s are accepted`,
  );
}

/** Looks at a database without its records, and changes nothing: for `idp status` and `idp doctor`. */

interface Inspection {
  /** The version of PostgreSQL. */
  readonly version: string;
  /** The version of the tables; null: there are none. */
  readonly schema: number | null;
  /** Seconds that its clock is ahead of the clock of this machine. */
  readonly ahead: number;
  /** How many servers are connected to it. */
  readonly instances: number;
}

const look = `
select current_setting('server_version') as version,
  extract(epoch from clock_timestamp()) as time,
  to_regclass('idp_schema') is not null as present,
  (select count(distinct application_name) from pg_stat_activity
    where datname = current_database() and application_name like '${nameOfServers}%') as instances`;

/** @throws {UnreachableError} it cannot be reached, or refuses the login */
export async function inspectStore(address: string, now: () => number): Promise<Inspection> {
  const database = openDatabase(address, () => undefined);
  try {
    const before = now();
    const { rows } = await database.query(look, []);
    const middle = (before + now()) / 2000;
    const { version, time, present, instances } = rows[0] ?? {};
    const schema = present === true ? (await database.query("select version from idp_schema", [])).rows[0] : undefined;
    return {
      version: String(version),
      schema: schema === undefined ? null : Number(schema["version"]),
      ahead: Math.round((Number(time) - middle) * 10) / 10,
      instances: Number(instances),
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UnreachableError(`${database.location}: ${message}`, { cause: error });
  } finally {
    await database.close();
  }
}
