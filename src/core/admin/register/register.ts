/*
 * core/admin/register: clients that register themselves, or that a metadata document describes (documents.ts). It is above clients and fixtures, whose
 * rules it applies.
 */
import type { Client, Tx } from "../../../store/store.ts";
import { grantTypesOf } from "../../records/clients/clients.ts";
import { metadataOf, removeClientRecord } from "../../records/clients/admin.ts";
import { registrationLimits } from "../../base/attempts.ts";
import type { Context } from "../../context.ts";
import { baseOf } from "../../base/endpoints.ts";
import { OAuthError } from "../../base/errors.ts";
import { hashOf, sameSecret } from "../../base/secrets.ts";
import { checkMetadata, isLeftOut, type Metadata } from "./metadata.ts";

/** Dynamic client registration (RFC 7591) and its management (RFC 7592). Metadata follows the rules of fixtures. */

/** What the answer says beside the metadata (RFC 7591 3.2.1, RFC 7592 3). */
type Registered = Metadata & { readonly client_id: string };

/** Whether the client gets a secret, to authenticate or to verify HS256. @throws {OAuthError} if it asks for HS256 without a secret */
function needsSecret(sent: unknown): boolean {
  const { token_endpoint_auth_method: method, id_token_signed_response_alg: alg } = (sent ?? {}) as Metadata;
  if (method === "none" && alg === "HS256") {
    throw new OAuthError(
      "invalid_client_metadata",
      'id_token_signed_response_alg is "HS256", whose key is the client_secret, but token_endpoint_auth_method is "none": ask for RS256, or for a method with a secret',
      { rule: "OpenID Connect Core 10.1", fix: "leave id_token_signed_response_alg out" },
    );
  }
  return (method !== "none" && method !== "private_key_jwt") || alg === "HS256";
}

function answer(ctx: Context, client: Client, registrationAccessToken: string): Registered {
  const uri = `${baseOf(ctx.address)}${ctx.layout.paths.register}/${encodeURIComponent(client.client_id)}`;
  // What the operator added is not part of the registration, and has the token of the app's SCIM server.
  const { scim: _, global_token_revocation: __, ...registered } = metadataOf(client);
  return {
    // RFC 7591 3.2.1: the response includes the defaults that were used.
    grant_types: grantTypesOf(client),
    response_types: ["code"],
    ...(client.client_secret !== undefined && { token_endpoint_auth_method: "client_secret_basic" }),
    ...registered,
    client_id_issued_at: Math.floor(Date.parse(client.createdAt) / 1000),
    ...(client.client_secret !== undefined && { client_secret_expires_at: 0 }),
    registration_access_token: registrationAccessToken,
    registration_client_uri: uri,
  };
}

/** Characters of a registration: anybody may send a thousand, and each is kept. Those of real clients have less than a third of it. */
const maxLength = 16_384;

/** @throws {OAuthError} invalid_client_metadata */
function requireShort(sent: unknown): void {
  const { length } = JSON.stringify(sent ?? {});
  if (length <= maxLength) return;
  throw new OAuthError(
    "invalid_client_metadata",
    `the metadata has ${length} characters; at most ${maxLength} are accepted`,
    // A limit of this server.
    { rule: null, fix: "leave out what the client does not need, or send jwks_uri in place of jwks" },
  );
}

/**
 * Registers a client (RFC 7591 3).
 * @param address of who sent it
 * @throws {OAuthError} invalid_client_metadata, invalid_redirect_uri, too_many_requests
 */
export async function registerClient(ctx: Context, sent: unknown, address: string): Promise<Registered> {
  ctx.attempts.begin("registrations", registrationLimits(address));
  requireShort(sent);
  const secret = needsSecret(sent) ? { client_secret: ctx.random(32) } : {};
  const checked = await checkMetadata(ctx, sent, { client_id: `c_${ctx.random(12)}`, ...secret });
  const registrationAccessToken = ctx.random(32);
  const at = new Date(ctx.now()).toISOString();
  const client: Client = {
    ...checked,
    epoch: ctx.random(9),
    createdAt: at,
    updatedAt: at,
    registrationTokenHash: hashOf(registrationAccessToken),
  };
  await ctx.store.transaction((tx) => {
    tx.insert("clients", client);
  });
  return answer(ctx, client, registrationAccessToken);
}

