/** Looks at a database without its records, and changes nothing: for `idp status` and `idp doctor`. */
import { UnreachableError } from "../store.ts";
import { nameOfServers, openDatabase } from "./database.ts";

export interface Inspection {
  /** Of PostgreSQL. */
  readonly version: string;
  /** Of the tables; null: there are none. */
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
