import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { compactVerify, SignJWT, errors as joseErrors, jwtVerify, type JWTVerifyOptions } from "jose";
import type { Client, Grant, Session, User } from "../store/store.ts";
import { isPublic } from "./clients.ts";
import type { Context } from "./context.ts";
import { seconds } from "./time.ts";
import { OAuthError } from "./errors.ts";
import { publicAlgs, type SigningKey } from "./keys.ts";

/** The only file that signs or verifies. What a token says is CONTRACT 2.4. */

/** RFC 9068 2.1, and the same idea for refresh tokens: a token of one kind never passes for another. */
const types = { access: "at+jwt", refresh: "rt+jwt", id: "JWT", logout: "logout+jwt" } as const;

/** Whom an access token speaks for, and where. */
export interface AccessTokenSubject {
  readonly client: Client;
  /** Null, with grant and family: the client speaks for itself (client credentials). */
  readonly user: User | null;
  readonly grant: Grant | null;
  readonly family: string | null;
  readonly scopes: readonly string[];
  /** RFC 8707: the APIs it is meant for; none: the client's `audience`, else the issuer. */
  readonly resources: readonly string[];
  /** Thumbprint of the key that the token is bound to (RFC 9449 6.1); null: a bearer token. */
  readonly jkt: string | null;
  /** Only for a token that was got by exchange. */
  readonly exchanged?: Exchanged;
}

/** Who acts for the subject of a token, and for whom that one acted before (RFC 8693 4.1). */
export interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

/** What a token has of those it was exchanged for (RFC 8693). */
interface Exchanged {
  readonly sub: string;
  /** Seconds since 1970: it ends with them, else a token could be renewed by exchange for ever. */
  readonly expiresAt: number;
  readonly act: Actor | null;
}

/** What the tokens of one authorization have in common. */
export interface TokenSubject extends AccessTokenSubject {
  readonly client: Client;
  readonly user: User;
  readonly grant: Grant;
  readonly family: string;
}

/** Claims of an access or refresh token, by which its state is looked up. */
export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud?: string | readonly string[];
  readonly client_id: string;
  readonly scope: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  /** Absent for a token without a user (client credentials). */
  readonly grant?: string;
  readonly epoch?: string;
  readonly family?: string;
  /** Absent: a bearer token. */
  readonly cnf?: { readonly jkt: string };
  readonly act?: Actor;
}

export interface RefreshClaims extends TokenClaims {
  readonly grant: string;
  readonly epoch: string;
  readonly family: string;
  readonly generation: number;
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly acr?: string;
  readonly sid?: string;
  readonly resource?: readonly string[];
}

function sign({ alg, kid, privateKey }: SigningKey, type: string, claims: Record<string, unknown>): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, typ: type, kid }).sign(privateKey);
}

/** Seconds that an access token signed now will live. */
export const accessTokenLife = (ctx: Context, { exchanged }: AccessTokenSubject): number =>
  Math.min(ctx.settings.access_token_ttl, (exchanged?.expiresAt ?? Infinity) - seconds(ctx));

/**
 * An access token: HS256 unless set otherwise, 30 minutes unless set otherwise.
 * @param custom the user's own claims in it
 */
export async function signAccessToken(
  ctx: Context,
  subject: AccessTokenSubject,
  custom: Record<string, unknown>,
): Promise<string> {
  const key = ctx.settings.access_token_alg === "RS256" ? await ctx.keys.signing("RS256") : ctx.keys.secret;
  const now = seconds(ctx);
  const { user, client, grant, family, scopes, resources, jkt, exchanged } = subject;
  return sign(key, types.access, {
    ...custom,
    iss: ctx.issuer,
    sub: exchanged?.sub ?? user?.id ?? client.client_id,
    ...(user === null ? {} : { email: user.email }),
    client_id: client.client_id,
    scope: scopes.join(" "),
    aud: resources.length === 0 ? (client.audience ?? ctx.issuer) : resources.length === 1 ? resources[0] : resources,
    iat: now,
    exp: now + accessTokenLife(ctx, subject),
    jti: ctx.random(16),
    ...(grant === null ? {} : { grant: grant.id, epoch: grant.epoch, family }),
    ...(jkt === null ? {} : { cnf: { jkt } }),
    ...(exchanged?.act == null ? {} : { act: exchanged.act }),
  });
}

