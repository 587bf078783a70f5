import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Context } from "../../core/context.ts";
import { defaultIssuer } from "../../core/base/endpoints.ts";
import { OperationError } from "../../core/base/errors.ts";
import { madeFrom, rememberMadeFrom } from "../../core/base/fixture-files/made-from.ts";
import type { AnyFixtures } from "../../core/base/fixture-files/source.ts";
import { unknownIssuer } from "../../core/records/issuers/issuer.ts";
import { isUsed } from "../../core/testing/state/state.ts";
import { addressOf } from "../../core/records/issuers/issuer-view.ts";
import type { Runner } from "../../core/admin/operations/operation.ts";
import { operations, type OperationName } from "../../core/admin/operations/routes.ts";
import { runOperation, type OperationInput, type OperationOutput } from "../../core/admin/operations/table.ts";
import { version } from "../../files/package.ts";
import { builtInDemo, isFixtureName } from "../../serve/fixture-files.ts";
import { hasFixtures } from "../../serve/fixtures.ts";
import { randomText } from "../../serve/random.ts";
import { createRegistry } from "../../serve/registry.ts";
import { openOne } from "../../store/issuer-stores.ts";
import type { MadeFrom, ReadTx } from "../../store/store.ts";
import { openStores } from "../../store/open.ts";
import type { Invocation } from "../invocation.ts";
import { say } from "../output/print.ts";
import { fixturesOfData } from "../flags/fixtures.ts";

/**
 * What the data of a folder, or of its issuer of `--issuer`, were made from. `new`: nobody has used them; `in use`: an issuer that was made
 * with its own fixtures, which its data keeps; null: nobody knows.
 * @throws {OperationError} not_found if the data does not have the issuer
 */
export async function originOf(cli: Invocation): Promise<MadeFrom | "new" | "in use" | null> {
  const { data, issuer, now } = cli;
  const stores = await openStores({ data, kind: "command", version, log: () => undefined });
  const names = await stores.names();
  if (issuer !== null && !names.includes(issuer)) {
    await stores.close();
    throw unknownIssuer(issuer, names);
  }
  const store = await openOne(stores, issuer, { now, passed: now });
  try {
    return await store.read((tx) => {
      if (!isUsed(tx)) return "new";
      return issuer !== null && hasFixtures(tx) ? "in use" : madeFrom(tx);
    });
  } finally {
    await store.close();
  }
}

/** The paths that a command read. Not in the input, because who sends a request does not say which files are read here. */
const filesOf = (input: object): readonly AnyFixtures[] =>
  ("sources" in input ? (input.sources as readonly { readonly name: string }[]) : []).map(({ name }) => {
    const path = resolve(name);
    return { name, text: "", ...(isFixtureName(name) && existsSync(path) && { folder: dirname(path) }) };
  });

/** What `seed` and `reset` made the data from. Fixtures that are added to others change nothing. */
async function rememberFiles(
  { store }: Pick<Context, "store">,
  name: OperationName,
  input: object,
  wasUsed: boolean,
): Promise<void> {
  const isReset = name === "reset" && ("sources" in input || "fixtures" in input);
  if (!isReset && (name !== "seed" || wasUsed)) return;
  const given = filesOf(input);
  await store.transaction((tx) => rememberMadeFrom(tx, given.length > 0 ? given : [builtInDemo()]));
}

/**
 * Runs an operation on the data itself. A folder is locked for as long as the operation takes. A shared store is opened beside the
 * instances that run on it.
 * @throws {LockedError} if a server holds the data
 * @throws {OperationError} not_found if the data does not have the issuer of `--issuer`
 */
export async function runOnData<N extends OperationName>(
  cli: Invocation,
  name: N,
  input: OperationInput<N>,
  {
    of,
    issuer,
    progress,
  }: {
    /** The name of the issuer; null for the first one. */
    readonly of: string | null;
    /** The issuer of tokens; absent for the one that the data was last served under. */
    readonly issuer: string | undefined;
    readonly progress: Runner["progress"];
  },
): Promise<OperationOutput<N>> {
  const isShared = cli.store !== null;
  // Under --json, stderr has only an error.
  const tell = (note: string): void => {
    if (!cli.json) say(cli, note);
  };
  // What a server logs of a change is the result of these commands.
  const isResult = /^(clock|faults|sessions)\./.test(name);
  const stores = await openStores({
    data: isShared ? null : cli.data,
    postgres: cli.store ?? undefined,
    kind: "command",
    version,
    log: tell,
  });
  const issuers = createRegistry(stores, {
    ...{ now: cli.now, random: randomText, log: isResult ? () => undefined : tell },
    // Those of the data apply.
    ...{ settings: {}, anyHost: false, isShared },
  });
  const { createsData } = operations[name];
  const requireData = (tx: ReadTx): void => {
    if (isUsed(tx)) return;
    throw new OperationError("not_found", `there is no data in ${cli.place} yet`, {
      hint: { text: "To start a server", command: ["idp", "start"] },
    });
  };
  /** Of the first issuer; read once its data are open. */
  let made: MadeFrom | null = null;
  try {
    const { ctx } = await issuers.use(of, {
      address: (last) => issuer ?? last ?? addressOf(defaultIssuer, of),
      fixtures: () => fixturesOfData(cli, made),
      check: isShared && !createsData ? requireData : undefined,
    });
    if (!isShared) made = await ctx.store.read(madeFrom);
    const wasUsed = await ctx.store.read(isUsed);
    const result = await runOperation(ctx, name, input, { server: null, progress });
    await rememberFiles(ctx, name, input, wasUsed);
    await ctx.passwords.settle();
    return result;
  } finally {
    await issuers.close().finally(() => stores.close());
  }
}
