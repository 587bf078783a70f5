import { createAttempts } from "../core/attempts.ts";
import { tellAll, type Telling } from "../core/logout/backchannel.ts";
import type { Context, Settings } from "../core/context.ts";
import { OperationError } from "../core/errors.ts";
import { createInspectorAccess } from "../core/inspector/access.ts";
import { openKeyRing } from "../core/keys/keys.ts";
import { unknownHere } from "../core/nearest.ts";
import { createLedger } from "../core/testing/requests.ts";
import { createPendingPasswords } from "../core/login/pending-passwords.ts";
import { seed, type SeedOptions, type SeedResult } from "../core/fixtures/apply/seed.ts";
import { faultsOf } from "../core/testing/faults/fault-admin.ts";
import { createFaults } from "../core/testing/faults/faults.ts";
import { effectiveSettings, storedSettings } from "../core/settings.ts";
import { sameJson } from "../core/fixtures/schema/digest.ts";
import { addressBefore, issuerOf, layoutOf } from "../core/layout/layout.ts";
import type { Clock } from "../core/testing/clock.ts";
import type { ReadTx, Store } from "../store/store.ts";
import { fixturesInUse, sourcesOf } from "./fixtures.ts";
import type { IdpOptions } from "./options.ts";

/** An issuer that is open: its fixtures are applied, and `ctx` is what every operation on it takes. */
export interface Issuer {
  readonly ctx: Context;
  /** What the fixtures added and changed. */
  readonly seeded: SeedResult;
  /** Starts the work that goes on beside the requests. */
  startBackground(): void;
  /** Ends that work. The store stays open: whoever opened it closes it. */
  close(): Promise<void>;
}

export interface IssuerOptions extends Required<Pick<IdpOptions, "random" | "log">> {
  readonly clock: Clock;
  /** Exactly as given. */
  readonly issuer: string;
  readonly fixtures: IdpOptions["fixtures"];
  readonly onProgress: SeedOptions["progress"];
  /** Override the settings of the fixtures. */
  readonly settings: Partial<Settings>;
  /** Any host name is answered, so there is no picker: a page whose name points at this machine could sign in by a click. */
  readonly anyHost: boolean;
}

/**
 * Opens an issuer on a store: applies the fixtures, then reads the settings and the keys.
 * @throws {OperationError} invalid (fixtures); not_found (the user of `login: auto:`)
 * @throws {StorageError} if the data cannot be written
 */
export async function openIssuer(store: Store, options: IssuerOptions): Promise<Issuer> {
  const { clock, random, log } = options;
  const { now } = clock;
  const passwords = createPendingPasswords({ store, random }, (error) => {
    log(`passwords could not be written: ${String(error)}`);
  });
  let ended: Telling = [];
  const sources = sourcesOf(options.fixtures);
  const seeded = await seed({ store, now, random, passwords, settings: options.settings }, sources, {
    mode: "start",
    progress: options.onProgress,
    check: (tx) => {
      checkAutomaticLogin(tx, options.settings);
    },
    onEnded: (sessions) => {
      ended = sessions;
    },
  });
  const readSettings = async (): Promise<Settings> =>
    effectiveSettings(await store.read(storedSettings), options.settings);
  let settings = await readSettings();
  let layout = layoutOf(settings.endpoints, null);
  const ctx: Context = {
    address: addressBefore(options.issuer, layout),
    get issuer() {
      return issuerOf(ctx.address, layout);
    },
    get layout() {
      return layout;
    },
    ...{ store, now, clock, random, passwords, log },
    keys: await openKeyRing(store, now, random),
    get settings() {
      return settings;
    },
    get offersPicker() {
      return settings.login !== "password" && !options.anyHost;
    },
    reloadSettings: async () => {
      const before = settings;
      settings = await readSettings();
      if (!sameJson(before.endpoints, settings.endpoints)) layout = layoutOf(settings.endpoints, null);
    },
    attempts: createAttempts(now),
    inspector: createInspectorAccess(clock.unmoved, random),
    ledger: createLedger(() => settings.ledger, random(32)),
    fixtures: fixturesInUse(options.fixtures, sources),
    faults: createFaults(),
  };
  ctx.faults.putFixtures(await faultsOf(sources));
  await rememberIssuer(ctx);
  return {
    ctx,
    seeded,
    startBackground() {
      passwords.start();
      void tellAll(ctx, ended);
    },
    close: () => passwords.close(),
  };
}

/** Commands that work on the folder use the issuer that it was last served under. */
const rememberIssuer = ({ store, issuer }: Context): Promise<void> =>
  store.transaction((tx) => {
    if (tx.get("meta", "issuer")?.value !== issuer) tx.put("meta", { id: "issuer", value: issuer });
  });

/**
 * The user of `login: auto:alice` must exist, or a login page would appear where none is expected.
 * @throws {OperationError} not_found
 */
function checkAutomaticLogin(tx: ReadTx, { login }: Partial<Settings>): void {
  const username = /^auto:(.+)$/.exec(login ?? "")?.[1];
  if (username === undefined) return;
  if (tx.find("users", "username", username) !== undefined) return;
  throw unknownHere(new OperationError("not_found", `no user "${username}"`), username, {
    title: "Users",
    known: Array.from(tx.all("users"), (user) => user.username),
  });
}