/** How the user signed in; a refresh token carries it on for the ID tokens to come. */
export interface Authentication {
  /** Seconds since 1970. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string | null;
  readonly sid: string | null;
}

/** A refresh token: HS256, 7 days unless set otherwise. */
export function signRefreshToken(
  ctx: Context,
  subject: TokenSubject,
  authentication: Authentication,
  generation: number,
): Promise<string> {
  const now = seconds(ctx);
  return sign(ctx.keys.secret, types.refresh, {
    iss: ctx.issuer,
    sub: subject.user.id,
    client_id: subject.client.client_id,
    scope: subject.scopes.join(" "),
    iat: now,
    exp: now + ctx.settings.refresh_token_ttl,
    jti: ctx.random(16),
    grant: subject.grant.id,
    epoch: subject.grant.epoch,
    family: subject.family,
    generation,
    auth_time: authentication.authTime,
    amr: authentication.amr,
    ...(authentication.acr === null ? {} : { acr: authentication.acr }),
    ...(authentication.sid === null ? {} : { sid: authentication.sid }),
    ...(subject.resources.length === 0 ? {} : { resource: subject.resources }),
    // A client that authenticates may change its key; of one that cannot, the key is all that it proves (RFC 9449 5).
    ...(subject.jkt === null || !isPublic(subject.client) ? {} : { cnf: { jkt: subject.jkt } }),
  });
}

/** OpenID Connect Core 2: no particular level of assurance. */
const defaultAcr = "0";

/** OpenID Connect Core 3.1.3.6: the left half of the hash of the access token; Ed25519 goes with SHA-512 (RFC 8032 5.1). */
function leftHash(token: string, alg: string): string {
  const hash = createHash(alg === "EdDSA" ? "sha512" : "sha256")
    .update(token, "ascii")
    .digest();
  return hash.subarray(0, hash.length / 2).toString("base64url");
}

/** With what a client's ID tokens are signed; with HS256 its own secret is the key (OpenID Connect Core 10.1). */
async function idTokenKey(ctx: Context, client: Client): Promise<{ alg: string; kid?: string; privateKey: KeyObject }> {
  const alg = client.id_token_signed_response_alg ?? "RS256";
  if (alg === "HS256") return { alg, privateKey: createSecretKey(client.client_secret ?? "", "utf8") };
  const known = publicAlgs.find((name) => name === alg);
  if (known === undefined) throw new Error(`client "${client.client_id}" asks for ID tokens signed with "${alg}"`);
  return ctx.keys.signing(known);
}

/**
 * An ID token (OpenID Connect Core 2).
 * @param content `claims`: what it says of the user beside `sub`
 */
export async function signIdToken(
  ctx: Context,
  subject: TokenSubject,
  authentication: Authentication,
  content: {
    readonly claims: Record<string, unknown>;
    readonly nonce: string | null;
    readonly accessToken: string;
  },
): Promise<string> {
  const now = seconds(ctx);
  const { client, user } = subject;
  const { alg, kid, privateKey } = await idTokenKey(ctx, client);
  return new SignJWT({
    ...content.claims,
    iss: ctx.issuer,
    sub: user.id,
    aud: client.client_id,
    azp: client.client_id,
    iat: now,
    exp: now + ctx.settings.access_token_ttl,
    auth_time: authentication.authTime,
    amr: authentication.amr,
    acr: authentication.acr ?? defaultAcr,
    at_hash: leftHash(content.accessToken, alg),
    ...(authentication.sid === null ? {} : { sid: authentication.sid }),
    ...(content.nonce === null ? {} : { nonce: content.nonce }),
  })
    .setProtectedHeader({ alg, typ: types.id, ...(kid === undefined ? {} : { kid }) })
    .sign(privateKey);
}

/** Seconds: a logout token is used at once (OpenID Connect Back-Channel Logout 2.4). */
const logoutTokenTtl = 120;

/** A logout token: `sid`, `jti` and the one event, never a nonce (OpenID Connect Back-Channel Logout 2.4). */
export async function signLogoutToken(ctx: Context, client: Client, session: Session): Promise<string> {
  const now = seconds(ctx);
  const { alg, kid, privateKey } = await idTokenKey(ctx, client);
  return new SignJWT({
    iss: ctx.issuer,
    sub: session.userId,
    aud: client.client_id,
    iat: now,
    exp: now + logoutTokenTtl,
    jti: ctx.random(16),
    sid: session.sid,
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  })
    .setProtectedHeader({ alg, typ: types.logout, ...(kid === undefined ? {} : { kid }) })
    .sign(privateKey);
}

/** Why a token is not accepted, in a sentence for the developer. Never repeats the token. */
function reasonOf(error: unknown, now: number): string {
  if (error instanceof joseErrors.JWTExpired) {
    const expired = typeof error.payload.exp === "number" ? `${Math.floor(now / 1000) - error.payload.exp} s ago` : "";
    return `the token expired ${expired}`.trim();
  }
  if (error instanceof joseErrors.JWTClaimValidationFailed) {
    if (error.claim === "typ") return "the token is of another kind";
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
        return ownKey(ctx, header);
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
  return (await verify(ctx, token, types.access, ["HS256", "RS256"], {
    requiredClaims: [...always, "aud"],
  })) as TokenClaims;
}

/** Likewise of a refresh token. @throws {OAuthError} invalid_token */
export async function verifyRefreshToken(ctx: Context, token: string): Promise<RefreshClaims> {
  const requiredClaims = [...always, "grant", "epoch", "family", "generation"];
  return (await verify(ctx, token, types.refresh, ["HS256"], { requiredClaims })) as RefreshClaims;
}

/** Of whom and for whom an ID token was issued. */
export interface IdTokenHint {
  readonly sub: string;
  readonly clientId: string;
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
        return ownKey(ctx, header);
      },
      // Any time passes: the hint says who was signed in, and proves nothing else. jose refuses a tolerance that is not finite.
      {
        algorithms: [...publicAlgs],
        issuer: ctx.issuer,
        typ: types.id,
        requiredClaims: ["sub", "aud"],
        clockTolerance: Number.MAX_SAFE_INTEGER,
      },
    );
    return { sub: payload.sub ?? "", clientId: String(payload.aud) };
  } catch (error) {
    throw new OAuthError("invalid_request", "id_token_hint is not an ID token that this server issued", {
      cause: error,
    });
  }
}
