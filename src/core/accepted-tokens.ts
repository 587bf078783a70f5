import { createSecretKey, type KeyObject } from "node:crypto";
import {
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  errors as joseErrors,
  jwtVerify,
  type JWTVerifyOptions,
} from "jose";
import type { Context } from "./context.ts";
import { OAuthError } from "./errors.ts";
import { publicAlgs } from "./keys.ts";
import { relative } from "./time-words.ts";
import { tokenTypes, type RefreshClaims, type TokenClaims } from "./tokens.ts";

/** The only file that verifies this server's own tokens. */

/** A token of this server whose signature, kind, issuer and times hold. */
export type GenuineToken =
  | { readonly kind: "access"; readonly claims: TokenClaims }
  | { readonly kind: "refresh"; readonly claims: RefreshClaims };

/** Why a token is not accepted, in a sentence for the developer. Never repeats the token. */
function reasonOf(error: unknown, now: number): string {
  if (error instanceof joseErrors.JWTExpired) {
    const { exp } = error.payload;
    return `the token expired ${exp === undefined ? "" : relative(exp - now / 1000)}`.trim();
  }
  if (error instanceof joseErrors.JWTClaimValidationFailed) {
    if (error.claim === "typ") return "the token is of another kind";
    const { nbf } = error.payload;
    if (error.claim === "nbf" && typeof nbf === "number")
      return `the token is valid ${relative(nbf - now / 1000)} only`;
    return error.reason === "missing"
      ? `the token has no "${error.claim}" claim`
      : `the token's "${error.claim}" claim is not this issuer's`;
  }
  if (error instanceof joseErrors.JOSEAlgNotAllowed)
    return "the token is signed with an algorithm that is not used for it here";
  if (error instanceof joseErrors.JWSSignatureVerificationFailed) return "the token's signature is not this server's";
  if (error instanceof joseErrors.JWKSNoMatchingKey) return "the token names a signing key that is not this server's";
  return "the value is not a token of this server";
}

/** The key that a header names, for its one algorithm: so no public key ever serves as a secret. */
function ownKey(ctx: Context, header: { readonly kid?: string; readonly alg?: string }): KeyObject {
  const found = ctx.keys.verifying(header.kid);
  if (found === undefined || found.alg !== header.alg) throw new joseErrors.JWKSNoMatchingKey();
  return found.key;
}

async function verify(
  ctx: Context,
  token: string,
  typ: string,
  algorithms: string[],
  options: JWTVerifyOptions,
): Promise<unknown> {
  try {
    const { payload } = await jwtVerify(
      token,
      (header) => {
        return ownKey(ctx, header);
      },
      { algorithms, issuer: ctx.issuer, typ, currentDate: new Date(ctx.now()), ...options },
    );
    return payload;
  } catch (error) {
    throw new OAuthError("invalid_token", reasonOf(error, ctx.now()), { cause: error });
  }
}

/**
 * Whether the signature is this server's, and nothing else: for a report that goes on to say what else is wrong.
 * @returns null where it holds, else why not
 */
export async function signatureProblem(ctx: Context, token: string): Promise<string | null> {
  try {
    await compactVerify(
      token,
      (header) => {
        // A client's own secret has no kid.
        return header.kid === undefined ? idTokenKey(ctx, token, header) : ownKey(ctx, header);
      },
      { algorithms: ["HS256", ...publicAlgs] },
    );
    return null;
  } catch (error) {
    return reasonOf(error, ctx.now());
  }
}

const always = ["exp", "iat", "sub", "client_id", "scope", "jti"];

/**
 * The claims of an access token whose signature, type, issuer and times hold. Its state is not looked up: see `token-state.ts`.
 * @throws {OAuthError} invalid_token
 */
export async function verifyAccessToken(ctx: Context, token: string): Promise<TokenClaims> {
  return (await verify(ctx, token, tokenTypes.access, ["HS256", "RS256"], {
    requiredClaims: [...always, "aud"],
  })) as TokenClaims;
}

/** Likewise of a refresh token. @throws {OAuthError} invalid_token */
export async function verifyRefreshToken(ctx: Context, token: string): Promise<RefreshClaims> {
  const requiredClaims = [...always, "grant", "epoch", "family", "generation"];
  return (await verify(ctx, token, tokenTypes.refresh, ["HS256"], { requiredClaims })) as RefreshClaims;
}

/**
 * A token of this server of either kind that carries rights.
 * @returns the refusal, where the text is none, or is none any more
 */
export async function readToken(ctx: Context, token: string): Promise<GenuineToken | OAuthError> {
  try {
    return kindOf(token) === tokenTypes.refresh
      ? { kind: "refresh", claims: await verifyRefreshToken(ctx, token) }
      : { kind: "access", claims: await verifyAccessToken(ctx, token) };
  } catch (error) {
    if (error instanceof OAuthError) return error;
    throw error;
  }
}

/** What a token says that it is, of which the signature is the proof; null where it says nothing. */
function kindOf(token: string): unknown {
  try {
    return decodeProtectedHeader(token).typ;
  } catch {
    return null;
  }
}

/** Of whom and for whom an ID token was issued. */
export interface IdTokenHint {
  readonly sub: string;
  readonly clientId: string;
}

/** The key of an ID token: with HS256 the secret of the client it is for, where that client registered HS256 (OpenID Connect Core 10.1). */
async function idTokenKey(
  ctx: Context,
  token: string,
  header: { readonly kid?: string; readonly alg?: string },
): Promise<KeyObject> {
  if (header.alg !== "HS256") return ownKey(ctx, header);
  const { aud } = decodeJwt(token);
  const client = typeof aud === "string" ? await ctx.store.read((tx) => tx.get("clients", aud)) : undefined;
  if (client?.id_token_signed_response_alg !== "HS256" || client.client_secret === undefined) {
    throw new joseErrors.JWKSNoMatchingKey();
  }
  return createSecretKey(client.client_secret, "utf8");
}

/**
 * Whose ID token this is; an expired one is taken (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2), a foreign one never.
 * @throws {OAuthError} invalid_request
 */
export async function verifyIdTokenHint(ctx: Context, hint: string): Promise<IdTokenHint> {
  try {
    const { payload } = await jwtVerify(
      hint,
      (header) => {
        return idTokenKey(ctx, hint, header);
      },
      // Any time of expiry passes: the hint says who was signed in, and proves nothing else. jose refuses a tolerance that is not finite.
      {
        algorithms: ["HS256", ...publicAlgs],
        issuer: ctx.issuer,
        typ: tokenTypes.id,
        requiredClaims: ["sub", "aud"],
        clockTolerance: Number.MAX_SAFE_INTEGER,
      },
    );
    if ((payload.nbf ?? 0) * 1000 > ctx.now()) throw new Error("the token is not valid yet");
    return { sub: payload.sub ?? "", clientId: String(payload.aud) };
  } catch (error) {
    throw new OAuthError("invalid_request", "id_token_hint is not an ID token that this server issued", {
      cause: error,
    });
  }
}
