import type { Client, Tx } from "../../../store/store.ts";
import { noClaims } from "../../scopes/claims.ts";
import { isPublic, presentClient } from "../../clients/clients.ts";
import type { Context } from "../../context.ts";
import { currentEra } from "../../era.ts";
import { OAuthError } from "../../errors.ts";
import { accessTokenAnswer, type TokenResult } from "../response.ts";
import { checkResources } from "../../scopes/resources.ts";
import { resolveScopes } from "../../scopes/scopes.ts";
import { noteLife } from "../state.ts";
import { signAccessToken } from "../sign.ts";
import type { AccessTokenSubject } from "../claims.ts";

/** The grant `client_credentials` (RFC 6749 4.4): the client speaks for itself. No ID token, no refresh token. */

export interface ClientCredentialsRequest {
  /** Absent: all that the client registered. */
  readonly scope: string | undefined;
  readonly resource: readonly string[];
}

/** @throws {OAuthError} unauthorized_client, invalid_scope, invalid_target */
export async function clientCredentials(
  ctx: Context,
  authenticated: Client,
  request: ClientCredentialsRequest,
  jkt: string | null,
): Promise<TokenResult> {
  if (isPublic(authenticated)) {
    throw new OAuthError(
      "unauthorized_client",
      "a public client cannot prove who it is, so it may not use client_credentials (RFC 6749 4.4)",
    );
  }
  const resources = checkResources(request.resource);
  const subject = await ctx.store.transaction((tx) => ({
    ...clientSubject(tx, ctx, presentClient(tx, authenticated), request.scope),
    resources,
    jkt,
  }));
  const accessToken = await signAccessToken(ctx, subject, { ...subject.client.claims }, null);
  return { response: accessTokenAnswer(ctx, accessToken, subject), username: null };
}

/** The subject of a token of a client that speaks for itself. @param scope absent: all that the client registered */
export function clientSubject(tx: Tx, ctx: Context, client: Client, scope: string | undefined): AccessTokenSubject {
  const asked = scope ?? client.scope;
  const scopes = asked === undefined ? [] : resolveScopes(tx, client, asked).scopes;
  noteLife(tx, ctx);
  return {
    client,
    user: null,
    grant: null,
    family: null,
    era: currentEra(tx),
    scopes,
    claims: noClaims,
    resources: [],
    jkt: null,
  };
}
