import { createAttempts } from "../../core/attempts.ts";
import type { Context } from "../../core/context.ts";
import { derive } from "../../core/derived.ts";
import { defaultIssuer } from "../../core/endpoints.ts";
import { addressBefore, issuerOf, layoutOf } from "../../core/layout/layout.ts";
import { OperationError } from "../../core/errors.ts";
import { isUsed } from "../../core/fixtures/state/state.ts";
import { createInspectorAccess } from "../../core/inspector/access.ts";
import { unknownIssuer } from "../../core/issuers/issuer.ts";
import { openKeyRing } from "../../core/keys/keys.ts";
import { createFaults } from "../../core/testing/faults/faults.ts";
import { createLedger } from "../../core/testing/requests.ts";
import { createPendingPasswords } from "../../core/login/pending-passwords.ts";
import { effectiveSettings, storedSettings } from "../../core/settings.ts";
import { createClock, movedIn, type Clock } from "../../core/testing/clock.ts";
import type { Operation, Runner } from "../../core/operations/operation.ts";
import {
  operations,
  runOperation,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from "../../core/operations/table.ts";
import { randomText } from "../../random.ts";
import type { Store } from "../../store/store.ts";
import { openStores } from "../../store/open.ts";
import { openOne, type Stores } from "../../store/stores.ts";
import type { Invocation } from "../invocation.ts";
import { say } from "../output/print.ts";
import { fixturesOf } from "../program/server-flags.ts";
import { fixturesInUse } from "../../serve/fixtures.ts";
import { version } from "../../package.ts";
import { issuersOf } from "./folder-issuers.ts";

/**
 * What an operation needs, from the data. It has the issuer and the settings that the data was last served under.
 * @param which `name`: of the issuer, null for the first one; `given` replaces the remembered URL
 */
export async function contextOf(
  cli: Invocation,
  { stores, store, clock }: { readonly stores: Stores; readonly store: Store; readonly clock: Clock },
  { name, given }: { readonly name: string | null; readonly given: string | undefined },
): Promise<Context> {
  const { now } = clock;
  clock.follow(await derive(store, ["testing"], movedIn));
  const remembered = await store.read((tx) => ({
    issuer: tx.get("meta", "issuer")?.value,
    settings: storedSettings(tx),
  }));
  const settings = effectiveSettings(remembered.settings, {});
  const layout = layoutOf(settings.endpoints, name);
  const address = addressBefore(
    given ?? (typeof remembered.issuer === "string" ? remembered.issuer : defaultIssuer),
    layout,
  );
  const log = (note: string): void => say(cli, note);
  const passwords = createPendingPasswords({ store, random: randomText }, (error) => log(String(error)));
  return {
    issuer: issuerOf(address, layout),
    ...{ address, layout, settings },
    issuers: issuersOf(cli, stores, {
      first: address,
      contextOn: (other, of) => contextOf(cli, { stores, store: other, clock }, { name: of, given: undefined }),
    }),
    offersPicker: false,
    // The next command reads them.
    reloadSettings: () => Promise.resolve(),
    keys: await openKeyRing(store, now, randomText),
    // If the data has none, as `idp start` would find them.
    fixtures: await fixturesInUse({ store, random: randomText }, () => fixturesOf(cli, {}).sources),
    attempts: createAttempts(now),
    faults: await createFaults(store),
    inspector: await createInspectorAccess(store, now, randomText),
    // No requests come here.
    ledger: createLedger(() => 0, randomText(32)),
    ...{ clock, store, now, random: randomText, passwords, log },
  };
}

/** Opens the store of an existing issuer; only `issuers add` makes one. @throws {OperationError} not_found */
async function openNamed(stores: Stores, name: string | null, now: () => number): Promise<Store> {
  if (name !== null) {
    const names = await stores.names();
    if (!names.includes(name)) {
      await stores.close();
      throw unknownIssuer(name, names);
    }
  }
  return openOne(stores, name, { now });
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
  const stores = await openStores({
    data: cli.store === null ? cli.data : null,
    postgres: cli.store ?? undefined,
    kind: "command",
    version,
    // Under --json, stderr has only an error.
    log: (note) => {
      if (!cli.json) say(cli, note);
    },
  });
  const clock = createClock(cli.now, cli.now);
  const store = await openNamed(stores, of, clock.now);
  const { createsData }: Pick<Operation, "createsData"> = operations[name];
  try {
    if (cli.store !== null && createsData !== true && !(await store.read(isUsed))) {
      throw new OperationError("not_found", `there is no data in ${cli.place} yet`, {
        hint: { text: "To start a server", command: ["idp", "start"] },
      });
    }
    const ctx = await contextOf(cli, { stores, store, clock }, { name: of, given: issuer });
    const result = await runOperation(ctx, name, input, { server: null, progress });
    await ctx.passwords.settle();
    return result;
  } finally {
    await store.close();
  }
}
