/** The stores of a database: the rows of each issuer have its name. Other instances use them at the same time, so there is no lock. */
import { randomUUID } from "node:crypto";
import type { FolderOptions } from "../json/stores.ts";
import type { Stores } from "../stores.ts";
import { nameOfServers, openDatabase, type Database } from "./database.ts";
import { firstIssuer, openPostgresStore } from "./store.ts";

export function createPostgresStores({
  url,
  log,
  kind,
}: Pick<FolderOptions, "log" | "kind"> & { readonly url: string }): Stores {
  const connections = kind === "server" ? nameOfServers + randomUUID() : undefined;
  const onDatabase = async <T>(work: (database: Database) => Promise<T>): Promise<T> => {
    const database = openDatabase(url, log);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  return {
    // The first issuer is opened before: there are tables.
    names: () =>
      onDatabase(async (database) => {
        const { rows } = await database.query("select name from idp_issuers where name <> $1", [firstIssuer]);
        return rows.map((row) => String(row["name"]));
      }),
    open: (name, clock) => openPostgresStore({ url, log, name: connections, ...clock, issuer: name ?? firstIssuer }),
    remove: (name) =>
      onDatabase((database) =>
        database.transaction("begin", async (query) => {
          await query("delete from idp_issuers where name = $1", [name]);
          await query("delete from idp_journal where issuer = $1", [name]);
          await query("delete from idp_snapshots where issuer = $1", [name]);
        }),
      ),
    updateLock: () => undefined,
    close: () => Promise.resolve(),
  };
}
