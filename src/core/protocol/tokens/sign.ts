import { hash } from "node:crypto";
import type { Client, User } from "../../../store/store.ts";
import type { AuthenticationInfo } from "../../records/step-up/acr.ts";
import { emailOf, namedClaims } from "../../records/scopes/claims.ts";
import { isPublic } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import { idTokenSigner, sign, signerOf, tokenTypes, type UnsignedToken } from "../../records/keys/signer.ts";
import { seconds } from "../../../text/time.ts";
import { opaqueFor } from "./opaque.ts";
import { jtiOfIdToken, type AccessTokenSubject, type RefreshPlace, type TokenSubject } from "./claims.ts";

/** What tokens say. The types of their claims are in `claims.ts`; `keys/signer.ts` signs them; `accept.ts` verifies them. */

/** Adds claims without replacing any: those of the protocol come first. */
function withClaims(claims: Record<string, unknown>, more: Readonly<Record<string, unknown>>): Record<string, unknown> {
  for (const name of Object.keys(more)) if (!Object.hasOwn(claims, name)) claims[name] = more[name];
  return claims;
}

/** What a vendor's tokens say of themselves beside the standard claims; the claims of the user win. */
function vendorClaims(
  ctx: Context,
  kind: "access" | "id" | "refresh",
  sub: string,
  subject: AccessTokenSubject,
): Record<string, unknown> {
  const { payloadTypes, tenant, tokenVersion, name, apple, cognito } = ctx.layout;
  return {
    ...(payloadTypes !== undefined && { typ: payloadTypes[kind] }),
    ...(tokenVersion !== undefined && kind !== "refresh" && { ver: tokenVersion }),
    ...(tenant === true && kind !== "refresh" && { tid: name, oid: sub }),
    ...(kind === "access" && namedByVendor(ctx, subject)),
    ...(apple === true && kind === "id" && { nonce_supported: true }),
    ...(cognito === true && kind !== "refresh" && cognitoClaims(ctx, kind, subject)),
  };
}

/** The client, the user and the scopes by the names that a vendor's APIs read. */
function namedByVendor({ layout }: Context, { client, user, scopes }: AccessTokenSubject): Record<string, unknown> {
  if (layout.accessTokenNames === undefined) return {};
  const { client: clientName, user: userName, scp, roles } = layout.accessTokenNames;
  const areRoles = roles === true && user === null;
  return {
    [clientName]: client.client_id,
    ...(userName !== undefined && user !== null && { [userName]: user.id }),
    ...(scopes.length > 0 && areRoles && { roles: scopes }),
    ...(scopes.length > 0 && scp !== undefined && !areRoles && { scp: scp === "list" ? scopes : scopes.join(" ") }),
  };
}

/**
 * Cognito's claims: https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-id-token.html, and the page of the
 * access token beside it.
 */
function cognitoClaims(
  { random }: Context,
  kind: "access" | "id",
  { user, family }: AccessTokenSubject,
): Record<string, unknown> {
  const groups = user?.claims["groups"];
  return {
    token_use: kind,
    ...(kind === "access" && { version: 2 }),
    ...(user !== null && { [kind === "id" ? "cognito:username" : "username"]: user.username }),
    ...(groups !== undefined && { "cognito:groups": groups }),
    ...(family !== null && { origin_jti: family }),
    event_id: random(16),
  };
}

/** Absent where there are no scopes: a scope has at least one character (RFC 6749 3.3). */
const scopeClaim = (scopes: readonly string[]): { readonly scope?: string } =>
  scopes.length === 0 ? {} : { scope: scopes.join(" ") };

/** Seconds that an access token signed now will live. */
export const accessTokenLife = (ctx: Context, { exchanged }: AccessTokenSubject): number =>
  Math.min(ctx.settings.access_token_ttl, (exchanged?.expiresAt ?? Infinity) - seconds(ctx));

