import { existsSync } from "node:fs";
import { join } from "node:path";
import { createPendingPasswords } from "../../core/login/pending-passwords.ts";
import { seed } from "../../core/fixtures/apply/seed.ts";
import { runOperation } from "../../core/operations/table.ts";
import { createClock } from "../../core/testing/clock.ts";
import { randomText } from "../../random.ts";
import { createMemoryStore, createMemoryStores } from "../../store/memory.ts";
import type { FoundFixtures } from "../../fixture-files.ts";
import type { Invocation } from "../invocation.ts";
import { fixturesOf } from "../program/server-flags.ts";
import { contextOf } from "./folder.ts";
import { usualPort } from "./remote.ts";
import type { Target } from "./target.ts";

/** Whether there is nothing to read: no server, and no data. */
export const isBeforeStart = (cli: Invocation, target: Target): boolean =>
  target.server === null && cli.store === null && !existsSync(join(cli.data, "data.json"));

/** The issuer of `idp start` in this environment; undefined for the usual one, also with a free port, which is not known yet. */
function issuerOf({ env }: Invocation): string | undefined {
  const { IDP_ISSUER: issuer = "", IDP_CERT: cert = "" } = env;
  if (issuer !== "") return issuer;
  const port = usualPort(env);
  return port === null ? undefined : `${cert === "" ? "http" : "https"}://localhost:${port}`;
}

/**
 * What `idp start` will serve: the fixtures, in memory. Nothing is written.
 * @param fixtures the fixtures to start with; absent for those that it would find
 * @throws {OperationError} invalid for fixtures that `idp start` would refuse
 */
export async function targetBeforeStart(
  cli: Invocation,
  { sources, names }: FoundFixtures = fixturesOf(cli, {}),
): Promise<Target & { readonly note: string }> {
  const { now } = cli;
  const store = createMemoryStore({ now });
  // Passwords are not hashed, because nobody signs in here.
  const passwords = createPendingPasswords({ store, random: randomText }, () => undefined);
  await seed({ store, now, random: randomText, passwords, settings: {} }, sources, { mode: "start" });
  const ctx = await contextOf(
    cli,
    { stores: createMemoryStores(), store, clock: createClock(now, now) },
    { name: null, given: issuerOf(cli) },
  );
  const of = names.length === 0 ? "the built-in demo" : names.join(", ");
  return {
    server: null,
    where: "in memory",
    note: `Read from ${of}: there is no data in ${cli.data} yet.`,
    call: (name, input) => runOperation(ctx, name, input, { server: null, progress: undefined }),
  };
}
