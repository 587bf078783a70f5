import type { ReadTx, Store } from "../../../store/store.ts";
import { baseOf } from "../../base/endpoints.ts";
import type { FixtureSource } from "../../base/fixture-files/source.ts";
import type { InspectorAccess } from "../inspector/access.ts";
import type { Layout } from "../../base/layout/layout.ts";

/** The issuers that `idp check` makes for itself. */
export const checkIssuer = /^check-(?:client|api|sp|scim|leaver)$/;

/** The address of an issuer. @param first that of the first issuer @param name null: the first issuer itself */
export const addressOf = (first: string, name: string | null): string =>
  name === null ? first : `${baseOf(first)}${pathOfName(name)}`;

/** The reverse of {@link addressOf}. */
export function firstAddress(address: string, name: string | null): string {
  const path = name === null ? "" : pathOfName(name);
  return address.endsWith(path) ? address.slice(0, address.length - path.length) : address;
}

/** Below the first issuer. */
export const pathOfName = (name: string): string => `/i/${name}`;

/** An issuer as `idp issuers` shows it. */
export interface IssuerView {
  readonly name: string;
  readonly issuer: string;
  /** Where the data is: a whole path, or "memory"; null: it could not be opened. */
  readonly data: string | null;
  readonly users: number;
  readonly clients: number;
  /** Active ones. */
  readonly grants: number;
  /** Why it could not be opened; null: it works. */
  readonly problem: string | null;
  /** The tester who added it; absent: an admin, or the start. */
  readonly addedBy?: string;
}

/** Counts the records of an issuer. */
export function recordsIn(tx: ReadTx): Pick<IssuerView, "users" | "clients" | "grants"> {
  let grants = 0;
  for (const grant of tx.all("grants")) if (grant.status === "active") grants += 1;
  return { users: tx.count("users"), clients: tx.count("clients"), grants };
}

/** What other issuers of the process may know of one. */
interface IssuerContext {
  readonly address: string;
  readonly issuer: string;
  readonly layout: Layout;
  readonly store: Store;
  readonly inspector: InspectorAccess;
}

/** An issuer of the process that is open. */
export interface OpenIssuer<C extends IssuerContext = IssuerContext> {
  /** Null: the first issuer. */
  readonly name: string | null;
  readonly ctx: C;
}

/** The issuers beside the first one, of a process or of a data folder. */
export interface Issuers<C extends IssuerContext = IssuerContext> {
  /** Whether other servers may serve the same issuers. */
  readonly isShared: boolean;
  /** All issuers, in the order of their names. */
  list(): Promise<readonly IssuerView[]>;
  /** @throws {OperationError} not_found */
  show(name: string): Promise<IssuerView>;
  /**
   * Makes an issuer.
   * @param sources its fixtures; absent: those of the first issuer
   * @param addedBy the tester who adds it, and whose it is
   * @throws {OperationError} usage, if the name is not valid; conflict, if the name is taken; invalid (fixtures)
   */
  add(name: string, sources: readonly FixtureSource[] | undefined, addedBy?: string): Promise<IssuerView>;
  /**
   * Applies fixtures to an issuer that exists: once, or as those that it uses from now on.
   * @throws {OperationError} not_found; invalid (fixtures)
   */
  apply(name: string, sources: readonly FixtureSource[], how: "seed" | "change"): Promise<void>;
  /** Removes an issuer and all of its data. @throws {OperationError} not_found */
  remove(name: string): Promise<void>;
  /** The issuers that are open, with the first one. */
  open(): Iterable<OpenIssuer<C>>;
  /** The open issuer with this name, after checking which issuers other processes made and removed. @throws {StorageError} */
  look(name: string): Promise<OpenIssuer<C> | undefined>;
}
