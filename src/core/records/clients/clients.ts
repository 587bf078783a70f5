/*
 * core/records/clients: the apps. clients.ts answers what a client may do, authentication.ts (with assertion.ts and federated.ts) who is asking,
 * ../redirect-uri.ts and redirect-patterns.ts where the browser may go. documents.ts is for clients that nobody registered, admin.ts for the operator. What a client
 * may register is in core/protocol/client-metadata.
 */
import { describesItself, type Client, type ReadTx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { loginClient } from "../../base/identifiers.ts";
import { OAuthError } from "../../base/errors.ts";
import { addUnknownClient, listClients } from "../fix-commands.ts";
import { hasOpenPort, type OpenPorts } from "../redirect-uri.ts";
import { nearest } from "../../base/nearest.ts";

/** What a client is and may do, also where its metadata says nothing. */

/** Whether `idp login` has its client here. */
export const hasLoginClient = ({ store }: Pick<Context, "store">): Promise<boolean> =>
  store.read((tx) => tx.get("clients", loginClient) !== undefined);

/** Some metadata of a client, of its record or as a fixture writes it. */
type Stated<
  Name extends
    "apple_team" | "client_secret" | "federated_credentials" | "grant_types" | "saml" | "token_endpoint_auth_method",
> = {
  readonly [N in Name]?: Client[N] | undefined;
};

type Proving = Stated<"token_endpoint_auth_method" | "client_secret" | "federated_credentials" | "apple_team">;

/** A client that cannot prove who it is (RFC 6749 2.1). */
export function isPublic({ token_endpoint_auth_method: method, ...client }: Proving): boolean {
  if (method !== undefined) return method === "none";
  const { client_secret: secret, federated_credentials: workloads, apple_team: team } = client;
  return secret === undefined && workloads === undefined && team === undefined;
}

/** A new client that names no method of authentication is confidential, as in RFC 7591 2. If it has no secret, it gets one. */
export const wantsSecret = (client: Proving & Stated<"saml">): boolean =>
  client.saml === undefined &&
  client.client_secret === undefined &&
  client.federated_credentials === undefined &&
  client.apple_team === undefined &&
  client.token_endpoint_auth_method !== "none" &&
  client.token_endpoint_auth_method !== "private_key_jwt";

/** Which loopback URIs match any port for this client (RFC 8252 7.3): those without a fixed port, or with `mcp` more. */
export function openPortsOf({ settings }: Pick<Context, "settings">, client: Client): OpenPorts {
  if (isPublic(client)) return settings.mcp ? "every" : "open";
  return settings.any_loopback_port ? "open" : "none";
}

/** How a client authenticates with a token of a workload. It is no registered name: `federated_credentials` allow it. */
export const federatedMethod = "federated_credentials";

/** The ways in which this client may authenticate: the one it registered, else post and basic; and the workloads that it lists. */
export function authMethods(client: Client): readonly string[] {
  const federated = client.federated_credentials === undefined ? [] : [federatedMethod];
  if (client.token_endpoint_auth_method !== undefined) return [client.token_endpoint_auth_method, ...federated];
  if (isPublic(client)) return ["none"];
  // Apple takes the secret in the body alone.
  if (client.apple_team !== undefined) return ["client_secret_post", ...federated];
  const bySecret = client.client_secret === undefined ? [] : ["client_secret_post", "client_secret_basic"];
  return [...bySecret, ...federated];
}

/** RFC 7591 2 has authorization_code alone; a client without `grant_types` may have refresh tokens too. */
const defaultGrantTypes: readonly string[] = ["authorization_code", "refresh_token"];

/** A service provider of SAML has none. */
export const grantTypesOf = (client: Stated<"grant_types" | "saml">): readonly string[] =>
  client.grant_types ?? (client.saml === undefined ? defaultGrantTypes : []);

/** Whether the client may use this grant type. Each endpoint that begins one asks; `client-metadata/rules.ts` says what a client may register. */
export const mayUse = (client: Client, grantType: string): boolean => grantTypesOf(client).includes(grantType);

/** PKCE is mandatory for public clients (RFC 9700 2.1.1), where the client says so, and where a pattern lets redirect URIs in. */
export const requiresPkce = (client: Client): boolean =>
  client.require_pkce === true || client.redirect_patterns !== undefined || isPublic(client);

/** The name of a client as people see it, in the language of the page. */
export type ClientName = (language: string) => string;

/**
 * `client_name#tr` where the page is Turkish (RFC 7591 2.2), else `client_name`, else the id.
 * @param client its id alone, where it is gone
 */
export const clientName =
  (client: { readonly client_id: string; readonly [metadata: string]: unknown }): ClientName =>
  (language) =>
    inLanguage(client, "client_name", language) ?? client.client_id;

/** Addresses for people that a client gives (RFC 7591 2); null if it gives none. */
interface ClientLinks {
  readonly policyUri: string | null;
  readonly tosUri: string | null;
}

/** The links of a client, in the language of the page. */
export const clientLinks =
  (client: Readonly<Record<string, unknown>>) =>
  (language: string): ClientLinks => ({
    policyUri: inLanguage(client, "policy_uri", language),
    tosUri: inLanguage(client, "tos_uri", language),
  });

/** Metadata for people, in their language if it was given in it (RFC 7591 2.2); null if it was not given. */
function inLanguage(
  client: Readonly<Record<string, unknown>>,
  wanted: "client_name" | "policy_uri" | "tos_uri",
  language: string,
): string | null {
  const isWanted = (name: string): boolean =>
    name.startsWith(wanted) && name.slice(wanted.length).toLowerCase().split("-")[0] === `#${language}`;
  const found = client[Object.keys(client).find(isWanted) ?? wanted];
  return typeof found === "string" ? found : null;
}

/** The name of the client with this id; null if there is none. */
export const clientNameOf = (ctx: Context, clientId: string): Promise<ClientName | null> =>
  ctx.store.read((tx) => {
    const client = tx.get("clients", clientId);
    return client === undefined ? null : clientName(client);
  });

/**
 * A client that authenticated, as it is now: it may have been changed since. One with a metadata document stays as that was read.
 * @throws {OAuthError} invalid_client if it was removed, or removed and registered again
 */
export function presentClient(tx: ReadTx, known: Client): Client {
  const { client_id: id, epoch } = known;
  const client = tx.get("clients", id);
  if (client?.epoch === epoch && client.fromDocument === known.fromDocument)
    return known.fromDocument === true ? known : client;
  throw new OAuthError("invalid_client", `client "${id}" was removed while this request was handled`, {
    rule: "RFC 6749 5.2",
    fix: listClients,
  });
}

/** Whether a user has ever allowed a client something, also if that is revoked. */
export const wasAllowed = (tx: ReadTx, clientId: string): boolean => tx.has("grants", "client", clientId);

/** Whether pages of this origin are those of a client that the operator named: of its redirect URIs, or of `allowed_origins`. */
export const isClientOrigin = (ctx: Context, origin: string): Promise<boolean> =>
  ctx.store.read((tx) => tx.has("clients", "origin", origin));

/**
 * Whether pages of this origin are those of a client that describes itself, and that a user has allowed. They may read what that client gets, and
 * nothing else: a stranger can cause such a record, and name any origin in it.
 * @param clientId null: whether there is such a client
 */
export const isOwnOriginOf = (ctx: Context, origin: string, clientId: string | null): Promise<boolean> =>
  ctx.store.read((tx) => {
    if (clientId !== null) return tx.has("clients", "ownOrigin", `${origin} ${clientId}`) && wasAllowed(tx, clientId);
    return tx.findAll("clients", "ownOrigin", origin).some(({ client_id: id }) => wasAllowed(tx, id));
  });

/** At most so many clients are searched for a similar id, so that a refusal costs the same however many there are. */
const lookedAt = 200;

function similarId(tx: ReadTx, clientId: string): string | undefined {
  const ids: string[] = [];
  let left = lookedAt;
  for (const client of tx.all("clients")) {
    if (left === 0) break;
    left -= 1;
    // Nobody is led to the client of a stranger.
    if (!describesItself(client)) ids.push(client.client_id);
  }
  return nearest(clientId, ids);
}

/** The refusal of a client that nobody registered. @param redirectUri where it wanted to return to */
function unknownClient(tx: ReadTx, clientId: string, redirectUri?: string): OAuthError {
  const meant = similarId(tx, clientId);
  return new OAuthError(
    "invalid_client",
    `client_id "${clientId}" is not registered here${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
    {
      rule: "RFC 6749 2.2",
      parameter: "client_id",
      fix: addUnknownClient(clientId, redirectUri, meant === undefined ? [] : [meant]),
      ...(meant !== undefined && {
        mismatch: { parameter: "client_id", sent: clientId, registered: [meant] },
      }),
    },
  );
}

/**
 * The client that a request names.
 * @param redirectUri where it wanted to return to
 * @throws {OAuthError} invalid_client if nobody registered it
 */
export function findClient(tx: ReadTx, clientId: string, redirectUri?: string): Client {
  const client = tx.get("clients", clientId);
  if (client === undefined) throw unknownClient(tx, clientId, redirectUri);
  return client;
}

/** The algorithms that a client assertion may be signed by (RFC 7518 3.1), by the client's authentication method. */
export const assertionAlgorithms = {
  client_secret_jwt: ["HS256", "HS384", "HS512"],
  private_key_jwt: ["RS256", "PS256", "ES256", "EdDSA"],
} as const;

/** Every one of them: what discovery lists. */
export const everyAssertionAlgorithm = [
  ...assertionAlgorithms.client_secret_jwt,
  ...assertionAlgorithms.private_key_jwt,
] as const;

/**
 * The link to an app on the page after a sign-out: to an address that the client registered for that, else to the start of the app, as far as
 * its redirect URI says where that is. Never a `javascript:` URL. Null: there is no such address.
 */
export function linkToApp(
  tx: ReadTx,
  client: Client | null,
): { readonly name: ClientName; readonly href: string } | null {
  if (client === null) return null;
  // Anybody can make such a client, and a link to it.
  if (describesItself(client) && !wasAllowed(tx, client.client_id)) return null;
  const usable = (uris: readonly string[] = []): string | undefined =>
    uris.find((uri) => /^https?:/i.test(uri) && !hasOpenPort(uri) && URL.canParse(uri));
  const redirectUri = usable(client.redirect_uris);
  const href = usable(client.post_logout_redirect_uris) ?? (redirectUri && `${new URL(redirectUri).origin}/`);
  return href === undefined ? null : { name: clientName(client), href };
}
