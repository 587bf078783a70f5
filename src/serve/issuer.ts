import type { RequestHandler } from "express";
import type { Context, Settings } from "../core/context.ts";
import { derive } from "../core/base/derived.ts";
import { OperationError } from "../core/base/errors.ts";
import { nothingApplied, seed, type SeedOptions, type SeedResult } from "../core/admin/seed/seed.ts";
import { isForeignDemo, madeFrom, rememberMadeFrom } from "../core/base/fixture-files/made-from.ts";
import type { AnyFixtures } from "../core/base/fixture-files/source.ts";
import { rememberIssuer } from "../core/records/issuers/issuer.ts";
import { checkIssuer, type Issuers } from "../core/records/issuers/issuer-view.ts";
import { createPendingPasswords } from "../core/sign-in/login/pending-passwords.ts";
import { notifyClients, type EndedSessions } from "../core/sign-in/sessions/backchannel.ts";
import { unknownHere } from "../core/base/nearest.ts";
import { createClock, movedIn, type Clock } from "../core/base/clock.ts";
import { faultsOf } from "../core/testing/controls/faults/fault-admin.ts";
import type { Reach } from "../net/address.ts";
import type { ControlToken } from "../core/records/operators/roles.ts";
import type { ReadTx, Store } from "../store/store.ts";
import type { IssuerStores } from "../store/issuer-stores.ts";
import { composeContext } from "./context.ts";
import { withNamedFiles } from "./fixture-files.ts";
import { fixturesInUse, hasFixtures, sourcesOf, type GivenFixtures } from "./fixtures.ts";
import type { IdpOptions } from "./options.ts";
import { startLive } from "../core/scim/live.ts";
import { effectiveSettings, refuseContradictions, storedSettings } from "../core/admin/settings/in-force.ts";

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
  /** Whether any host name is answered. */
  readonly anyHost: boolean;
  readonly issuers: Issuers<Context>;
  /** The admin token. Absent: a command, which opens no inspector. */
  readonly owner?: ControlToken | undefined;
  readonly onToken?: IdpOptions["onToken"];
}

/**
 * Why an issuer is opened:
 *
 * - `start`: a server begins with it, with fixtures that every start has
 * - `made`: it was made with its own fixtures, which no later start has, so the data keeps them
 * - `found`: a server found it in the data
 * - `command`: a command works on the data as it is
 */
export type Origin = "start" | "made" | "found" | "command";

export interface IssuerOptions extends SharedOptions {
  readonly name: string | null;
  readonly origin: Origin;
  readonly fixtures: GivenFixtures;
  /** Chooses its address; it may be the issuer. @param last the issuer that the data was last served under; null: it never was */
  readonly address: (last: string | null) => string;
  /** Called before anything is written. What it throws is thrown. */
  readonly check?: ((tx: ReadTx) => void) | undefined;
  readonly onProgress?: SeedOptions["progress"];
  /** The tester who adds it. `reach`: where the clients of given fixtures may be; absent where they are those of the first issuer. */
  readonly tester?: { readonly name: string; readonly reach: Reach | undefined };
}

/**
 * Opens an issuer: applies the fixtures to its store, then composes its context. Every issuer is opened here.
 * @throws {OperationError} invalid (fixtures); not_found (the user of `login: auto:`)
 * @throws {DataFileError | StorageError} of its data
 */
export async function openIssuer(stores: IssuerStores, options: IssuerOptions): Promise<Issuer> {
  const clock = createClock(options.now, () => performance.now());
  // A minute late, so that nothing is removed while a move of the clock records what has ended.
  const passed = (): number => clock.passed() - 60_000;
  const store = await stores.open(options.name, { now: clock.now, passed }, options.origin === "found");
  try {
    return await openOn(store, clock, options);
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

/** A check signs people in itself: a server that signs everybody in at once would answer its strangers too. */
function flagsFor(name: string | null, { login, ...others }: Partial<Settings>): Partial<Settings> {
  return login === undefined || (name !== null && checkIssuer.test(name)) ? others : { ...others, login };
}

async function openOn(store: Store, clock: Clock, options: IssuerOptions): Promise<Issuer> {
  const { name, origin, random, log, issuers, anyHost, address, owner, onToken, tester } = options;
  const settings = flagsFor(name, options.settings);
  // The first of everything that follows the records, because the others depend on the time.
  clock.follow(await derive(store, ["testing"], movedIn));
  if (options.check !== undefined) await store.read(options.check);
  const passwords = createPendingPasswords({ store, random }, (error) => {
    log(`passwords could not be written: ${String(error)}`);
  });
  if (tester !== undefined) await store.transaction((tx) => tx.put("meta", { id: "addedBy", value: tester.name }));
  const sources = origin === "command" ? undefined : await withNamedFiles(sourcesOf(options.fixtures));
  const plan = sources === undefined ? "leave" : await planFor(store, options, sources);
  let ended: EndedSessions = [];
  const applying = (from: readonly AnyFixtures[]): Promise<SeedResult> =>
    seed(
      { store, now: clock.now, random, passwords, settings: { ...settings, reach: tester?.reach }, flags: settings },
      from,
      {
        mode: "start",
        onlyIfUnused: plan === "join",
        progress: options.onProgress,
        check: (tx) => {
          checkAutomaticLogin(tx, settings);
          refuseContradictions(effectiveSettings(storedSettings(tx), settings));
        },
        onEnded: (sessions) => {
          ended = sessions;
        },
      },
    );
  const seeded = plan === "leave" || sources === undefined ? nothingApplied().result : await applying(sources);
  // Nothing was applied, and so nothing was checked.
  if (plan === "leave" && origin === "start") await store.read((tx) => checkAutomaticLogin(tx, settings));
  const fixtures = await fixturesInUse({ store, random }, options.fixtures, sources);
  const ctx = await composeContext({
    ...{ name, store, clock, random, passwords, fixtures, issuers, log, settings, anyHost, address, owner, onToken },
    isServer: origin !== "command",
  });
  if (plan === "join" && seeded.users.added.length > 0)
    await store.transaction((tx) => rememberMadeFrom(tx, sources ?? []));
  if (plan === "apply" || plan === "keep") {
    await fixtures.begin(plan === "keep");
    await ctx.faults.startWith(await faultsOf(sources ?? []));
  }
  if (origin !== "command") await rememberIssuer(ctx);
  const live = origin === "command" ? null : await startLive(ctx);
  return {
    ...{ name, ctx, seeded, routes: null },
    startBackground() {
      passwords.start();
      void notifyClients(ctx, ended);
    },
    endWaits: () => ctx.ledger.close(),
    close: async () => {
      await live?.close();
      await passwords.close();
      await ctx.ledger.end();
      await store.close();
    },
  };
}

/**
 * What becomes of the fixtures of an issuer that a server opens. `apply`: they are applied. `keep`: the data keeps them too. `join`: they are
 * applied only to data that nobody has used. `leave`: they were applied before, or are the demo and the data was made from others.
 */
async function planFor(
  store: Store,
  { origin, issuers: { isShared } }: IssuerOptions,
  sources: readonly AnyFixtures[],
): Promise<"apply" | "keep" | "join" | "leave"> {
  if (origin === "found" && (isShared || (await store.read(hasFixtures)))) return "leave";
  // A shared store may belong to a team, and this may be one more instance, without its own fixtures.
  if (isShared && sources.every((source) => "builtIn" in source)) return "join";
  if (await store.read((tx) => madeFrom(tx) !== null && isForeignDemo(sources, madeFrom(tx)))) return "leave";
  return origin === "made" ? "keep" : "apply";
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
