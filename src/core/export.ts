import type { ReadTx } from "../store/store.ts";
import { metadataOf } from "./clients-admin.ts";
import type { Context } from "./context.ts";
import { OperationError } from "./errors.ts";
import type { FixtureFile } from "./fixtures/schema.ts";
import { singleClaim } from "./claims.ts";
import { isDefined, mayAsk } from "./scopes.ts";
import { storedSettings } from "./settings.ts";
import { stateCollections, stateFormat, stateVersion, type StateDocument } from "./state.ts";
import { fieldsOf } from "./users.ts";

/**
 * All there is as one document, secrets, password hashes and private keys included: {@link importState} makes the same data of it.
 * @param input `as`: "fixtures" for a fixture file, which has no passwords, keys, sessions and revoked grants
 * @throws {OperationError} usage
 */
export async function exportState(
  ctx: Context,
  input: { readonly as?: string | undefined },
): Promise<StateDocument | FixtureFile> {
  if (input.as === "fixtures") return ctx.store.read(asFixtures);
  if (input.as !== undefined && input.as !== "state") {
    throw new OperationError("usage", `an export is not made as "${input.as}"`, { hint: "One of: state, fixtures" });
  }
  // A password that still waits to be hashed is known to this process alone.
  await ctx.passwords.settle();
  // An import wants it (import.ts).
  await ctx.keys.signing("RS256");
  return ctx.store.read((tx) => {
    const records = Object.fromEntries(stateCollections.map((name) => [name, [...tx.all(name)]]));
    return { format: stateFormat, schemaVersion: stateVersion, ...records } as unknown as StateDocument;
  });
}

/** Without clients that registered themselves: whoever seeds the file vouches for what is in it. */
function asFixtures(tx: ReadTx): FixtureFile {
  const clients = [...tx.all("clients")].filter(({ registrationTokenHash }) => registrationTokenHash === undefined);
  const vouchedFor = new Map(clients.map((client) => [client.client_id, client]));
  const grants = [...tx.all("grants")].flatMap(({ userId, clientId, scopes: all, status }) => {
    const [user, client] = [tx.get("users", userId), vouchedFor.get(clientId)];
    if (user === undefined || client === undefined || status !== "active") return [];
    // What a fixture cannot say: single claims (OpenID Connect Core 5.5), and what the client may ask for no longer.
    const scopes = all.filter((name) => isDefined(tx, name) && mayAsk(client, name));
    return scopes.length === 0 ? [] : [{ user: user.username, client: clientId, scope: scopes.join(" ") }];
  });
  // Earlier versions let a fixture define what is a single claim's.
  const own = [...tx.all("scopes")].filter(({ name }) => singleClaim(name) === null);
  const scopes = own.map(({ name, ...scope }) => [name, scope] as const);
  const file = {
    users: [...tx.all("users")].map(fieldsOf),
    clients: clients.map(metadataOf),
    scopes: Object.fromEntries(scopes),
    grants,
    settings: storedSettings(tx),
  };
  return file;
}
