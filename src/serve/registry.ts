import type { AnyFixtures } from "../core/base/fixture-files/source.ts";
import { applyTo, issuersIn } from "../core/admin/seed/apply.ts";
import {
  brokenView,
  checkIssuerName,
  issuerExists,
  tooManyIssuers,
  unknownIssuer,
  viewOf,
} from "../core/records/issuers/issuer.ts";
import { addressOf, firstAddress, type Issuers, type IssuerView } from "../core/records/issuers/issuer-view.ts";
import { reachOfRegistered } from "../core/base/outbound.ts";
import type { Context } from "../core/context.ts";
import { createTurns } from "../core/base/turns.ts";
import type { IssuerStores } from "../store/issuer-stores.ts";
import { StorageError } from "../store/store.ts";
import { openIssuer, type Issuer, type IssuerOptions, type Origin, type SharedOptions } from "./issuer.ts";
import type { IdpOptions } from "./options.ts";

/** The issuers of a process, by their names: of a server, or of a command that works on the data. */
export interface Registry extends Issuers<Context> {
  /**
   * Of a server: opens the first issuer, then those of its fixtures, of the data, and `alike`, which begin with the same fixtures. A broken
   * one is reported, and the others still open.
   */
  start(
    first: Pick<IssuerOptions, "address" | "fixtures" | "onProgress"> & { readonly alike: readonly string[] },
  ): Promise<Issuer>;
  /**
   * Of a command: opens one issuer as it is, and others once it asks for them.
   * @throws {OperationError} not_found
   */
  use(name: string | null, options: Pick<IssuerOptions, "address" | "fixtures" | "check">): Promise<Issuer>;
  /** As in {@link Issuers}, and with all that the library accepts as fixtures. */
  add(name: string, fixtures: IdpOptions["fixtures"], addedBy?: string): Promise<IssuerView>;
  /** The names of {@link list}. */
  names(): readonly string[];
  /** The open issuer with this name. */
  find(name: string | null): Issuer | undefined;
  /** As in {@link Issuers}. */
  look(name: string): Promise<Issuer | undefined>;
  /** Starts the work in the background, of open issuers and of later ones. */
  startBackground(): void;
  endWaits(): void;
  close(): Promise<void>;
}

/** How many issuers a tester has at a time: each has keys, and takes memory and disk that everybody shares. */
const maxOfTester = 50;

/** Soon it may work again: the issuer is opened when somebody asks for it. */
const isAway = (error: unknown): boolean => error instanceof StorageError && error.away;