/**
 * An access token: HS256 unless set otherwise, 30 minutes unless set otherwise.
 * @param custom the `claims` of the user, or of the client that speaks for itself
 */
export async function accessToken(
  ctx: Context,
  subject: AccessTokenSubject,
  custom: Record<string, unknown>,
  authentication: (Pick<Authentication, "acr" | "authTime"> & Partial<Pick<Authentication, "sid">>) | null,
): Promise<UnsignedToken> {
  const signer = await signerOf(ctx, "access");
  const now = seconds(ctx);
  const { user, client, grant, family, era, scopes, resources, jkt, exchanged } = subject;
  const claims = {
    iss: ctx.issuer,
    sub: exchanged?.sub ?? user?.id ?? client.client_id,
    client_id: client.client_id,
    ...scopeClaim(scopes),
    // Cognito has client_id in its place.
    aud:
      resources.length === 0
        ? (client.audience ?? (ctx.layout.cognito === true ? undefined : ctx.issuer))
        : resources.length === 1
          ? resources[0]
          : resources,
    iat: now,
    exp: now + accessTokenLife(ctx, subject),
    jti: ctx.random(16),
    grant: grant?.id,
    epoch: (grant ?? client).epoch,
    family: grant === null ? undefined : family,
    era,
    client_epoch: grant === null || exchanged === undefined ? undefined : client.epoch,
    cnf: jkt === null ? undefined : { jkt },
    act: exchanged?.act ?? undefined,
    exchanged_from: exchanged?.origins,
    claims: subject.claims.userinfo.length === 0 ? undefined : { userinfo: subject.claims.userinfo },
    // RFC 9470 6.1.
    acr: authentication?.acr,
    auth_time: authentication?.authTime,
    ...(user !== null && ctx.layout.accessTokenClaims === undefined && { email: emailOf(user) }),
    ...(ctx.layout.realm === true && { azp: client.client_id, sid: authentication?.sid ?? undefined }),
  };
  return {
    typ: ctx.settings.access_token_typ,
    signer,
    claims: withClaims(withClaims(claims, custom), vendorClaims(ctx, "access", claims.sub, subject)),
  };
}

/** The access token as its client gets it. */
export async function signAccessToken(...of: Parameters<typeof accessToken>): Promise<string> {
  const [ctx] = of;
  const jwt = await sign(await accessToken(...of));
  return ctx.layout.opaque === undefined ? jwt : opaqueFor(ctx, jwt);
}

/** How the user signed in. A refresh token keeps it for later ID tokens. */
export interface Authentication extends AuthenticationInfo {
  readonly sid: string | null;
}

/** A refresh token: HS256, 7 days unless set otherwise. */
export async function refreshToken(
  ctx: Context,
  subject: TokenSubject,
  authentication: Authentication,
  place: RefreshPlace,
): Promise<UnsignedToken> {
  const now = seconds(ctx);
  const claims = {
    iss: ctx.issuer,
    sub: subject.user.id,
    client_id: subject.client.client_id,
    ...scopeClaim(subject.scopes),
    iat: now,
    exp: now + ctx.settings.refresh_token_ttl,
    jti: ctx.random(16),
    grant: subject.grant.id,
    epoch: subject.grant.epoch,
    family: subject.family,
    era: subject.era,
    ...place,
    auth_time: authentication.authTime,
    amr: authentication.amr,
    acr: authentication.acr,
    sid: authentication.sid ?? undefined,
    claims: subject.claims.userinfo.length + subject.claims.id_token.length === 0 ? undefined : subject.claims,
    resource: subject.resources.length === 0 ? undefined : subject.resources,
    // A client that authenticates may change its key. For a public client, the key is the only proof (RFC 9449 5).
    cnf: subject.jkt === null || !isPublic(subject.client) ? undefined : { jkt: subject.jkt },
  };
  return {
    typ: tokenTypes.refresh,
    signer: await signerOf(ctx, "refresh"),
    claims: { ...claims, ...vendorClaims(ctx, "refresh", claims.sub, subject) },
  };
}

