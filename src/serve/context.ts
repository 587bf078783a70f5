import { authorizationPurpose } from "../core/protocol/authorize/purpose.ts";
import { createAttempts } from "../core/base/attempts.ts";
import { brandOf, type Brand } from "../core/base/brand/brand.ts";
import type { Context, OnToken, Settings } from "../core/context.ts";
import { derive } from "../core/base/derived.ts";
import { createInspectorAccess, openerOf } from "../core/records/inspector/access.ts";
import { addedBy, movedAddress, rememberedIssuer } from "../core/records/issuers/issuer.ts";
import { sameJson } from "../text/json.ts";
import { createFetchedKeys } from "../core/records/keys/fetched-keys.ts";
import { openKeyRing } from "../core/records/keys/keys.ts";
import { addressBefore, issuerOf, layoutsOf, type Layout } from "../core/base/layout/layout.ts";
import { builtInScopes } from "../core/records/scopes/scopes.ts";
import { reachOfRegistered } from "../core/base/outbound.ts";
import { createFaults } from "../core/testing/controls/faults/faults.ts";
import { createClientDocuments } from "../core/admin/register/documents.ts";
import { createLedger } from "../core/testing/ledger/requests.ts";
import { createProvisioningTurns } from "../core/base/turns.ts";
import { createSharedLedger, followCleared, joinInstances } from "../core/testing/ledger/shared.ts";
import type { Ledger } from "../core/testing/ledger/ledger.ts";
import { createTrustedIssuers } from "../core/protocol/trust/trusted-issuers.ts";
import { samlPurpose } from "../core/saml/purpose.ts";
import { admin, type ControlToken } from "../core/records/operators/roles.ts";
import type { ReadTx } from "../store/store.ts";
import { effectiveSettings, storedSettings } from "../core/admin/settings/in-force.ts";

const purposeOfRequest: Context["purposeOfRequest"] = (record) =>
  record.kind === "saml" ? samlPurpose(record) : authorizationPurpose(record);

interface ContextOptions extends Pick<
  Context,
  "store" | "clock" | "random" | "passwords" | "fixtures" | "issuers" | "log"
> {
  /** The name of the issuer; null: the first one. */
  readonly name: string | null;
  /** The admin token. Absent: a command, which opens no inspector. */
  readonly owner?: ControlToken | undefined;
  readonly onToken?: OnToken | undefined;
  /** Settings that override those of the fixtures. */
  readonly settings: Partial<Settings>;
  /** Whether this is a server, whose requests others on the same store see. */
  readonly isServer: boolean;
  /** Whether any host name is answered. Then there is no picker: a page whose name points at this machine could sign in with a click. */
  readonly anyHost: boolean;
  /**
   * Chooses the address, exactly as it is used; it may be the issuer.
   * @param last the issuer that the data was last served under; null: it never was
   */
  readonly address: (last: string | null) => string;
}

/** What the records say about where an issuer is and how it works. */
interface StoredIdentity {
  readonly settings: Settings;
  readonly brand: Brand;
  readonly layouts: readonly [Layout, ...Layout[]];
  readonly address: string;
  /** The issuer that the data was last served under. */
  readonly remembered: string | null;
  /** The tester who added it. */
  readonly addedBy: string | null;
}

/** Composes what operations on an issuer take. Only this function does, for a server and for a command that works on the data. */
export async function composeContext(options: ContextOptions): Promise<Context> {
  const { store, clock, random } = options;
  const { now } = clock;

  function loopbackOfFirst(): Pick<Settings, "registration_loopback" | "client_metadata_loopback"> {
    const first = [...options.issuers.open()].find(({ name }) => name === null)?.ctx.settings;
    return {
      registration_loopback: first?.registration_loopback ?? false,
      client_metadata_loopback: first?.client_metadata_loopback ?? false,
    };
  }

  function serve(tx: ReadTx, before: StoredIdentity | undefined): StoredIdentity {
    const owner = addedBy(tx);
    const settings = {
      ...effectiveSettings(storedSettings(tx), options.settings),
      // A tester does not decide where this server sends requests.
      ...(owner !== null && loopbackOfFirst()),
    };
    // The routes are made for these layouts, so they are only replaced if the endpoints changed.
    const remembered = rememberedIssuer(tx);
    const layouts =
      before !== undefined && sameJson(before.settings.endpoints, settings.endpoints)
        ? before.layouts
        : layoutsOf(settings.endpoints, options.name, options.address(remembered));
    const chosen = before?.address ?? addressBefore(options.address(remembered), layouts[0]);
    const isMoved = before !== undefined && remembered !== before.remembered;
    const address = isMoved ? movedAddress(chosen, remembered, layouts[0]) : chosen;
    const isSameBrand = before !== undefined && sameJson(before.settings.brand, settings.brand);
    const brand = isSameBrand ? before.brand : brandOf(settings.brand);
    return { settings, brand, layouts, address, remembered, addedBy: owner };
  }
  const served = await derive(store, ["meta"], serve);

  const scopes = await derive(
    store,
    ["scopes"],
    (tx) => new Set<string>([...builtInScopes, ...[...tx.all("scopes")].map(({ name }) => name)]),
  );

  const isScope = (name: string): boolean =>
    scopes.value.has(name) || served.value.layouts[0].scopes?.names.includes(name) === true;

  async function openLedger(): Promise<Ledger> {
    const size = (): number => served.value.settings.ledger;
    const shared = { size, real: clock.real, isScope };
    if (store.requests === undefined || !options.isServer) return createLedger({ ...shared, key: random(32) });
    const own = await joinInstances(store, random(32));
    return createSharedLedger((onDropped) => createLedger({ ...shared, ...own, onDropped }), store.requests, {
      ...{ size, real: clock.real, name: own.name, store, log: options.log },
      cleared: await followCleared(store, clock.real),
    });
  }

  const fetchedKeys = createFetchedKeys(clock.unmoved);
  const services = {
    ...{ store, clock, now, random },
    passwords: options.passwords,
    fixtures: options.fixtures,
    issuers: options.issuers,
    log: options.log,
    flags: options.settings,
    onToken: options.onToken ?? null,
    purposeOfRequest,
    keys: await openKeyRing(store, now, random),
    attempts: createAttempts(clock.unmoved),
    documents: createClientDocuments(() => context),
    inspector: await createInspectorAccess(store, {
      ...{ now: clock.unmoved, random },
      owner: openerOf(options.owner ?? { ...admin, token: random(24) }),
    }),
    ledger: await openLedger(),
    faults: await createFaults(store),
    fetchedKeys,
    provisioning: createProvisioningTurns(),
    trusted: createTrustedIssuers({
      ...{ store, issuers: options.issuers, fetchedKeys },
      settings: () => served.value.settings,
      reach: () => (served.value.addedBy === null ? "local" : reachOfRegistered(served.value.settings)),
    }),
  };
  /** @param layout by whose paths a request came */
  const contextAt = (layout: () => Layout): Context => ({
    ...services,
    get address() {
      return served.value.address;
    },
    get issuer() {
      return issuerOf(served.value.address, layout());
    },
    get layout() {
      return layout();
    },
    get layouts() {
      return served.value.layouts;
    },
    get settings() {
      return served.value.settings;
    },
    get addedBy() {
      return served.value.addedBy;
    },
    get brand() {
      return served.value.brand;
    },
    get offersPicker() {
      return served.value.settings.login !== "password" && !options.anyHost;
    },
    at: (other) => contextAt(() => other),
  });
  const context = contextAt(() => served.value.layouts[0]);
  return context;
}
