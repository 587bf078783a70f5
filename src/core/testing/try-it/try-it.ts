/*
 * core/testing/try-it: the built-in app for a first sign-in. It signs in through the endpoints that every app uses:
 *
 *   beginTryIt ──▶ the authorization endpoint, in the browser ──▶ finishTryIt ──▶ UserInfo ──▶ removeTryItAccess ──▶ UserInfo
 */
import type { Client } from "../../../store/store.ts";
import { challengeOf } from "../../protocol/tokens/pkce.ts";
import { tryItClientId } from "../../base/identifiers.ts";
import { findClient } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import { baseOf } from "../../base/endpoints.ts";
import { OAuthError } from "../../base/errors.ts";
import { revokeGrant } from "../../sign-in/grants/revoke.ts";
import { hashOf, sameSecret } from "../../base/secrets.ts";
import { InteractionError } from "../../sign-in/interactions.ts";
import { verifyAccessToken } from "../../protocol/tokens/accept.ts";
import { jwtOf } from "../../protocol/tokens/opaque.ts";
import { TokenProblem } from "../../protocol/tokens/token-problem.ts";
import { decodeToken, type DecodedToken } from "../../protocol/tokens/read/decode.ts";
import { redeemCode } from "../../protocol/tokens/grant-types/authorization-code.ts";
import { isDead, tokenState } from "../../protocol/tokens/state.ts";

/** Below the issuer. */
export const tryItPaths = {
  begin: "/_idp/try",
  callback: "/_idp/try/callback",
  userinfo: "/_idp/try/userinfo",
} as const;

const scope = "openid profile email";

/** What the app keeps in the browser between its request and the response. */
export interface TryItSecrets {
  /** Binds the response to this browser (RFC 6749 10.12). */
  readonly state: string;
  /** Binds the ID token to this request (OpenID Connect Core 3.1.2.1). */
  readonly nonce: string;
  /** Binds the code to this request (RFC 7636). */
  readonly verifier: string;
}

const redirectUriOf = ({ address }: Pick<Context, "address">): string => baseOf(address) + tryItPaths.callback;

/** The value of the forms: bound to the browser, because nobody has to be signed in. */
export const tryItCsrf = (browserId: string): string => hashOf(`try it ${browserId}`);

/** @throws {InteractionError} csrf */
export function checkTryItCsrf(browserId: string | null, csrf: string): void {
  if (browserId === null || !sameSecret(csrf, tryItCsrf(browserId))) throw new InteractionError("csrf");
}

/** The app registers itself when it is first used, and again when the issuer has another address. */
const registerTryIt = (ctx: Context): Promise<void> =>
  ctx.store.transaction((tx) => {
    const redirectUri = redirectUriOf(ctx);
    const before = tx.get("clients", tryItClientId);
    if (before?.redirect_uris.includes(redirectUri) === true && before.skip_consent === true) return;
    const at = new Date(ctx.now()).toISOString();
    const client: Client = {
      client_id: tryItClientId,
      client_name: "Try it",
      redirect_uris: [redirectUri],
      // A first sign-in takes two clicks: the button, and the user.
      skip_consent: true,
      epoch: before?.epoch ?? ctx.random(9),
      createdAt: before?.createdAt ?? at,
      updatedAt: at,
    };
    tx.put("clients", client);
  });

/**
 * Begins a sign-in.
 * @param loginHint the user who signs in; absent: any user
 * @returns the path of the authorization request, below the issuer, and what the app keeps until the response
 */
export async function beginTryIt(
  ctx: Context,
  loginHint?: string,
): Promise<{ readonly path: string; readonly secrets: TryItSecrets }> {
  await registerTryIt(ctx);
  const secrets = { state: ctx.random(16), nonce: ctx.random(16), verifier: ctx.random(32) };
  const query = new URLSearchParams({
    response_type: "code",
    client_id: tryItClientId,
    redirect_uri: redirectUriOf(ctx),
    scope,
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: challengeOf(secrets.verifier),
    code_challenge_method: "S256",
    ...(loginHint !== undefined && { login_hint: loginHint }),
  });
  return { path: `${ctx.layout.paths.authorize}?${query.toString()}`, secrets };
}

/** The authorization response (RFC 6749 4.1.2, RFC 9207). */
type TryItResponse = Readonly<Record<"state" | "iss" | "code" | "error" | "error_description", string | undefined>>;

interface TryItResult {
  readonly accessToken: string;
  readonly idToken: DecodedToken;
  readonly username: string | null;
}

/** Whether the response answers a request that this browser sent (RFC 6749 10.12). */
export const isOwnResponse = (secrets: TryItSecrets | null, { state }: TryItResponse): secrets is TryItSecrets =>
  secrets !== null && state !== undefined && sameSecret(state, secrets.state);

/**
 * Exchanges the code and checks the ID token. It comes from the server itself, so its signature needs no check (OpenID Connect Core
 * 3.1.3.7).
 * @throws {OAuthError} what the server refused, or what the app does not accept
 */
export async function finishTryIt(
  ctx: Context,
  { nonce, verifier }: TryItSecrets,
  { code, iss }: TryItResponse,
): Promise<TryItResult> {
  if (iss !== ctx.issuer) {
    throw new OAuthError("invalid_request", "iss of the response is not this issuer", {
      rule: "RFC 9207 2.4",
      fix: "begin again with the button, and end a fault that spoils the response (idp faults clear)",
    });
  }
  const client = await ctx.store.read((tx) => findClient(tx, tryItClientId));
  const exchange = { code, redirect_uri: redirectUriOf(ctx), code_verifier: verifier, resource: [] };
  const { response, username } = await redeemCode(ctx, client, exchange, null);
  const idToken = decodeToken(response.id_token, ctx.now());
  if (idToken.payload["nonce"] !== nonce) {
    throw new OAuthError("invalid_token", "the nonce of the ID token does not match the request", {
      rule: "OpenID Connect Core 3.1.3.7",
      fix: "begin again with the button, and end a fault that spoils the token (idp faults clear)",
    });
  }
  return { accessToken: response.access_token, idToken, username };
}

/** Removes the access of this app for the user of its access token, as the account page does. A dead token removes nothing. */
export async function removeTryItAccess(ctx: Context, accessToken: string): Promise<void> {
  const claims = verifyAccessToken(ctx, await jwtOf(ctx, accessToken));
  if (claims instanceof TokenProblem || claims.client_id !== tryItClientId) return;
  await ctx.store.transaction((tx) => {
    const state = tokenState(tx, claims);
    if (!isDead(state) && state.grant !== null) revokeGrant(tx, ctx, state.grant, "user");
  });
}
