import { issuersIn } from "../core/fixtures/apply/issuers.ts";
import type { AnyFixtures } from "../core/fixtures/read/source.ts";
import { applyTo } from "../core/issuers/apply.ts";
import { brokenView, checkIssuerName, issuerExists, unknownIssuer, viewOf } from "../core/issuers/issuer.ts";
import { addressOf, type Issuers, type IssuerView } from "../core/issuers/issuer-view.ts";
import { createTurns } from "../core/turns.ts";
import type { Stores } from "../store/stores.ts";
import { openIssuer, type Issuer, type SharedOptions } from "./issuer.ts";
import type { IdpOptions } from "./options.ts";

/** The issuers of a process, by their names. */
export interface Registry extends Issuers {
  /**
   * Opens the first issuer, then those of its fixtures, of the data, and `alike`, which begin with the same fixtures. A broken one is
   * reported, and the others still open.
   */
  start(
    first: Pick<Parameters<typeof openIssuer>[1], "address" | "isDefault" | "fixtures" | "onProgress"> & {
      readonly alike: readonly string[];
    },
  ): Promise<Issuer>;
  /** As in {@link Issuers}, and with all that the library accepts as fixtures. */
  add(name: string, fixtures: IdpOptions["fixtures"]): Promise<IssuerView>;
  /** The names of {@link list}. */
  names(): readonly string[];
  /** The open issuer with this name. */
  find(name: string | null): Issuer | undefined;
  /** The same, after checking which issuers other processes on the data made and removed. @throws {StorageError} */
  look(name: string): Promise<Issuer | undefined>;
  /** Starts the work in the background, of open issuers and of later ones. */
  startBackground(): void;
  endWaits(): void;
  close(): Promise<void>;
}

export function createRegistry(stores: Stores, options: Omit<SharedOptions, "issuers">): Registry {
  const issuers = new Map<string | null, Issuer>();
  /** Why an issuer with this name is not open. */
  const broken = new Map<string, unknown>();
  const inTurn = createTurns();
  let inBackground = false;

  const first = (): Issuer => {
    const issuer = issuers.get(null);
    if (issuer === undefined) throw new Error("the first issuer is not open");
    return issuer;
  };
  const names = (): readonly string[] => [...issuers.keys(), ...broken.keys()].filter((name) => name !== null).sort();
  const placeOf = (name: string): string => addressOf(first().ctx.address, name);

  async function view(name: string): Promise<IssuerView> {
    const issuer = issuers.get(name);
    if (issuer !== undefined) return viewOf(name, issuer.ctx);
    if (!broken.has(name)) throw unknownIssuer(name, names());
    return brokenView(name, placeOf(name), broken.get(name));
  }

  /** @param fixtures absent for those of the first issuer */
  async function open(name: string, fixtures: IdpOptions["fixtures"], isFound = false): Promise<void> {
    const own = { fixtures: fixtures ?? asFirst, isAsFirst: fixtures === undefined, isFound };
    const issuer = await openIssuer(stores, { ...shared, ...own, name, address: placeOf(name) });
    issuers.set(name, issuer);
    if (inBackground) issuer.startBackground();
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
  const asFirst = (): readonly AnyFixtures[] => first().ctx.fixtures.sources();

  /** Opens an issuer. A broken one is reported, and the server goes on. */
  const tryOpen = (name: string, fixtures: IdpOptions["fixtures"], isFound: boolean): Promise<void> =>
    open(name, fixtures, isFound).catch((error: unknown) => {
      broken.set(name, error);
      shared.log(`issuer ${name} is not available: ${error instanceof Error ? error.message : String(error)}`);
    });

  /** Opens and closes the issuers that other processes made and removed. */
  async function follow(): Promise<void> {
    if (!shared.isShared) return;
    const there = await stores.names();
    for (const name of there) if (!issuers.has(name)) await tryOpen(name, undefined, true);
    for (const name of names()) if (!there.includes(name)) await drop(name);
  }

  const registry: Registry = {
    isShared: options.isShared,
    async start({ alike, ...options }) {
      const issuer = await openIssuer(stores, { ...shared, ...options, name: null });
      issuers.set(null, issuer);
      const declared = await issuersIn(issuer.ctx.fixtures.sources());
      const there = await stores.names();
      for (const name of new Set([...alike, ...declared.keys(), ...there])) {
        await tryOpen(name, declared.get(name), !alike.includes(name) && !declared.has(name));
      }
      return issuer;
    },
    names,
    find: (name) => issuers.get(name),
    async look(name) {
      const isThere = (await stores.names()).includes(name);
      if (isThere !== issuers.has(name)) await inTurn(follow);
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
    add: (name, fixtures) =>
      inTurn(async () => {
        checkIssuerName(name);
        await follow();
        if (issuers.has(name) || broken.has(name) || !(await stores.claim(name))) throw issuerExists(name);
        try {
          await open(name, fixtures);
          await stores.confirm(name);
        } catch (error) {
          await drop(name);
          await stores.remove(name);
          throw error;
        }
        return view(name);
      }),
    async apply(name, sources, how) {
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
