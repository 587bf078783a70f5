/*
 * core: OAuth, OpenID Connect, SAML and SCIM, without Express or files, in eight wings. A wing imports only those above it:
 *
 *   base      errors and hints, forms of names, the clock, XML, fixture files, requests that this server sends
 *   records   what is kept: keys, clients, users, scopes, operators, issuers, service providers
 *   sign-in   how somebody signs in: sessions, login, factors, consent, grants
 *   protocol  OAuth and OpenID Connect: authorize, tokens, logout, device, discovery, trust
 *   saml      this issuer as a SAML identity provider
 *   scim      pushes users and groups to apps
 *   testing   ledger, faults, flaws, expire, snapshots
 *   admin     settings, seeds, transfer, registration, operations
 *
 * In a wing, a folder is a floor: its files import lower floors and each other (`npm run check:order`). What two floors need from each other goes
 * below both, or is handed in.
 *
 * Every function takes a `Context` (store, keys, settings, clock, randomness) and typed input. It returns a result or throws: `OAuthError` for
 * the protocol, `OperationError` for an operator (base/errors.ts), each with the next step (base/hint.ts, records/fix-commands.ts). src/http and
 * src/cli turn both into responses. The type `Context` is here; src/serve/context.ts composes one.
 */
import type { Store, Tx } from "../store/store.ts";
import type { Settings } from "./admin/settings/table.ts";
import type { Brand } from "./base/brand/brand.ts";
import type { Attempts } from "./base/attempts.ts";
import type { ClientDocuments } from "./records/clients/document-types.ts";
import type { FetchedKeys, KeyRing } from "./records/keys/keys.ts";
import type { Faults } from "./testing/controls/faults/faults.ts";
import type { Issuers } from "./records/issuers/issuer-view.ts";
import type { InspectorAccess } from "./records/inspector/access.ts";
import type { Layout } from "./base/layout/layout.ts";
import type { Clock } from "./base/clock.ts";
import type { TrustedIssuers } from "./protocol/trust/trust.ts";
import type { Turns, ProvisioningTurns } from "./base/turns.ts";
import type { AnyFixtures, FixtureDocument } from "./base/fixture-files/source.ts";
import type { Ledger } from "./testing/ledger/ledger.ts";
import type { PendingPasswords } from "./sign-in/login/pending-passwords.ts";

export type { Settings };

/** The fixtures that the data is served with. */
export interface FixturesInUse {
  /** As they were last applied. @throws {OperationError} invalid, where they are files that cannot be read */
  sources(): readonly AnyFixtures[];
  /** The same; files that the server was started with are read again. @throws {OperationError} invalid, if they cannot be read */
  latest(): Promise<readonly AnyFixtures[]>;
  /** The latest ones, to apply them to the data or to compare them with it. @throws {OperationError} usage: they are the demo, and the data is not */
  toApply(): Promise<readonly AnyFixtures[]>;
  /**
   * Records, in the transaction that applies them, that these fixtures are in use: the latest ones, or others in their place.
   * @param prepared `documents`: the sources as they were read; `key`: what their digests are made with
   * @param areOfStart the files that the server was started with, as they are now
   */
  use(
    tx: Tx,
    sources: readonly AnyFixtures[],
    prepared: { readonly documents: readonly FixtureDocument[]; readonly key: string },
    areOfStart?: boolean,
  ): void;
  /** Runs changes of the fixtures one after the other, so that the latest one wins. */
  readonly inTurn: Turns;
}

/** A note for the operator that is not a refusal: "scope x is not defined: ignored". */
type Log = (note: string) => void;

/** A token that is about to be signed. */
export interface OnTokenInput {
  readonly kind: "access" | "id";
  /** The client_id. */
  readonly client: string;
  /** The username; null: the client speaks for itself. */
  readonly user: string | null;
}

type AddedClaims = Readonly<Record<string, unknown>> | undefined;

/** Returns the claims to add. If it throws, nothing is issued, and the response is 500. */
export type OnToken = (token: OnTokenInput) => AddedClaims | Promise<AddedClaims>;

/**
 * Everything that an operation needs from outside. Core itself reads no clock, no random source and no environment. `sign-in/purpose.ts` adds
 * `purposeOfRequest`.
 */
export interface Context {
  /** The URL that everything is served under. Its scheme, host and port may change while the server runs. */
  readonly address: string;
  /** The name of this server in tokens: its address, and with a vendor's endpoints the vendor's path below it. */
  readonly issuer: string;
  /** The paths of the issuer, by the setting `endpoints`: one layout, or two on the same data for a vendor that has two issuers. */
  readonly layouts: readonly [Layout, ...Layout[]];
  /** The one by whose paths the request came. */
  readonly layout: Layout;
  /** The same data for requests by the paths of another of the layouts. */
  readonly at: (layout: Layout) => Context;
  readonly store: Store;
  readonly keys: KeyRing;
  readonly settings: Settings;
  /** The tester who added this issuer; null: an admin, or the start. Its addresses are those that a stranger may have. */
  readonly addedBy: string | null;
  /** How the pages look, by the setting `brand`. */
  readonly brand: Brand;
  /** Those of the command line or of `createIdp`, which win over those of fixtures. */
  readonly flags: Partial<Settings>;
  /** Adds claims to tokens; null: nothing. */
  readonly onToken: OnToken | null;
  /** Whether the login page lists users who sign in by a click. */
  readonly offersPicker: boolean;
  /** The time in milliseconds since 1970: that of {@link clock}. */
  readonly now: () => number;
  readonly clock: Clock;
  /** `bytes` random bytes, as base64url text. */
  readonly random: (bytes: number) => string;
  readonly passwords: PendingPasswords;
  /** Slows down guessing. */
  readonly attempts: Attempts;
  /** The clients that have a metadata document in place of a registration. */
  readonly documents: ClientDocuments;
  /** Who may use the inspector. */
  readonly inspector: InspectorAccess;
  readonly fixtures: FixturesInUse;
  /** Responses that a tester wants to be wrong. */
  readonly faults: Faults;
  /** The requests that this issuer received. */
  readonly ledger: Ledger;
  /** The issuers of the process or of the data folder, with this one. */
  readonly issuers: Issuers<Context>;
  /** Keys of others, at the addresses that they name. */
  readonly fetchedKeys: FetchedKeys;
  /** The issuers whose tokens count here. */
  readonly trusted: TrustedIssuers;
  /** The pushes to SCIM servers of apps. */
  readonly provisioning: ProvisioningTurns;
  readonly log: Log;
}
