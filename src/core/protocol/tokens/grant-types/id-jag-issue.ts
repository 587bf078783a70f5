import type { Client, Grant, Tx, User } from "../../../../store/store.ts";
import { verifyIdToken, verifyRefreshToken } from "../accept.ts";
import { TokenProblem } from "../token-problem.ts";
import type { IdTokenClaims, RefreshClaims } from "../claims.ts";
import { presentClient } from "../../../records/clients/clients.ts";
import type { Context } from "../../../context.ts";
import { OAuthError } from "../../../base/errors.ts";
import { flawOf, fixOf, isDead, killFamily, placeInFamily, tokenState } from "../state.ts";
import { findGrant, recordUse } from "../../../sign-in/grants/grants.ts";
import type { Hint } from "../../../base/hint.ts";
import { noteLife } from "../../../records/keys/admin.ts";
import { signerOf } from "../../../records/keys/signer.ts";
import type { TokenResult } from "../settle.ts";
import { checkResources } from "../../../records/scopes/resources.ts";
import { splitScope } from "../../../records/scopes/scopes.ts";
import { idJagLife, signIdJag } from "../sign.ts";

/**
 * Cross-app access, as the identity provider: a client exchanges the ID token or the refresh token of its user for an ID-JAG, a short-lived JWT
 * that names the user, the client and one other authorization server (draft-ietf-oauth-identity-assertion-authz-grant-04 4.3).
 */

export const idJagType = "urn:ietf:params:oauth:token-type:id-jag";
const idTokenType = "urn:ietf:params:oauth:token-type:id_token";
const refreshTokenType = "urn:ietf:params:oauth:token-type:refresh_token";

interface IdJagExchange {
  readonly subject_token: string | undefined;
  readonly subject_token_type: string | undefined;
  readonly actor_token: string | undefined;
  readonly resource: readonly string[];
  readonly audience: readonly string[];
  readonly scope: string | undefined;
}

/** RFC 8693 2.2.1. It is no access token, so it has no type of those. */
export interface IdJagResponse {
  readonly access_token: string;
  readonly issued_token_type: typeof idJagType;
  readonly token_type: "N_A";
  readonly expires_in: number;
  readonly scope?: string;
}

/** RFC 8693 2.2.2: whatever is wrong with the subject token, the error is the same. */
const refuse = (reason: string, fix: string | Hint, cause?: unknown): OAuthError =>
  new OAuthError("invalid_request", `subject_token is not accepted: ${reason}`, {
    rule: "RFC 8693 2.2.2",
    parameter: "subject_token",
    fix,
    cause: typeof cause === "string" ? `subject_token is not accepted: ${cause}` : cause,
  });

const signInAgain = "sign in again, and send the new ID token or refresh token";

/** @throws {OAuthError} invalid_request, invalid_grant, invalid_scope, invalid_target */
export async function issueIdJag(
  ctx: Context,
  authenticated: Client,
  request: IdJagExchange,
): Promise<TokenResult<IdJagResponse>> {
  if (request.actor_token !== undefined)
    throw new OAuthError("invalid_request", "actor_token is not supported for an ID-JAG: leave it out", {
      rule: "ID-JAG 4.3",
      parameter: "actor_token",
      fix: null,
    });
  const { audience, clientId } = await audienceOf(ctx, authenticated, request.audience);
  const resources = checkResources(ctx, request.resource);
  const scopes = scopesOf(request.scope);
  const claims = readSubject(ctx, authenticated, request);
  // A missing key is made first: the transaction cannot wait for it.
  await signerOf(ctx, "idJag");
  const outcome = await ctx.store.transaction((tx) => {
    presentClient(tx, authenticated);
    const live = liveSubject(tx, ctx, claims);
    if (live instanceof OAuthError) return live;
    recordUse(tx, ctx, live.grant);
    noteLife(tx, ctx);
    return live;
  });
  if (outcome instanceof OAuthError) throw outcome;
  const { user } = outcome;
  const token = await signIdJag(ctx, { user, audience, clientId, resources, scopes }, claims);
  return {
    response: {
      access_token: token,
      issued_token_type: idJagType,
      token_type: "N_A",
      expires_in: idJagLife,
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    },
    username: user.username,
  };
}

