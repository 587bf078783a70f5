import type { RequestListener } from "node:http";
import type { FixtureChange } from "./core/admin/seed/apply.ts";
import type { SeedResult } from "./core/admin/seed/seed.ts";
import type { FixtureSource } from "./core/base/fixture-files/source.ts";
import type { IssuerView } from "./core/records/issuers/issuer-view.ts";
import type { IssuerMethods } from "./issuer-methods.ts";
import type { IdpOptions } from "./serve/options.ts";

/** What a program does with a running server. */

/** An issuer of a running identity provider. */
export interface IdpIssuer extends IssuerMethods {
  /** The issuer, as tokens name it. */
  readonly issuer: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** The Express app, for supertest. */
  readonly app: RequestListener;
  /** The token for the control API. */
  readonly adminToken: string;
  /** What the fixtures added and changed. */
  readonly seeded: SeedResult;
  /**
   * Replaces the fixtures in use: applies what changed; sessions and everything else stay. From then on, {@link reset} goes back to these.
   * @throws {OperationError} invalid, with every problem; then nothing is changed
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
