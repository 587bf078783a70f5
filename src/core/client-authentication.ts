import type { Client } from "../store/store.ts";
import { authMethods, isPublic } from "./clients.ts";
import type { Context } from "./context.ts";
import { OAuthError } from "./errors.ts";
import { sameSecret } from "./interactions.ts";

/** Client authentication at the token, revocation and introspection endpoints (RFC 6749 2.3, CONTRACT 2.3). */

/** What a request says of its client, as the http layer read it. */
export interface ClientCredentials {
  /** Values of an `Authorization: Basic` header, form-decoded (RFC 6749 2.3.1); null: none was sent. */
  readonly basic: { readonly id: string; readonly secret: string } | null;
  /** `client_id` and `client_secret` of the body. */
  readonly id: string | undefined;
  readonly secret: string | undefined;
}

const explained: Readonly<Record<string, string>> = {
  client_secret_post: "client_id and client_secret in the body",
  client_secret_basic: "an Authorization: Basic header",
  none: "client_id in the body and no secret",
};

/**
 * The client that a request proves to be.
 * @throws {OAuthError} invalid_request where it authenticates in two ways at once, invalid_client where the proof fails
 */
export async function authenticateClient(ctx: Context, credentials: ClientCredentials): Promise<Client> {
  const { basic, id, secret } = credentials;
  if (basic !== null && secret !== undefined) {
    throw new OAuthError(
      "invalid_request",
      "two ways of client authentication at once: send client_secret in the body or in the Authorization header, not both (RFC 6749 2.3)",
    );
  }
  if (basic !== null && id !== undefined && id !== basic.id) {
    throw new OAuthError(
      "invalid_request",
      `client_id "${id}" of the body is not the "${basic.id}" of the Authorization header`,
    );
  }
  const clientId = basic?.id ?? id;
  if (clientId === undefined) {
    throw new OAuthError(
      "invalid_client",
      "client_id is missing: send it in the body, or authenticate with a Basic header",
    );
  }
  const client = await ctx.store.read((tx) => tx.get("clients", clientId));
  if (client === undefined) {
    throw new OAuthError("invalid_client", `client_id "${clientId}" is not registered here`, {
      fix: "see `idp clients list`, or add the client to a fixture file",
    });
  }
  const used = basic !== null ? "client_secret_basic" : secret !== undefined ? "client_secret_post" : "none";
  const allowed = authMethods(client);
  if (!allowed.includes(used)) {
    const wanted = allowed.map((method) => `${method} (${explained[method] ?? "see its metadata"})`).join(" or ");
    throw new OAuthError(
      "invalid_client",
      `client "${clientId}" has to authenticate with ${wanted}; the request used ${used}`,
    );
  }
  const given = basic?.secret ?? secret;
  if (!isPublic(client) && (given === undefined || !sameSecret(given, client.client_secret ?? ""))) {
    throw new OAuthError("invalid_client", `client_secret is not the one of client "${clientId}"`, {
      fix: `see it: idp clients show ${clientId} --show-secrets`,
    });
  }
  return client;
}
