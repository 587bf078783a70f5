import type { Client, ReadTx, ScimServer, Tx } from "../../../store/store.ts";
import { isPublic } from "./clients.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { didYouMean } from "../../base/nearest.ts";

/**
 * A client as an operator sees it: the record itself under the names of RFC 7591, its secret only when asked for, and
 * whether it is a public client (RFC 6749 2.1), which the record says in several ways. `metadata_document`: it is not registered, but has a
 * metadata document. `self_registered`: it registered itself (RFC 7591).
 */
export type ClientView = Readonly<Record<string, unknown>> & {
  readonly client_id: string;
  readonly redirect_uris: readonly string[];
  readonly public: boolean;
  readonly metadata_document?: true;
  readonly self_registered?: true;
};

/** A client with the fields of a fixture: its metadata, without what is kept beside it. */
export function metadataOf(
  client: Client,
): Readonly<Record<string, unknown>> & Pick<Client, "client_id" | "client_secret" | "redirect_uris" | "scim"> {
  const {
    epoch: _,
    createdAt: __,
    updatedAt: ___,
    registrationTokenHash: ____,
    fromDocument: _____,
    ...metadata
  } = client;
  return metadata;
}

/** The SCIM server of a client, without the token that opens it. */
export const withoutToken = ({ token: _, ...rest }: ScimServer): Omit<ScimServer, "token"> => rest;

/** A client as it is shown. @param secrets whether its secret is shown too, the token of its SCIM server, and the values of its `env` */
export function viewClient(client: Client, secrets: boolean): ClientView {
  const { client_secret, scim, ...shown } = metadataOf(client);
  const view = {
    ...shown,
    ...(scim !== undefined && { scim: secrets ? scim : withoutToken(scim) }),
    public: isPublic(client),
    ...(client.fromDocument && { metadata_document: true as const }),
    ...(client.registrationTokenHash !== undefined && { self_registered: true as const }),
  };
  if (secrets) return client_secret === undefined ? view : { ...view, client_secret };
  const names = Object.keys(client.env ?? {});
  return names.length === 0 ? view : { ...view, env: Object.fromEntries(names.map((name) => [name, null])) };
}

function* clientIds(tx: ReadTx): Generator<string> {
  for (const client of tx.all("clients")) yield client.client_id;
}

/** The client of this id. @throws {OperationError} not_found, with the id that may be meant */
export function requireClient(tx: ReadTx, clientId: string): Client {
  const client = tx.get("clients", clientId);
  if (client === undefined) {
    throw new OperationError("not_found", `no client "${clientId}"`, {
      hint: didYouMean(clientId, clientIds(tx), { text: "All clients", command: ["idp", "clients", "list"] }),
    });
  }
  return client;
}

/** Removes a client with its grants and everything it began, so that a later client with the same id inherits nothing. */
export function removeClientRecord(tx: Tx, { client_id }: Client): void {
  for (const grant of tx.findAll("grants", "client", client_id)) tx.remove("grants", grant.id);
  for (const name of ["codes", "pushedRequests", "deviceRequests"] as const) {
    for (const { id, clientId } of [...tx.all(name)]) if (clientId === client_id) tx.remove(name, id);
  }
  for (const { id } of tx.findAll("scim", "client", client_id)) tx.remove("scim", id);
  for (const session of [...tx.all("sessions")]) {
    const { serviceProviders: providers } = session;
    const clientIds = session.clientIds.filter((id) => id !== client_id);
    const left = providers?.filter(({ clientId }) => clientId !== client_id);
    if (clientIds.length < session.clientIds.length || left?.length !== providers?.length)
      tx.put("sessions", { ...session, clientIds, ...(left !== undefined && { serviceProviders: left }) });
  }
  tx.remove("clients", client_id);
}

/** Whether secrets are shown too; they are left out unless this is set. */
interface SecretsChoice {
  readonly secrets?: boolean | undefined;
}

/** Every client, in the order they were added. */
export const listClients = (ctx: Context, input: SecretsChoice): Promise<readonly ClientView[]> =>
  ctx.store.read((tx) => [...tx.all("clients")].map((client) => viewClient(client, input.secrets === true)));

/** One client. @throws {OperationError} not_found */
export const showClient = (ctx: Context, input: SecretsChoice & { readonly client_id: string }): Promise<ClientView> =>
  ctx.store.read((tx) => viewClient(requireClient(tx, input.client_id), input.secrets === true));
