/*
 * core/admin/transfer: the state as a file. export.ts writes it, import.ts reads it with check.ts, schema.ts says what it must contain, and
 * ended.ts keeps what the server that wrote it had ended.
 */
import type { Client, CollectionName, ReadTx, User } from "../../../store/store.ts";
import { metadataOf, withoutToken } from "../../records/clients/admin.ts";
import { grantTypesOf } from "../../records/clients/clients.ts";
import type { FixtureClient } from "../../protocol/client-metadata/schema.ts";
import type { Context, Settings } from "../../context.ts";
import { normalizeUser, someDay } from "../fixtures/normalize.ts";
import type { FixtureUser } from "../../records/users/schema.ts";
import { sameJson } from "../../../text/json.ts";
import type { FixtureFile } from "../fixtures/schema.ts";
import { singleClaim } from "../../records/scopes/claims.ts";
import { isDefined, mayAsk } from "../../records/scopes/scopes.ts";
import {
  exportForms,
  stateCollections,
  stateFormat,
  stateVersion,
  type StateDocument,
} from "../../testing/state/state.ts";
import { fieldsOf } from "../../records/users/users.ts";
import { effectiveSettings, storedSettings } from "../settings/in-force.ts";

/**
 * All data as one document, with secrets, password hashes and private keys, from which {@link importState} makes the same data.
 * @param input `as`: "fixtures" for a fixture file, which has no passwords, keys, sessions and revoked grants; `secrets`: with the
 * secrets of one-time codes and the tokens of SCIM servers
 */
export async function exportState(
  ctx: Context,
  input: { readonly as?: (typeof exportForms)[number] | undefined; readonly secrets?: boolean | undefined },
): Promise<StateDocument | FixtureFile> {
  if (input.as === "fixtures") return ctx.store.read((tx) => fixturesIn(tx, ctx, { secrets: input.secrets === true }));
  // Only this process knows a password that is not hashed yet.
  await ctx.passwords.settle();
  // An import requires it (import.ts).
  await ctx.keys.signing("RS256");
  return ctx.store.read((tx) => {
    const records = Object.fromEntries(stateCollections.map((name) => [name, recordsOf(tx, name, ctx.clock.passed())]));
    return { format: stateFormat, schemaVersion: stateVersion, ...records } as unknown as StateDocument;
  });
}

/** The records of a collection, also those that are hidden only because the clock is ahead. @param passed milliseconds; what ended by then is over for good */
const recordsOf = (tx: ReadTx, name: CollectionName, passed: number) =>
  (tx.everything(name) as readonly { readonly expiresAt?: number }[]).filter(
    ({ expiresAt = Infinity }) => expiresAt > passed,
  );

/** Whether the person who seeds a file with it vouches for a client: it did not register itself, and has no metadata document. */
export const isVouchedFor = ({ registrationTokenHash, fromDocument }: Client): boolean =>
  registrationTokenHash === undefined && fromDocument === undefined;

/** The fields of a record that a fixture without them would not have. */
function withoutDefaults<T extends object>(record: T, defaults: object): Partial<T> {
  const given = Object.entries(record).filter(([name, value]) => !sameJson(value, Reflect.get(defaults, name)));
  return Object.fromEntries(given) as Partial<T>;
}

function userIn(user: User, secrets: boolean): FixtureUser {
  const { username, createdAt, avatar } = user;
  const usual = { ...fieldsOf(normalizeUser({ username, createdAt }, null, () => false)), createdAt: someDay };
  const given = withoutDefaults(fieldsOf(user), usual);
  return {
    username,
    ...given,
    ...(given.avatar !== undefined && { avatar: withoutDefaults(avatar, usual.avatar) }),
    ...(secrets && user.otp_secret !== undefined && { otp_secret: user.otp_secret }),
  };
}

function clientIn(client: Client, secrets: boolean): FixtureClient {
  const { redirect_uris: uris, grant_types: types, scim, ...metadata } = metadataOf(client);
  const isUsual = sameJson(types, grantTypesOf({ ...client, grant_types: undefined }));
  return {
    ...metadata,
    ...(uris.length > 0 && { redirect_uris: uris }),
    ...(scim !== undefined && { scim: secrets ? scim : withoutToken(scim) }),
    ...(types !== undefined && !isUsual && { grant_types: types }),
  } as FixtureClient;
}

/** Each with what counts in its place if the fixtures leave it out, where a vendor's endpoints decide that too. */
function settingsIn(settings: Partial<Settings>): Partial<Settings> {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => {
      const { [name as keyof Settings]: _, ...others } = settings;
      return !sameJson(value, effectiveSettings(others, {})[name as keyof Settings]);
    }),
  );
}

/** The data as a fixture file: what a person would write, without fields that have their default. */
export function fixturesIn(
  tx: ReadTx,
  ctx: Pick<Context, "layout">,
  { secrets }: { readonly secrets: boolean },
): FixtureFile {
  const clients = [...tx.all("clients")].filter(isVouchedFor);
  const vouchedFor = new Map(clients.map((client) => [client.client_id, client]));
  const grants = [...tx.all("grants")].flatMap(({ userId, clientId, scopes: all, status }) => {
    const [user, client] = [tx.get("users", userId), vouchedFor.get(clientId)];
    if (user === undefined || client === undefined || status !== "active") return [];
    // Without what a fixture cannot have: single claims (OpenID Connect Core 5.5), and scopes that the client may no longer ask for.
    const scopes = all.filter((name) => isDefined(tx, ctx, name) && mayAsk(client, name));
    return scopes.length === 0 ? [] : [{ user: user.username, client: clientId, scope: scopes.join(" ") }];
  });
  // In earlier versions a fixture could define the scope of a single claim.
  const own = [...tx.all("scopes")].filter(({ name }) => singleClaim(name) === null);
  const scopes = own.map(
    ({ name, ...scope }) => [name, withoutDefaults(scope, { description: {}, claims: [] })] as const,
  );
  const { workloads, ...settings } = storedSettings(tx);
  const file = {
    users: [...tx.all("users")].map((user) => userIn(user, secrets)),
    clients: clients.map((client) => clientIn(client, secrets)),
    scopes: Object.fromEntries(scopes),
    grants,
    settings: settingsIn(settings),
    ...(workloads !== undefined && { workloads }),
  };
  return file;
}
