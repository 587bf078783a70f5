/*
 * core/transfer: the state as a file. export.ts writes it, import.ts reads it with check.ts, schema.ts says what it must contain, and
 * ended.ts keeps what the server that wrote it had ended.
 */
import type { CollectionName, ReadTx } from "../../store/store.ts";
import { metadataOf } from "../clients/admin.ts";
import type { Context } from "../context.ts";
import type { FixtureFile } from "../fixtures/schema.ts";
import { singleClaim } from "../scopes/claims.ts";
import { isDefined, mayAsk } from "../scopes/scopes.ts";
import { storedSettings } from "../settings.ts";
import { exportForms, stateCollections, stateFormat, stateVersion, type StateDocument } from "../state/state.ts";
import { fieldsOf } from "../users/users.ts";

/**
 * All data as one document, with secrets, password hashes and private keys, from which {@link importState} makes the same data.
 * @param input `as`: "fixtures" for a fixture file, which has no passwords, keys, sessions and revoked grants
 */
export async function exportState(
  ctx: Context,
  input: { readonly as?: (typeof exportForms)[number] | undefined },
): Promise<StateDocument | FixtureFile> {
  if (input.as === "fixtures") return ctx.store.read(asFixtures);
  // Only this process knows a password that is not hashed yet.
  await ctx.passwords.settle();
  // An import requires it (import.ts).
  await ctx.keys.signing("RS256");
  return ctx.store.read((tx) => {
    const records = Object.fromEntries(stateCollections.map((name) => [name, recordsOf(tx, name, ctx.clock.passed())]));
    return { format: stateFormat, schemaVersion: stateVersion, ...records } as unknown as StateDocument;
  });
}

/** Also records that are hidden only because the clock is ahead. @param passed milliseconds; what ended by then is over for good */
const recordsOf = (tx: ReadTx, name: CollectionName, passed: number) =>
  (tx.everything(name) as readonly { readonly expiresAt?: number }[]).filter(
    ({ expiresAt = Infinity }) => expiresAt > passed,
  );

/** Without clients that registered themselves or have a metadata document: the person who seeds the file vouches for its clients. */
function asFixtures(tx: ReadTx): FixtureFile {
  const clients = [...tx.all("clients")].filter(
    ({ registrationTokenHash, fromDocument }) => registrationTokenHash === undefined && fromDocument === undefined,
  );
  const vouchedFor = new Map(clients.map((client) => [client.client_id, client]));
  const grants = [...tx.all("grants")].flatMap(({ userId, clientId, scopes: all, status }) => {
    const [user, client] = [tx.get("users", userId), vouchedFor.get(clientId)];
    if (user === undefined || client === undefined || status !== "active") return [];
    // Without what a fixture cannot have: single claims (OpenID Connect Core 5.5), and scopes that the client may no longer ask for.
    const scopes = all.filter((name) => isDefined(tx, name) && mayAsk(client, name));
    return scopes.length === 0 ? [] : [{ user: user.username, client: clientId, scope: scopes.join(" ") }];
  });
  // In earlier versions a fixture could define the scope of a single claim.
  const own = [...tx.all("scopes")].filter(({ name }) => singleClaim(name) === null);
  const scopes = own.map(({ name, ...scope }) => [name, scope] as const);
  const { workloads, ...settings } = storedSettings(tx);
  const file = {
    users: [...tx.all("users")].map(fieldsOf),
    clients: clients.map(metadataOf),
    scopes: Object.fromEntries(scopes),
    grants,
    settings,
    ...(workloads !== undefined && { workloads }),
  };
  return file;
}