export function createRegistry(
  stores: IssuerStores,
  { isShared, ...options }: Omit<SharedOptions, "issuers"> & Pick<Issuers, "isShared">,
): Registry {
  const issuers = new Map<string | null, Issuer>();
  /** Why an issuer with this name is not open. */
  const broken = new Map<string, unknown>();
  const inTurn = createTurns();
  let inBackground = false;
  let isCommand = false;
  /** The issuer that was opened first: that of the command, or the first one of the server. */
  let main: Issuer | null = null;

  const mainContext = (): Issuer["ctx"] => {
    if (main === null) throw new Error("no issuer is open");
    return main.ctx;
  };
  const names = (): readonly string[] => [...issuers.keys(), ...broken.keys()].filter((name) => name !== null).sort();
  const placeOf = (name: string): string => addressOf(firstAddress(mainContext().address, main?.name ?? null), name);

  async function view(name: string): Promise<IssuerView> {
    const issuer = issuers.get(name);
    if (issuer !== undefined) return viewOf(name, issuer.ctx);
    if (!broken.has(name)) throw unknownIssuer(name, names());
    return brokenView(name, placeOf(name), broken.get(name));
  }

  async function open(
    name: string | null,
    how: Pick<IssuerOptions, "origin" | "address" | "fixtures" | "check" | "onProgress" | "tester">,
  ): Promise<Issuer> {
    const log = (note: string): void => shared.log(name === null ? note : `issuer ${name}: ${note}`);
    const issuer = await openIssuer(stores, { ...shared, ...how, name, log: isCommand ? shared.log : log });
    main ??= issuer;
    issuers.set(name, issuer);
    if (inBackground) issuer.startBackground();
    return issuer;
  }

  /** @param fixtures absent for those of the first issuer */
  const openBeside = (
    name: string,
    origin: Origin,
    fixtures: IdpOptions["fixtures"],
    addedBy?: string,
  ): Promise<Issuer> =>
    open(name, {
      ...{ origin, fixtures: fixtures ?? asFirst, address: () => placeOf(name) },
      ...(addedBy !== undefined && {
        tester: {
          name: addedBy,
          reach: fixtures === undefined ? undefined : reachOfRegistered(mainContext().settings),
        },
      }),
    });

  /** @throws {OperationError} conflict, if a tester has this many issuers */
  function refuseMore(tester: string, limit: number): void {
    const own = [...issuers].flatMap(([name, { ctx }]) => (name !== null && ctx.addedBy === tester ? name : []));
    if (own.length >= limit) throw tooManyIssuers(tester, maxOfTester, own[0] ?? "NAME");
  }

  async function drop(name: string): Promise<void> {
    const issuer = issuers.get(name);
    // First, so that no request finds it.
    issuers.delete(name);
    broken.delete(name);
    issuer?.endWaits();
    await issuer?.close();
  }

  /** The fixtures of an issuer without its own: those that the first issuer uses. */
  const asFirst = (): readonly AnyFixtures[] => mainContext().fixtures.sources();

  /** Opens an issuer. A broken one is reported, and the server goes on. */
  async function tryOpen(name: string, origin: Origin, fixtures?: IdpOptions["fixtures"]): Promise<void> {
    try {
      await openBeside(name, origin, fixtures);
    } catch (error) {
      broken.set(name, error);
      // A command shows it among the issuers.
      if (isCommand) return;
      shared.log(`issuer ${name} is not available: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Opens and closes the issuers that other processes made and removed, and for a command those of the data. */
  async function follow(): Promise<void> {
    if (!isShared && !isCommand) return;
    const there = await stores.names();
    for (const name of there) {
      const isUnread = broken.has(name) && !isAway(broken.get(name));
      if (issuers.has(name) || isUnread) continue;
      broken.delete(name);
      await tryOpen(name, isCommand ? "command" : "found");
    }
    for (const name of names()) if (!there.includes(name)) await drop(name);
  }

  const registry: Registry = {
    isShared,
    async start({ alike, ...first }) {
      const issuer = await open(null, { ...first, origin: "start" });
      const declared = await issuersIn(issuer.ctx.fixtures.sources());
      for (const name of alike) await tryOpen(name, declared.has(name) ? "made" : "start", declared.get(name));
      for (const [name, own] of declared) if (!alike.includes(name)) await tryOpen(name, "made", own);
      for (const name of await stores.names()) if (!names().includes(name)) await tryOpen(name, "found");
      return issuer;
    },
    async use(name, options) {
      isCommand = true;
      const there = name === null ? [] : await stores.names();
      if (name !== null && !there.includes(name)) throw unknownIssuer(name, there);
      return open(name, { ...options, origin: "command" });
    },
    names,
    find: (name) => issuers.get(name),
    async look(name) {
      const isThere = (await stores.names()).includes(name);
      if (isThere !== issuers.has(name)) await inTurn(follow);
      if (isAway(broken.get(name))) throw broken.get(name);
      return issuers.get(name);
    },
    open: () => issuers.values(),
    async list() {
      await inTurn(follow);
      return Promise.all(names().map(view));
    },
    async show(name) {
      await inTurn(follow);
      return view(name);
    },
    add: (name, fixtures, addedBy) =>
      inTurn(async () => {
        checkIssuerName(name);
        await follow();
        if (addedBy !== undefined) refuseMore(addedBy, maxOfTester);
        if (issuers.has(name) || broken.has(name) || !(await stores.claim(name))) throw issuerExists(name);
        try {
          const { ctx } = await openBeside(name, fixtures === undefined ? "start" : "made", fixtures, addedBy);
          if (isCommand) await ctx.passwords.settle();
          await stores.confirm(name);
          // Another instance may have added one meanwhile.
          if (addedBy !== undefined && isShared) {
            await follow();
            refuseMore(addedBy, maxOfTester + 1);
          }
        } catch (error) {
          await drop(name);
          // A database that does not answer keeps what is unfinished, until the name is claimed again.
          if (!isAway(error)) await stores.remove(name);
          throw error;
        }
        return view(name);
      }),
    async apply(name, sources, how) {
      if (isCommand) await inTurn(follow);
      const issuer = issuers.get(name);
      if (issuer === undefined) throw unknownIssuer(name, names());
      await applyTo(issuer.ctx, sources, how);
    },
    remove: (name) =>
      inTurn(async () => {
        await follow();
        if (!issuers.has(name) && !broken.has(name)) throw unknownIssuer(name, names());
        await drop(name);
        await stores.remove(name);
      }),
    startBackground() {
      inBackground = true;
      for (const issuer of issuers.values()) issuer.startBackground();
    },
    endWaits() {
      for (const issuer of issuers.values()) issuer.endWaits();
    },
    close: () =>
      inTurn(async () => {
        const closing = await Promise.allSettled([...issuers.values()].map((issuer) => issuer.close()));
        for (const outcome of closing) if (outcome.status === "rejected") throw outcome.reason;
      }),
  };
  const shared: SharedOptions = { ...options, issuers: registry };
  return registry;
}