/** OpenID Connect Core 3.1.3.6: the left half of the hash of the access token; Ed25519 goes with SHA-512 (RFC 8032 5.1). */
function leftHash(token: string, alg: string): string {
  // Through base64url text, which is faster than a Buffer (see `keys/jws.ts`).
  const digest = Buffer.from(hash(alg === "EdDSA" ? "sha512" : "sha256", token, "base64url"), "base64url");
  return digest.toString("base64url", 0, digest.length / 2);
}

/** Makes the keys that tokens of a user for this client are signed with, where they are missing. @throws {StorageError} */
export async function prepareKeys(ctx: Context, client: Client): Promise<void> {
  await idTokenSigner(ctx, client);
  await signerOf(ctx, "access");
}

/**
 * An ID token (OpenID Connect Core 2).
 * @param content `claims`: what it says of the user beside `sub`
 */
export async function idToken(
  ctx: Context,
  subject: TokenSubject,
  authentication: Authentication,
  content: {
    readonly claims: Record<string, unknown>;
    readonly nonce: string | null;
    readonly accessToken: string;
  },
): Promise<UnsignedToken> {
  const now = seconds(ctx);
  const { client, user } = subject;
  const signer = await idTokenSigner(ctx, client);
  const { claimsOnRequest = [] } = ctx.layout;
  const ifAsked = <T>(name: (typeof claimsOnRequest)[number], value: T): T | undefined =>
    claimsOnRequest.includes(name) && !subject.claims.id_token.includes(name) ? undefined : value;
  const claims = {
    iss: ctx.issuer,
    sub: user.id,
    aud: client.client_id,
    azp: client.client_id,
    iat: now,
    exp: now + ctx.settings.access_token_ttl,
    auth_time: ifAsked("auth_time", authentication.authTime),
    amr: ifAsked("amr", authentication.amr),
    acr: ifAsked("acr", authentication.acr),
    at_hash: leftHash(content.accessToken, signer.alg),
    sid: authentication.sid ?? undefined,
    jti: jtiOfIdToken(ctx.random(16), subject),
    nonce: content.nonce ?? undefined,
  };
  return {
    typ: tokenTypes.id,
    signer,
    claims: withClaims(withClaims(claims, content.claims), vendorClaims(ctx, "id", user.id, subject)),
  };
}

/** Seconds: an ID-JAG is used at once. */
export const idJagLife = 300;

/** The user, the audience and the scopes that an ID-JAG is for. */
interface IdJagContent {
  readonly user: User;
  /** The issuer that accepts it, and the name of the client there. */
  readonly audience: string;
  readonly clientId: string;
  readonly resources: readonly string[];
  readonly scopes: readonly string[];
}

/**
 * An ID-JAG (draft-ietf-oauth-identity-assertion-authz-grant-04 3.1): RS256, 5 minutes.
 * @param signedIn how and when the user signed in here
 */
export async function signIdJag(
  ctx: Context,
  { user, audience, clientId, resources, scopes }: IdJagContent,
  signedIn: { readonly auth_time: number; readonly acr: string; readonly amr: readonly string[] },
): Promise<string> {
  const now = seconds(ctx);
  const { auth_time, acr, amr } = signedIn;
  const claims = {
    iss: ctx.issuer,
    sub: user.id,
    aud: audience,
    client_id: clientId,
    jti: ctx.random(16),
    iat: now,
    exp: now + idJagLife,
    ...{ auth_time, acr, amr },
    resource: resources.length > 1 ? resources : resources[0],
    ...scopeClaim(scopes),
    ...namedClaims(user, ["email", "email_verified"]),
  };
  return sign({ typ: tokenTypes.idJag, signer: await signerOf(ctx, "idJag"), claims });
}
