import { existsSync } from "node:fs";
import { join } from "node:path";
import { defaultIssuer } from "../../core/base/endpoints.ts";
import { runOperation } from "../../core/admin/operations/table.ts";
import { randomText } from "../../serve/random.ts";
import { createRegistry } from "../../serve/registry.ts";
import { createMemoryStores } from "../../store/memory.ts";
import type { FoundFixtures } from "../../serve/fixture-files.ts";
import type { Invocation } from "../invocation.ts";
import { say } from "../output/print.ts";
import { fixturesOf } from "../flags/fixtures.ts";
import { usualPort } from "./usual-port.ts";
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
  const issuers = createRegistry(createMemoryStores(), {
    ...{ now: cli.now, random: randomText, log: (note) => say(cli, note) },
    ...{ settings: {}, anyHost: false, isShared: false },
  });
  // Passwords are not hashed, because nobody signs in here.
  const { ctx } = await issuers.start({
    ...{ fixtures: () => sources, alike: [] },
    address: () => issuerOf(cli) ?? defaultIssuer,
  });
  const of = names.length === 0 ? "the built-in demo" : names.join(", ");
  return {
    server: null,
    where: "in memory",
    note: `Read from ${of}: there is no data in ${cli.data} yet.`,
    call: (name, input) => runOperation(ctx, name, input, { server: null, progress: undefined }),
  };
}
