/*
 * core/admin/edit: adds, changes and removes users (users.ts) and clients (clients.ts) one at a time, by the rules of fixtures, and
 * suspends, bans and restores users.
 */
import type { Client } from "../../../store/store.ts";
import { checkComputed, refuseEntry } from "../fixtures/entries.ts";
import { clientProblems, laterProblems } from "../../protocol/client-metadata/rules.ts";
import { pathText } from "../../base/fixture-files/located.ts";
import {
  metadataOf,
  removeClientRecord,
  requireClient,
  viewClient,
  type ClientView,
} from "../../records/clients/admin.ts";
import { isPublic, wantsSecret } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import { withoutHosts, type UriSettings } from "../../records/redirect-uri.ts";
import { OperationError } from "../../base/errors.ts";
import { normalizeClient } from "../fixtures/normalize.ts";
import type { FixtureClient } from "../../protocol/client-metadata/schema.ts";
import { commandOn } from "../../base/hint.ts";

/** Metadata of a client, and what is shown and not set. */
type ClientInput = FixtureClient & { readonly public?: boolean | undefined };
/** Changes to it: null takes a field away. */
type ClientPatch = Readonly<Record<string, unknown>> & {
  readonly client_id?: string | undefined;
  readonly public?: boolean | undefined;
};

/**
 * What fits the schema, but not the settings in force or the rest of the client.
 * @throws {OperationError} conflict, with every problem
 */
async function refuseUnfit(client: FixtureClient, settings: UriSettings): Promise<void> {
  const found = [...clientProblems(client, settings), ...(await laterProblems(client, settings))];
  const problems = found.map(({ field, below = [], message }) => ({ path: pathText([field, ...below]), message }));
  if (problems.length > 0) throw refuseEntry("client", problems);
}

/** `public` is shown but cannot be set: it follows from other fields (RFC 6749 2.1). @param client after the change */
const checkPublic = (given: boolean | undefined, client: Client): void =>
  checkComputed("client", {
    field: "public",
    given,
    is: isPublic(client),
    rule: 'a client is public with the token_endpoint_auth_method "none", or without any where it has no client_secret',
  });

/** A client as it is shown where its secret was made: with that, and no other secret. */
const withMade = (client: Client): ClientView => ({
  ...viewClient(client, false),
  client_secret: client.client_secret,
});

/**
 * Adds a client. Unless `token_endpoint_auth_method` is "none" or "private_key_jwt", it has a secret: the given one, or a generated one.
 * @returns the client, with its secret if that was generated here
 * @throws {OperationError} conflict if the id is taken, or the settings do not allow an address
 */
export async function addClient(ctx: Context, { public: shown, ...given }: ClientInput): Promise<ClientView> {
  const made = wantsSecret(given);
  const entry = made ? { ...given, client_secret: ctx.random(32) } : given;
  await refuseUnfit(entry, ctx.settings);
  const client = normalizeClient(entry, null, { at: new Date(ctx.now()).toISOString(), epoch: ctx.random(9) });
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
    return made ? withMade(client) : viewClient(client, false);
  });
}

/** @throws {OperationError} refused for a client whose metadata is not kept here */
function refuseDocument({ client_id: id, fromDocument }: Client): void {
  if (fromDocument === undefined) return;
  throw new OperationError("refused", `client "${id}" has a metadata document: its metadata is what that URL says`, {
    hint: "Change the document. The next sign-in reads it",
  });
}

/** Writes the client that `work` makes of the current one, once it is checked. @param shown the caller's value of `public` */
async function change(
  ctx: Context,
  clientId: string,
  work: (before: Client) => Readonly<Record<string, unknown>>,
  shown?: boolean,
): Promise<Client> {
  for (;;) {
    const { before, version } = await ctx.store.read((tx) => ({
      before: requireClient(tx, clientId),
      version: tx.version("clients", clientId),
    }));
    refuseDocument(before);
    // The record and the changes each fit the schema of a client.
    const entry = work(before) as unknown as FixtureClient;
    await refuseUnfit(entry, before.registrationTokenHash === undefined ? ctx.settings : withoutHosts(ctx.settings));
    const done = await ctx.store.transaction((tx) => {
      // If the client was changed in the meantime, the check was for another record: start again.
      if (tx.version("clients", clientId) !== version) return null;
      const { registrationTokenHash } = before;
      const client: Client = {
        ...normalizeClient(entry, before, { at: before.createdAt, epoch: before.epoch }),
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
 * @param clientId which is meant
 * @throws {OperationError} not_found; conflict if the result does not fit the settings or itself; refused for a client with a metadata document
 */
export async function editClient(
  ctx: Context,
  clientId: string,
  { public: shown, ...given }: ClientPatch,
): Promise<ClientView> {
  const work = (before: Client): Readonly<Record<string, unknown>> => {
    const merged = { ...metadataOf(before), ...given };
    if (merged.client_id !== before.client_id) {
      throw new OperationError("conflict", "the id of a client cannot be changed: its grants and tokens carry it", {
        hint: { text: "To add another client", command: ["idp", "clients", "add", "CLIENT_ID"] },
      });
    }
    return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
  };
  return viewClient(await change(ctx, clientId, work, shown), false);
}

/**
 * Gives a client a new secret; the old one becomes invalid.
 * @param input `client_secret`: if absent, one is generated
 * @returns the client, with its secret if that was generated here
 * @throws {OperationError} not_found; refused for a client that has no secret
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
  return input.client_secret === undefined ? withMade(client) : viewClient(client, false);
}

/** Removes a client, and with it its grants. @throws {OperationError} not_found */
export const removeClient = (ctx: Context, input: { readonly client_id: string }): Promise<null> =>
  ctx.store.transaction((tx) => {
    removeClientRecord(tx, requireClient(tx, input.client_id));
    return null;
  });
