/*
 * core/tokens: issues, verifies, revokes and describes tokens.
 *
 * endpoint.ts authenticates the client and chooses the grant type (grant-types/); plan.ts takes the steps that each
 * of them owes, and response.ts settles the tokens in a transaction and signs
 * them after it. claims.ts has the types of claims, sign.ts is the only file that signs (with keys/jws.ts), accept.ts the only one that verifies our
 * own tokens. state.ts says whether a token is still valid, revoke.ts ends one, introspect.ts describes one. dpop.ts binds tokens to a key.
 *
 * codes.ts draws authorization codes, with pkce.ts; userinfo.ts answers UserInfo. issue.ts issues for an operator, and verify.ts reports every check of a token of this server. decode.ts and verify-foreign.ts
 * read tokens of any issuer.
 */
import type { Client } from "../../store/store.ts";
import { authenticateClient } from "../clients/authentication.ts";
import type { ClientCredentials } from "../clients/client-credentials.ts";
import { grantTypesOf, mayUse } from "../clients/clients.ts";
import type { Context } from "../context.ts";
import { provenKey, type Proof } from "./dpop.ts";
import { OAuthError } from "../errors.ts";
import { redeemCode, type CodeExchange } from "./grant-types/authorization-code.ts";
import { clientCredentials, type ClientCredentialsRequest } from "./grant-types/client-credentials.ts";
import { pollDevice, type DevicePoll, deviceGrantType } from "./grant-types/device-code.ts";
import { refresh, type Refresh } from "./grant-types/refresh-token.ts";
import { exchangeToken, tokenExchangeGrantType, type TokenExchange } from "./grant-types/token-exchange.ts";
import type { TokenResult } from "./response.ts";

/** The token endpoint (RFC 6749 3.2): who asks, by which grant type, what they get. */

export type TokenRequest = ClientCredentials &
  CodeExchange &
  Refresh &
  ClientCredentialsRequest &
  DevicePoll &
  TokenExchange & {
    readonly grant_type: string | undefined;
    /** Null: no DPoP header was sent. */
    readonly proof: Proof | null;
  };

/** @param jkt thumbprint of the key to which the tokens are to be bound; null: bearer tokens */
type GrantType = (ctx: Context, client: Client, request: TokenRequest, jkt: string | null) => Promise<TokenResult>;

const grantTypes: Readonly<Record<string, GrantType>> = {
  authorization_code: redeemCode,
  refresh_token: refresh,
  client_credentials: clientCredentials,
  [deviceGrantType]: pollDevice,
  [tokenExchangeGrantType]: exchangeToken,
};

export const supportedGrantTypes: readonly string[] = Object.keys(grantTypes);

/** @throws {OAuthError} of RFC 6749 5.2, RFC 9449 5 */
export async function token(ctx: Context, request: TokenRequest): Promise<TokenResult> {
  const grantType = standardName(ctx, request.grant_type);
  const client = await authenticateClient(ctx, request);
  if (grantType === undefined) {
    throw new OAuthError("invalid_request", `grant_type is missing; send one of: ${supportedGrantTypes.join(", ")}`);
  }
  const grant = Object.hasOwn(grantTypes, grantType) ? grantTypes[grantType] : undefined;
  if (grant === undefined) {
    throw new OAuthError(
      "unsupported_grant_type",
      `grant_type "${grantType}" is not supported; use one of: ${supportedGrantTypes.join(", ")}`,
    );
  }
  if (!mayUse(client, grantType)) {
    throw new OAuthError(
      "unauthorized_client",
      `client "${client.client_id}" may not use grant_type "${grantType}": its grant_types are "${grantTypesOf(client).join(" ")}"`,
    );
  }
  return grant(ctx, client, { ...request, resource: targetsOf(request) }, await provenKey(ctx, client, request.proof));
}

/** Vendors' SDKs send other names. */
function standardName({ layout: { grantTypes = {} } }: Context, given: string | undefined): string | undefined {
  return given !== undefined && Object.hasOwn(grantTypes, given) ? grantTypes[given] : given;
}

/** `audience` means the same as `resource`, except in an exchange, where it can be a client too (RFC 8693 2.1). */
const targetsOf = ({ grant_type: grantType, resource, audience }: TokenRequest): readonly string[] =>
  grantType === tokenExchangeGrantType ? resource : [...resource, ...audience];
