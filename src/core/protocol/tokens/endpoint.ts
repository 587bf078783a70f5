/*
 * core/protocol/tokens: issues, verifies, revokes and describes tokens.
 *
 * endpoint.ts authenticates the client and chooses the grant type (grant-types/list.ts); plan.ts takes the steps that each of them owes, and
 * settle.ts settles the tokens in a transaction and signs them after it. claims.ts has the types of claims, sign.ts makes the claims and has
 * them signed (keys/signer.ts), accept.ts is the only file that verifies our own tokens. state.ts says whether a token is still valid, revoke.ts ends one,
 * introspect.ts describes one. dpop.ts binds tokens to a key.
 *
 * codes.ts draws authorization codes, with pkce.ts; userinfo.ts answers UserInfo (its body: scopes/claims.ts). issue.ts issues for an operator. In read/, verify.ts
 * reports every check of a token, of this server or of any issuer; decode.ts reads tokens of any issuer.
 */
import type { Client, ReadTx } from "../../../store/store.ts";
import { authenticateClient } from "../../records/clients/authentication.ts";
import type { ClientCredentials } from "../../records/clients/client-credentials.ts";
import { grantTypesOf, isPublic, mayUse } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import type { Proof } from "./dpop.ts";
import { provenKey } from "./dpop-binding.ts";
import { OAuthError } from "../../base/errors.ts";
import { addGrantType } from "../../records/fix-commands.ts";
import { authorizationCode } from "./grant-types/authorization-code.ts";
import { deviceCode } from "./grant-types/device-code.ts";
import { similarGrantType, grantTypeNames, grantTypes } from "./grant-types/list.ts";
import type { Values } from "./grant-types/grant-type.ts";
import type { AnyTokenResponse, TokenResult } from "./settle.ts";
import { readJws } from "../../records/keys/jws.ts";
import { hashOf } from "../../base/secrets.ts";
import { seconds } from "../../../text/time.ts";

/** The token endpoint (RFC 6749 3.2): who asks, by which grant type, what they get. */

interface TokenRequest extends ClientCredentials {
  readonly grant_type: string | undefined;
  /** The values of `tokenParameters` (`grant-types/list.ts`). */
  readonly values: Values;
  /** Null: no DPoP header was sent. */
  readonly proof: Proof | null;
}

/** @throws {OAuthError} of RFC 6749 5.2, RFC 9449 5 */
export async function token(ctx: Context, request: TokenRequest): Promise<TokenResult<AnyTokenResponse>> {
  const name = standardName(ctx, request.grant_type);
  const began = await ctx.store.read((tx) => documentOfFlow(tx, name, request.values));
  const client = await authenticateClient(ctx, { ...request, began });
  if (name === undefined) {
    throw new OAuthError("invalid_request", `grant_type is missing; send one of: ${grantTypeNames.join(", ")}`, {
      rule: "RFC 6749 4.1.3",
      fix: "send grant_type=authorization_code to exchange a code",
    });
  }
  const grantType = grantTypes.find((one) => one.name === name);
  if (grantType === undefined) {
    const meant = similarGrantType(name);
    const next = meant === undefined ? "; use" : `. Did you mean ${meant}? Use`;
    throw new OAuthError(
      "unsupported_grant_type",
      `grant_type "${name}" is not supported${next} one of: ${grantTypeNames.join(", ")}`,
      { rule: "RFC 6749 5.2", parameter: "grant_type", fix: null },
    );
  }
  if (!mayUse(client, name)) {
    throw new OAuthError(
      "unauthorized_client",
      `client "${client.client_id}" may not use grant_type "${name}": its grant_types are "${grantTypesOf(client).join(" ")}"`,
      {
        rule: "RFC 6749 5.2",
        parameter: "grant_type",
        fix:
          grantType.needs?.what === "authentication" && isPublic(client)
            ? "use a client that has a secret"
            : addGrantType(client, grantTypesOf(client), name),
      },
    );
  }
  if (grantType.needs?.what === "authentication" && isPublic(client)) {
    throw new OAuthError(
      "unauthorized_client",
      `a public client cannot prove who it is, so it may not use ${name} (${grantType.needs.rule})`,
      { rule: grantType.needs.rule, fix: "use a client that has a secret" },
    );
  }
  const { values } = request;
  // `audience` means the same as `resource`, unless the grant type has its own meaning for it (RFC 8693 2.1).
  const resource = "audience" in grantType.parameters ? values["resource"] : [values["resource"], values["audience"]];
  const own = { ...values, resource: [resource ?? []].flat(2).filter((one) => one !== undefined) };
  const result = await grantType.grant(ctx, client, own, await provenKey(ctx, client, request.proof));
  const { response } = result;
  return ctx.layout.realm === true ? { ...result, response: { ...response, ...ofRealm(ctx, response) } } : result;
}

/** What Keycloak's token responses say beside those of the standard. */
function ofRealm(ctx: Context, { refresh_token: refreshToken }: AnyTokenResponse): Readonly<Record<string, unknown>> {
  const { exp, sid } = readJws(refreshToken ?? "")?.payload ?? {};
  return {
    refresh_expires_in: typeof exp === "number" ? exp - seconds(ctx) : 0,
    ...(sid !== undefined && { session_state: sid }),
    "not-before-policy": 0,
  };
}

/** The client that the code was given to, as the metadata document described it then: a sign-in goes on with the document it began with. */
function documentOfFlow(tx: ReadTx, name: string | undefined, values: Values): Client | undefined {
  const valueOf = (parameter: string): string => String(values[parameter] ?? "");
  if (name === authorizationCode.name) return tx.get("codes", hashOf(valueOf("code")))?.document;
  if (name === deviceCode.name) return tx.get("deviceRequests", hashOf(valueOf("device_code")))?.document;
  return undefined;
}

/** Vendors' SDKs send other names. */
function standardName({ layout }: Context, given: string | undefined): string | undefined {
  const { grantTypes: standard = {} } = layout;
  return given !== undefined && Object.hasOwn(standard, given) ? standard[given] : given;
}