/** The issuer that the ID-JAG is for, and the name of the client there. @throws {OAuthError} invalid_request, invalid_target */
async function audienceOf(
  ctx: Context,
  { client_id: id, id_jag_audiences: listed = [] }: Client,
  sent: readonly string[],
): Promise<{ readonly audience: string; readonly clientId: string }> {
  const [audience, ...more] = sent.filter((value) => value !== "");
  if (audience === undefined || more.length > 0)
    throw new OAuthError("invalid_request", "audience must be one issuer, for which the ID-JAG is meant", {
      rule: "ID-JAG 4.3",
      parameter: "audience",
      fix: "send the issuer of the other authorization server as audience, once",
    });
  for (const { issuer, client_id: clientId = id } of listed) {
    if ((await ctx.trusted.identifiersOf(issuer)).includes(audience)) return { audience, clientId };
  }
  const known = listed.map(({ issuer }) => issuer).join(" ");
  throw new OAuthError(
    "invalid_target",
    `audience "${audience}" is not in id_jag_audiences of client "${id}", which has ${known === "" ? "none" : known}`,
    {
      rule: "RFC 8693 2.2.2",
      parameter: "audience",
      fix: { text: `add the issuer to id_jag_audiences of client ${id}`, letsIn: "this issuer" },
    },
  );
}

/** The scopes are those of the other authorization server, which decides about them. @throws {OAuthError} invalid_scope */
function scopesOf(scope: string | undefined): readonly string[] {
  const names = splitScope(scope ?? "");
  const wrong = names.find((name) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name));
  if (wrong === undefined) return names;
  throw new OAuthError("invalid_scope", `"${wrong}" is not a scope name`, {
    rule: "RFC 6749 3.3",
    parameter: "scope",
    fix: "send names of scopes with one space between them",
  });
}

/** @throws {OAuthError} invalid_request */
function readSubject(ctx: Context, client: Client, request: IdJagExchange): IdTokenClaims | RefreshClaims {
  const { subject_token: token, subject_token_type: type } = request;
  if (token === undefined)
    throw new OAuthError("invalid_request", "subject_token is missing", {
      rule: "RFC 8693 2.1",
      fix: "send the ID token of the user as subject_token",
    });
  if (type !== idTokenType && type !== refreshTokenType) {
    const given = type === undefined ? "is missing" : `"${type}" is not supported for an ID-JAG`;
    throw new OAuthError(
      "invalid_request",
      `subject_token_type ${given}; send "${idTokenType}" or "${refreshTokenType}"`,
      { rule: "ID-JAG 4.3", parameter: "subject_token_type", fix: null },
    );
  }
  const claims = type === idTokenType ? verifyIdToken(ctx, token) : verifyRefreshToken(ctx, token);
  if (claims instanceof TokenProblem)
    throw refuse(claims.message, claims.expiredAt === null ? claims.fix : signInAgain, claims);
  if (claims.client_id !== client.client_id)
    throw refuse(
      `it was issued to a client other than "${client.client_id}"`,
      "send it as the client that received it",
    );
  return claims;
}

/** The user, the grant and the family of a subject token that is still good. @returns the refusal, which may also revoke */
function liveSubject(
  tx: Tx,
  ctx: Context,
  claims: IdTokenClaims | RefreshClaims,
): { readonly user: User; readonly grant: Grant; readonly family: string } | OAuthError {
  const isRefresh = "generation" in claims;
  const grantId = isRefresh ? claims.grant : findGrant(tx, claims.sub, claims.client_id)?.id;
  if (grantId === undefined) return refuse("it belongs to a consent that no longer exists", signInAgain);
  const flaw = isRefresh ? undefined : flawOf(tx, claims.jti);
  if (flaw !== undefined) return refuse(flaw.reason, signInAgain);
  const state = tokenState(tx, { ...claims, grant: grantId }, !isRefresh);
  if (isDead(state)) {
    if (state.code === "invalid_token") return refuse(state.message, signInAgain, state.detail);
    return new OAuthError("invalid_grant", state.message, {
      rule: "RFC 6749 5.2",
      cause: state.detail,
      ...fixOf(state),
    });
  }
  if (isRefresh && placeInFamily(tx, ctx, claims) === "rotated") {
    killFamily(tx, ctx, claims.family, "was revoked: a rotated refresh token was used again");
    return refuse("it was already rotated, so every token of its family is revoked (RFC 9700 4.14.2)", signInAgain);
  }
  const { user, grant } = state;
  if (user === null || grant === null) return refuse("it names no user", signInAgain);
  return { user, grant, family: claims.family };
}
