/** The stores of a database: the rows of each issuer have its name. Other instances use them at the same time, so there is no lock. */
import { randomUUID } from "node:crypto";
import type { FolderOptions } from "../json/issuer-stores.ts";
import { StorageError, UnreachableError } from "../store.ts";
import type { IssuerStores } from "../issuer-stores.ts";
import { nameOfServers, openDatabase } from "./database.ts";
import { createJournal } from "./journal.ts";
import { compareClocks, newerSchema, prepareSchema, schemaVersion } from "./schema.ts";
import { openPostgresStore } from "./store.ts";

export interface PostgresOptions extends Pick<FolderOptions, "kind" | "log"> {
  /** `postgres://USER@HOST/DB`; where it has no password, `PGPASSWORD` or `~/.pgpass` has. */
  readonly url: string;
}

/** The name of the first issuer. No other can have it: names have no slash. */
const firstIssuer = "/";

/**
 * @throws {UnreachableError} the database cannot be reached, or refuses the login
 * @throws {DataFileError} a newer idp made its tables
 * @throws {ClockError} its clock and that of this machine differ
 * @throws {StorageError} it refuses to make the tables
 */
export async function openPostgresStores({ url, log, kind }: PostgresOptions): Promise<IssuerStores> {
  const database = openDatabase(url, log, kind === "server" ? nameOfServers + randomUUID() : undefined);
  try {
    await compareClocks(database, Date.now);
    await prepareSchema(database, log);
  } catch (error) {
    await database.close();
    if (!(error instanceof StorageError && error.away)) throw error;
    throw new UnreachableError(`${database.location}: ${error.message}`, { cause: error.cause });
  }
  return {
    async names() {
      const { rows } = await database.query("select name from idp_issuers where name <> $1", [firstIssuer]);
      return rows.map((row) => String(row["name"]));
    },
    claim: (name) => createJournal(database, name),
    confirm: () => Promise.resolve(),
    open: (name, clock) => openPostgresStore(database, name ?? firstIssuer, { ...clock, log }),
    remove: (name) =>
      database.transaction("begin", async (query) => {
        const [schema] = await query("select max(version) as version from idp_schema");
        const version = Number(schema?.["version"]);
        if (version > schemaVersion) throw newerSchema(database.location, version);
        await query("delete from idp_issuers where name = $1", [name]);
        await query("delete from idp_journal where issuer = $1", [name]);
        await query("delete from idp_snapshots where issuer = $1", [name]);
        await query("delete from idp_ledgers where issuer = $1", [name]);
        await query("delete from idp_requests where issuer = $1", [name]);
      }),
    updateLock: () => undefined,
    close: () => database.close(),
  };
}
