import type { RequestHandler } from "express";
import { createAttempts } from "../core/attempts.ts";
import { notifyClients, type EndedSessions } from "../core/logout/backchannel.ts";
import { derive } from "../core/derived.ts";
import type { Context, Settings } from "../core/context.ts";
import { OperationError } from "../core/errors.ts";
import { createInspectorAccess } from "../core/inspector/access.ts";
import { followIssuer, rememberedIssuer, rememberIssuer } from "../core/issuers/issuer.ts";
import type { Issuers } from "../core/issuers/issuer-view.ts";
import { openKeyRing } from "../core/keys/keys.ts";
import { unknownHere } from "../core/nearest.ts";
import { createLedger } from "../core/testing/requests.ts";
import { createPendingPasswords } from "../core/login/pending-passwords.ts";
import { nothingApplied, seed, type SeedOptions, type SeedResult } from "../core/fixtures/apply/seed.ts";
import { faultsOf } from "../core/testing/faults/fault-admin.ts";
import { createFaults } from "../core/testing/faults/faults.ts";
import { effectiveSettings, storedSettings } from "../core/settings.ts";
import { sameJson } from "../core/json-object.ts";
import { addressBefore, issuerOf, layoutOf, type Layout } from "../core/layout/layout.ts";
import { createClock, movedIn, type Clock } from "../core/testing/clock.ts";
import type { ReadTx, Store } from "../store/store.ts";
import type { Stores } from "../store/stores.ts";
import { fixturesInUse, hasFixtures, sourcesOf, type GivenFixtures } from "./fixtures.ts";
import type { IdpOptions } from "./options.ts";

/** An open issuer. Its fixtures are applied, and every operation on it takes its `ctx`. */
export interface Issuer {
  /** Null for the first issuer. */
  readonly name: string | null;
  readonly ctx: Context;
  /** What the fixtures added and changed. */
  readonly seeded: SeedResult;
  /** Its routes; null before its first request. */
  routes: RequestHandler | null;
  /** Starts the work in the background. */
  startBackground(): void;
  /** Ends everything that waits for requests. */
  endWaits(): void;
  /** Ends the work in the background and closes the store. */
  close(): Promise<void>;
}

/** What the issuers of a process share. */
export interface SharedOptions extends Required<Pick<IdpOptions, "random" | "log">> {
  /** The time in milliseconds since 1970, which each issuer's clock starts from. */
  readonly now: () => number;
  /** Settings that override those of the fixtures. */
  readonly settings: Partial<Settings>;
  /** Whether other processes may serve the same data. */
  readonly isShared: boolean;
  /** Whether any host name is answered. Then there is no picker: a page whose name points at this machine could sign in with a click. */
  readonly anyHost: boolean;
  readonly issuers: Issuers;
}

export interface IssuerOptions extends SharedOptions {
  readonly name: string | null;
  /** Exactly as given; it may be the issuer. */
  readonly address: string;
  /** Whether nobody named the address, so that the address of other instances on a shared store goes before it. */
  readonly isDefault?: boolean;
  readonly fixtures: GivenFixtures;
  /** Whether it was found in the data, and is not in the fixtures. If it was made with its own fixtures, the data has them. */
  readonly isFound?: boolean;
  /** Whether the fixtures are those of the first issuer, which every start has. */
  readonly isAsFirst?: boolean;
  readonly onProgress?: SeedOptions["progress"];
}

/**
 * Opens an issuer: applies the fixtures to its store, then reads the settings and the keys. Every issuer is opened here.
 * @throws {OperationError} invalid (fixtures); not_found (the user of `login: auto:`)
 * @throws {DataFileError | StorageError} of its data
 */
export async function openIssuer(stores: Stores, options: IssuerOptions): Promise<Issuer> {
  const clock = createClock(options.now, () => performance.now());
  const store = await stores.open(options.name, {
    now: clock.now,
    // A minute late, so that nothing is removed while a move of the clock records what has ended.
    passed: () => clock.passed() - 60_000,
  });
  try {
    return await openOn(store, clock, options);
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

async function openOn(store: Store, clock: Clock, options: IssuerOptions): Promise<Issuer> {
  const { name, random, issuers } = options;
  const { now } = clock;
  const log = (note: string): void => options.log(name === null ? note : `issuer ${name}: ${note}`);
  // The first of everything that follows the records, because the others depend on the time.
  clock.follow(await derive(store, ["testing"], movedIn));
  const passwords = createPendingPasswords({ store, random }, (error) => {
    log(`passwords could not be written: ${String(error)}`);
  });
  let ended: EndedSessions = [];
  // Another process has already applied them, or this one before its restart.
  const isApplied = options.isFound === true && (options.isShared || (await store.read(hasFixtures)));
  const sources = sourcesOf(options.fixtures);
  // A shared store may belong to a team, and this may be one more instance, without its own fixtures.
  const givesWay = options.isShared && sources.every((source) => "builtIn" in source);
  const applying = (): Promise<SeedResult> =>
    seed({ store, now, random, passwords, settings: options.settings }, sources, {
      mode: "start",
      onlyIfUnused: givesWay,
      progress: options.onProgress,
      check: (tx) => {
        checkAutomaticLogin(tx, options.settings);
      },
      onEnded: (sessions) => {
        ended = sessions;
      },
    });
  const seeded = isApplied ? nothingApplied().result : await applying();
  const fixtures = await fixturesInUse({ store, random }, options.fixtures, sources);
  if (!isApplied && !givesWay) await fixtures.begin(name !== null && options.isAsFirst !== true);
  let layout: Layout | null = null;
  let endpoints: Settings["endpoints"] | null = null;
  const inForce = await derive(store, ["meta"], (tx) => {
    const settings = effectiveSettings(storedSettings(tx), options.settings);
    // The routes depend on the layout object, so it is only replaced if the endpoints changed.
    if (layout === null || !sameJson(endpoints, settings.endpoints)) layout = layoutOf(settings.endpoints, name);
    ({ endpoints } = settings);
    return { settings, layout };
  });
  const remembered = options.isShared && options.isDefault === true ? await store.read(rememberedIssuer) : null;
  const ctx: Context = {
    address: addressBefore(remembered ?? options.address, inForce.value.layout),
    get issuer() {
      return issuerOf(ctx.address, inForce.value.layout);
    },
    get layout() {
      return inForce.value.layout;
    },
    ...{ issuers, store, now, clock, random, passwords, log },
    keys: await openKeyRing(store, now, random),
    get settings() {
      return inForce.value.settings;
    },
    get offersPicker() {
      return inForce.value.settings.login !== "password" && !options.anyHost;
    },
    reloadSettings: () => inForce.reload(),
    attempts: createAttempts(now),
    inspector: await createInspectorAccess(store, clock.unmoved, random),
    ledger: createLedger(() => inForce.value.settings.ledger, random(32)),
    fixtures,
    faults: await createFaults(store),
  };
  if (!isApplied && !givesWay) await ctx.faults.startWith(await faultsOf(sources));
  await rememberIssuer(ctx);
  store.others?.follow((changed, read) => {
    if (changed.has("meta")) followIssuer(ctx, read(rememberedIssuer));
  });
  return {
    ...{ name, ctx, seeded, routes: null },
    startBackground() {
      passwords.start();
      void notifyClients(ctx, ended);
    },
    endWaits: () => ctx.ledger.close(),
    close: async () => {
      await passwords.close();
      await store.close();
    },
  };
}

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
