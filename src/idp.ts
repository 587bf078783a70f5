import type { RequestListener } from "node:http";
import { OperationError } from "./core/errors.ts";
import { changeFixtures, type FixtureChange } from "./core/seed/apply.ts";
import { unknownIssuer } from "./core/issuers/issuer.ts";
import { runOperation } from "./core/operations/table.ts";
import { issuerMethods, type IssuerMethods } from "./issuer-methods.ts";
import type { Issuer } from "./serve/issuer.ts";
import type { Server } from "./serve/server.ts";
import { explained } from "./serve/uncaught.ts";
import type { SeedResult } from "./core/seed/seed.ts";
import type { FixtureSource } from "./core/fixture-files/source.ts";
import type { IssuerView } from "./core/issuers/issuer-view.ts";
import type { IdpOptions } from "./serve/options.ts";

/** @param server that answers requests */
export function idpOf(server: Server): Idp {
  const { issuer: first, issuers, port, app, adminToken, isClosing, closed, close, reloadPages } = server;
  /** Refuses calls after a close, when data in memory would still answer although no request reaches it. */
  const whileOpen = <T>(work: () => Promise<T>): Promise<T> =>
    explained(async () => {
      if (!isClosing()) return work();
      throw new OperationError("no_server", "this idp is closed", {
        hint: "Close it after its last use, for example in afterAll, or start another one: createIdp()",
      });
    });
  const issuerOf = (issuer: Issuer): IdpIssuer => {
    const { name, ctx, seeded } = issuer;
    const whileThere = <T>(work: () => Promise<T>): Promise<T> =>
      whileOpen(() => {
        if (issuers.find(name) === issuer) return work();
        throw new OperationError("not_found", `the issuer "${name ?? ""}" was removed`);
      });
    return {
      get issuer() {
        return ctx.issuer;
      },
      ...{ port, app, adminToken, seeded },
      ...issuerMethods((operation, input) => whileThere(() => runOperation(ctx, operation, input, { server: null }))),
      changeFixtures: (others) => whileThere(() => changeFixtures(ctx, others)),
    };
  };
  const get = (name: string): IdpIssuer => {
    const issuer = issuers.find(name);
    if (issuer === undefined) throw unknownIssuer(name, issuers.names());
    return issuerOf(issuer);
  };
  const others: IdpIssuers = {
    add: (name, { fixtures } = {}) =>
      whileOpen(async () => {
        await issuers.add(name, fixtures);
        return get(name);
      }),
    get,
    list: () => whileOpen(() => issuers.list()),
    remove: (name) => whileOpen(() => issuers.remove(name)),
  };
  return Object.assign(issuerOf(first), { issuers: others, closed, close, reloadPages });
}

/** What a program does with a running server. */

/** An issuer of a running identity provider. */
export interface IdpIssuer extends IssuerMethods {
  readonly issuer: string;
  readonly port: number;
  /** The Express app, for supertest. */
  readonly app: RequestListener;
  /** The token for the control API. */
  readonly adminToken: string;
  /** What the fixtures added and changed. */
  readonly seeded: SeedResult;
  /**
   * Replaces the fixtures in use: applies what changed; sessions and everything else stay. From then on, {@link reset} goes back to these.
   */
  changeFixtures(sources: readonly FixtureSource[]): Promise<FixtureChange>;
}

/** The issuers beside the first one. Each has its own users, clients, keys, settings, clock, faults and data. */
export interface IdpIssuers {
  /**
   * Makes an issuer at `<issuer>/i/NAME`.
   * @param options its fixtures, as for `createIdp`; absent for those of the first issuer
   * @throws {OperationError} usage if the name is not valid; conflict if the name is taken; invalid (fixtures)
   */
  add(name: string, options?: Pick<IdpOptions, "fixtures">): Promise<IdpIssuer>;
  /** @throws {OperationError} not_found */
  get(name: string): IdpIssuer;
  list(): Promise<readonly IssuerView[]>;
  /** Removes an issuer and all of its data. @throws {OperationError} not_found */
  remove(name: string): Promise<void>;
}

/** A running identity provider, and its first issuer. */
export interface Idp extends IdpIssuer {
  readonly issuers: IdpIssuers;
  /** Resolves once it is closed, whoever closed it. */
  readonly closed: Promise<void>;
  /** Reads the folder of `templates` again. If it has a mistake, the pages stay as they are. @throws {OperationError} invalid */
  reloadPages(): Promise<void>;
  /** Answers the open requests, writes everything to disk, and leaves nothing open. From then on, every other method is refused. */
  close(): Promise<void>;
}
