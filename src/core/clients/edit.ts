import type { Client } from "../../store/store.ts";
import { checkComputed, checkEntry, type Entry } from "../fixtures/schema/check-entry.ts";
import { metadataOf, removeClientRecord, requireClient, viewClient, type ClientView } from "./admin.ts";
import { isPublic } from "./clients.ts";
import type { Context } from "../context.ts";
import { withoutHosts } from "./http-hosts.ts";
import { OperationError } from "../errors.ts";
import { normalizeClient } from "../fixtures/schema/normalize.ts";
import type { FixtureClient } from "./schema.ts";
import { commandOn } from "../hint.ts";

/** Adds, changes and removes clients one at a time, by the rules of fixtures. */

/** An entry that {@link checkEntry} has let through. */
const checked = (entry: Entry): FixtureClient => entry as unknown as FixtureClient;

/** `public` is shown but cannot be set: it follows from other fields (RFC 6749 2.1). @param client after the change */
const checkPublic = (given: unknown, client: Client): void =>
  checkComputed("client", {
    field: "public",
    given,
    is: isPublic(client),
    rule: 'a client is public with the token_endpoint_auth_method "none", or without any where it has no client_secret',
  });

/** A client that names no method of authentication is confidential, as in RFC 7591 2. If it has no secret, one is generated. */
function wantsSecret({ client_secret, token_endpoint_auth_method: method }: Entry): boolean {
  return client_secret === undefined && method !== "none" && method !== "private_key_jwt";
}

/**
 * Adds a client. Unless `token_endpoint_auth_method` is "none" or "private_key_jwt", it has a secret: the given one, or a generated one.
 * @param input `entry`: a client of a fixture
 * @returns the client, with its secret if that was generated here
 * @throws {OperationError} invalid, with every problem; conflict if the id is taken
 */
export async function addClient(ctx: Context, input: { readonly entry: Entry }): Promise<ClientView> {
  const { public: shown, ...given } = input.entry;
  const made = wantsSecret(given);
  const entry = made ? { ...given, client_secret: ctx.random(32) } : given;
  await checkEntry("client", entry, ctx.settings);
  const client = normalizeClient(checked(entry), null, { at: new Date(ctx.now()).toISOString(), epoch: ctx.random(9) });
  checkPublic(shown, client);
  return ctx.store.transaction((tx) => {
    if (tx.get("clients", client.client_id) !== undefined) {
      throw new OperationError("conflict", `client "${client.client_id}" already exists`, {
        hint: {
          text: "Choose another id. To change this client",
          command: commandOn(["idp", "clients", "edit"], client.client_id),
        },
      });
    }
    tx.insert("clients", client);
    return viewClient(client, made);
  });
}

/** Writes the client that `work` makes of the current one, once it is checked. @param shown the caller's value of `public` */
async function change(
  ctx: Context,
  clientId: string,
  work: (before: Client) => Entry,
  shown?: unknown,
): Promise<Client> {
  for (;;) {
    const { before, version } = await ctx.store.read((tx) => ({
      before: requireClient(tx, clientId),
      version: tx.version("clients", clientId),
    }));
    const entry = work(before);
    await checkEntry(
      "client",
      entry,
      before.registrationTokenHash === undefined ? ctx.settings : withoutHosts(ctx.settings),
      true,
    );
    const done = await ctx.store.transaction((tx) => {
      // If the client was changed in the meantime, the check was for another record: start again.
      if (tx.version("clients", clientId) !== version) return null;
      const { registrationTokenHash } = before;
      const client: Client = {
        ...normalizeClient(checked(entry), before, { at: before.createdAt, epoch: before.epoch }),
        ...(registrationTokenHash !== undefined && { registrationTokenHash }),
        updatedAt: new Date(ctx.now()).toISOString(),
      };
      checkPublic(shown, client);
      tx.put("clients", client);
      return client;
    });
    if (done !== null) return done;
  }
}

/**
 * Changes the given metadata of a client; null removes a field.
 * @param input `client_id`: which is meant; `entry`: metadata of a client of a fixture
 * @throws {OperationError} not_found; invalid, with every problem
 */
export async function editClient(
  ctx: Context,
  input: { readonly client_id: string; readonly entry: Entry },
): Promise<ClientView> {
  const { public: shown, ...given } = input.entry;
  const { isMetadata } = await import("./schema.ts");
  const work = (before: Client): Entry => {
    const merged: Entry = { ...metadataOf(before), ...given };
    if (merged.client_id !== before.client_id) {
      throw new OperationError("conflict", "the id of a client cannot be changed: its grants and tokens carry it", {
        hint: { text: "To add another client", command: ["idp", "clients", "add", "CLIENT_ID"] },
      });
    }
    // An unknown field stays, for the check to refuse it.
    return Object.fromEntries(Object.entries(merged).filter(([name, value]) => value !== null || !isMetadata(name)));
  };
  return viewClient(await change(ctx, input.client_id, work, shown), false);
}

/**
 * Gives a client a new secret; the old one becomes invalid.
 * @param input `client_secret`: if absent, one is generated
 * @returns the client, with its secret if that was generated here
 * @throws {OperationError} not_found; refused for a client that has no secret; invalid
 */
export async function rotateSecret(
  ctx: Context,
  input: { readonly client_id: string; readonly client_secret?: string | undefined },
): Promise<ClientView> {
  const secret = input.client_secret ?? ctx.random(32);
  const client = await change(ctx, input.client_id, (before) => {
    if (before.client_secret === undefined) {
      throw new OperationError("refused", `client "${before.client_id}" has no secret that could be rotated`, {
        hint: {
          text: "To give it one",
          command: commandOn(["idp", "clients", "edit"], before.client_id, ["--secret-stdin"]),
        },
      });
    }
    return { ...metadataOf(before), client_secret: secret };
  });
  return viewClient(client, input.client_secret === undefined);
}

/** Removes a client, and with it its grants. @throws {OperationError} not_found */
export const removeClient = (ctx: Context, input: { readonly client_id: string }): Promise<null> =>
  ctx.store.transaction((tx) => {
    removeClientRecord(tx, requireClient(tx, input.client_id));
    return null;
  });