/** Who manages a client: its id, and the token that its registration gave. */
export interface RegistrationAccess {
  readonly clientId: string;
  readonly token: string | undefined;
}

/** RFC 7592 2: an unknown client and a wrong token get the same response. */
function requireAccess(client: Client | undefined, token: string | undefined): Client {
  if (token === undefined) {
    throw new OAuthError("missing_token", "no registration access token: send it as Authorization: Bearer", {
      rule: "RFC 7592 2",
      fix: "send the registration_access_token of the registration",
    });
  }
  if (client?.registrationTokenHash === undefined || !sameSecret(hashOf(token), client.registrationTokenHash)) {
    throw new OAuthError("invalid_token", "the registration access token is not the one of this client", {
      rule: "RFC 7592 2",
      fix: "send the registration_access_token of this client, to its registration_client_uri",
    });
  }
  return client;
}

/** The client as it is registered (RFC 7592 2.1). @throws {OAuthError} missing_token, invalid_token */
export async function readRegistration(ctx: Context, { clientId, token }: RegistrationAccess): Promise<Registered> {
  const client = await ctx.store.read((tx) => requireAccess(tx.get("clients", clientId), token));
  return answer(ctx, client, token ?? "");
}

/**
 * Replaces the client's metadata (RFC 7592 2.2); id, secret and token stay.
 * @throws {OAuthError} missing_token, invalid_token, invalid_client_metadata, invalid_redirect_uri
 */
export async function updateRegistration(ctx: Context, access: RegistrationAccess, sent: unknown): Promise<Registered> {
  for (;;) {
    const client = await tryUpdate(ctx, access, sent);
    if (client !== null) return answer(ctx, client, access.token ?? "");
  }
}

/** @returns null if the client was changed while its new metadata were checked: its secret may be another by now */
async function tryUpdate(ctx: Context, access: RegistrationAccess, sent: unknown): Promise<Client | null> {
  const { before, version } = await ctx.store.read((tx) => ({
    before: requireAccess(tx.get("clients", access.clientId), access.token),
    version: tx.version("clients", access.clientId),
  }));
  requireShort(sent);
  const { client_id: id, client_secret: secret } = (sent ?? {}) as Metadata;
  if (id !== before.client_id) {
    throw new OAuthError("invalid_client_metadata", `client_id has to be "${before.client_id}"`, {
      rule: "RFC 7592 2.2",
      fix: null,
    });
  }
  if (!isLeftOut(secret) && secret !== before.client_secret) {
    throw new OAuthError(
      "invalid_client_metadata",
      "client_secret is not the one of this client, and it cannot be chosen",
      { rule: "RFC 7592 2.2", fix: "leave client_secret out, or send the one of the registration" },
    );
  }
  const kept = needsSecret(sent) ? { client_secret: before.client_secret ?? ctx.random(32) } : {};
  const checked = await checkMetadata(ctx, sent, { client_id: before.client_id, ...kept });
  return ctx.store.transaction((tx: Tx) => {
    requireAccess(tx.get("clients", access.clientId), access.token);
    if (tx.version("clients", access.clientId) !== version) return null;
    const { epoch, createdAt, registrationTokenHash, scim, global_token_revocation } = before;
    const updatedAt = new Date(ctx.now()).toISOString();
    const changed: Client = {
      ...checked,
      epoch,
      createdAt,
      updatedAt,
      ...(registrationTokenHash !== undefined && { registrationTokenHash }),
      // The operator's, which no registration changes.
      ...(scim !== undefined && { scim }),
      ...(global_token_revocation !== undefined && { global_token_revocation }),
    };
    tx.put("clients", changed);
    return changed;
  });
}

/** Removes the client; its tokens die with it (RFC 7592 2.3). @throws {OAuthError} missing_token, invalid_token */
export const removeRegistration = (ctx: Context, { clientId, token }: RegistrationAccess): Promise<void> =>
  ctx.store.transaction((tx) => {
    removeClientRecord(tx, requireAccess(tx.get("clients", clientId), token));
  });
