import { createSecretKey, type KeyObject } from "node:crypto";
import { ownText } from "../../../text/redacted.ts";
import type { Context } from "../../context.ts";
import { movedClock } from "../../base/clock.ts";
import { OAuthError } from "../../base/errors.ts";
import { findGrant } from "../../sign-in/grants/grants.ts";
import { isSignedBy, readJws, type Jws } from "../../records/keys/jws.ts";
import { publicAlgs } from "../../records/keys/keys.ts";
import { relative } from "../../../text/time.ts";
import { flawOf } from "./state.ts";
import { asGiven, foreign, ofIssuer, TokenProblem, unreadable } from "./token-problem.ts";
import {
  kindInWords,
  kindOfToken,
  readJti,
  requiredClaims,
  type IdTokenClaims,
  type RefreshClaims,
  type TokenClaims,
  type TokenKind,
} from "./claims.ts";

/** The only file that verifies this server's own tokens. */

/** A token of this server whose signature, kind, issuer and times hold. */
export type GenuineToken =
  | { readonly kind: "access"; readonly claims: TokenClaims }
  | { readonly kind: "refresh"; readonly claims: RefreshClaims };

/** A key of this server or of one of its clients, and the one algorithm it may be used for. */
interface OwnKey {
  readonly alg: string;
  readonly key: KeyObject;
}

function ownKey(ctx: Context, { header: { kid } }: Jws): OwnKey | undefined {
  return typeof kid === "string" ? ctx.keys.verifying(kid) : undefined;
}

/**
 * Caches parsed tokens, with the key that verified each signature: an app sends the same access token again and again. The result depends
 * only on the token's text, so all servers of a process share the cache. The key must still be in use; kind, issuer, times and state are
 * checked each time.
 */
const checked = new Map<string, { readonly jws: Jws; readonly key: KeyObject }>();

/** About two megabytes, and five at most. */
const maxChecked = 1000;
const maxCheckedLength = 4000;

function remember(token: string, jws: Jws, key: KeyObject): void {
  if (token.length > maxCheckedLength) return;
  const own = ownText(token);
  const end = jws.input.length;
  if (checked.size >= maxChecked) for (const oldest of checked.keys()) if (checked.delete(oldest)) break;
  checked.set(own, { jws: { ...jws, input: own.slice(0, end), signature: own.slice(end + 1) }, key });
}

const read = (token: string): Jws | null => checked.get(token)?.jws ?? readJws(token);

/** @throws {TokenProblem} */
function parse(token: string, algorithms: readonly string[]): Jws {
  const jws = read(token);
  if (jws === null) throw unreadable(token);
  if (String(jws.header["alg"]).toLowerCase() === "none")
    throw new TokenProblem('the token is not signed: its alg is "none"', {
      rule: "RFC 7519 6",
      fix: asGiven,
    });
  if (!algorithms.some((alg) => alg === jws.header["alg"]))
    throw new TokenProblem("the token is signed with an algorithm that is not used for it here", {
      rule: "RFC 8725 3.1",
      fix: asGiven,
    });
  return jws;
}

/** @throws {TokenProblem} */
function checkSignature(ctx: Context, jws: Jws, by: OwnKey | undefined): void {
  // The key is used with its own algorithm only: so no public key ever serves as a secret.
  if (by === undefined || by.alg !== jws.header["alg"]) {
    const of = foreign(ctx, jws);
    if (of !== null) throw of;
    const message =
      jws.header["kid"] === undefined
        ? "the token names no key: its header has no kid"
        : "the token names a signing key that is not this server's";
    throw new TokenProblem(message, {
      rule: "RFC 7515 4.1.4",
      fix: { text: "Sign in again for new tokens; to see the keys", command: ["idp", "keys", "list"] },
    });
  }
  if (!isSignedBy(jws, by.alg, by.key))
    throw new TokenProblem("the token's signature is not this server's", { rule: "RFC 7515 5.2", fix: asGiven });
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** Kind, issuer and times (RFC 7519 4.1). @throws {TokenProblem} */
function checkClaims(ctx: Context, jws: Jws, kind: TokenKind, { allowExpired = false, now = ctx.now() } = {}): void {
  const { payload } = jws;
  const given = kindOfToken(jws);
  if (given !== kind) {
    const what = given === undefined ? "of another kind" : kindInWords[given];
    throw new TokenProblem(`the token is ${what}; send ${kindInWords[kind]}`, {
      rule: "RFC 8725 3.11",
      fix: `send ${kindInWords[kind]}, which is another member of the token response`,
    });
  }
  const mayLack = kind === "access" && ctx.layout.cognito === true ? "aud" : null;
  const missing = requiredClaims[kind].find((name) => name !== mayLack && !Object.hasOwn(payload, name));
  if (missing !== undefined)
    throw new TokenProblem(`the token has no "${missing}" claim`, { rule: "RFC 9068 2.2", fix: asGiven });
  if (payload["iss"] !== ctx.issuer)
    throw foreign(ctx, jws) ?? new TokenProblem("the token's \"iss\" claim is not this issuer's", ofIssuer);
  for (const name of ["iat", "nbf", "exp"]) {
    if (payload[name] !== undefined && !isNumber(payload[name]))
      throw new TokenProblem(`the token's "${name}" claim is not a time`, { rule: "RFC 7519 4.1", fix: asGiven });
  }
  const { nbf, exp } = payload as { readonly nbf?: number; readonly exp?: number };
  const at = now / 1000;
  if (nbf !== undefined && nbf > at)
    throw new TokenProblem(`the token becomes valid ${relative(nbf - at)}`, {
      rule: "RFC 7519 4.1.5",
      fix: movedClock(ctx)?.fix ?? "use it later, or get another one",
    });
  if (exp !== undefined && exp <= at && !allowExpired)
    throw new TokenProblem(`the token expired ${relative(exp - at)}`, {
      rule: "RFC 7519 4.1.4",
      fix: "get a new one with the refresh token, or sign in again",
      expiredAt: exp,
    });
}

function verify(ctx: Context, token: string, kind: TokenKind, algorithms: readonly string[], now?: number): unknown {
  try {
    const jws = parse(token, algorithms);
    const by = ownKey(ctx, jws);
    if (by === undefined || checked.get(token)?.key !== by.key) {
      checkSignature(ctx, jws, by);
      // A refresh token is sent only once, so it is not cached.
      if (kind === "access" && by !== undefined) remember(token, jws, by.key);
    }
    checkClaims(ctx, jws, kind, { now });
    return jws.payload;
  } catch (error) {
    if (error instanceof TokenProblem) return error;
    throw error;
  }
}

/**
 * Checks only the signature, for a report that then lists the other problems.
 * @returns null if it holds, else why not
 */
export async function signatureProblem(ctx: Context, token: string): Promise<string | null> {
  try {
    const jws = parse(token, ["HS256", ...publicAlgs]);
    // A client's own secret has no kid.
    checkSignature(ctx, jws, jws.header["kid"] === undefined ? await idTokenKey(ctx, jws) : ownKey(ctx, jws));
    return null;
  } catch (error) {
    if (error instanceof TokenProblem) return error.message;
    throw error;
  }
}

/** The claims of an access token whose signature, type, issuer and times hold. Does not look up its state: see `state.ts`. */
export const verifyAccessToken = (ctx: Context, token: string, now?: number): TokenClaims | TokenProblem =>
  verify(ctx, token, "access", ["HS256", "RS256"], now) as TokenClaims | TokenProblem;

/** The same for a refresh token. */
export const verifyRefreshToken = (ctx: Context, token: string, now?: number): RefreshClaims | TokenProblem =>
  verify(ctx, token, "refresh", ["HS256"], now) as RefreshClaims | TokenProblem;

/**
 * The claims of an ID token that has not expired, for a client that exchanges it. One that is signed with the secret of its client is refused: the
 * client itself could have made it.
 */
export function verifyIdToken(ctx: Context, token: string): IdTokenClaims | TokenProblem {
  const claims = verify(ctx, token, "id", publicAlgs);
  if (claims instanceof TokenProblem) return claims;
  const { aud, jti, ...others } = claims as IdTokenClaims;
  const state = readJti(jti);
  if (state === null || typeof aud !== "string")
    return new TokenProblem("the token is not an ID token of one client", { rule: "RFC 7519 4.1.3", fix: asGiven });
  return { ...others, ...state, aud, jti, client_id: aud };
}

/** Reads an access or refresh token of this server. @param now in milliseconds, where its times are not checked by the clock */
export function readToken(ctx: Context, token: string, now?: number): GenuineToken | TokenProblem {
  // What the token claims to be. The signature, checked next, is the proof.
  const jws = read(token);
  if (jws !== null && kindOfToken(jws) === "refresh") {
    const claims = verifyRefreshToken(ctx, token, now);
    return claims instanceof TokenProblem ? claims : { kind: "refresh", claims };
  }
  const claims = verifyAccessToken(ctx, token, now);
  return claims instanceof TokenProblem ? claims : { kind: "access", claims };
}

/** The user and the client that an ID token was issued for. */
export interface IdTokenHint {
  readonly sub: string;
  readonly clientId: string;
  /** The session that it came from; null: it was issued without a browser. */
  readonly sid: string | null;
}

/**
 * The key of an ID token: with HS256 the secret of the client it is for, if that client registered HS256 (OpenID Connect Core 10.1). Anybody
 * with that secret can sign a token about any user. So it is accepted only for users who have a grant for that client.
 */
async function idTokenKey(ctx: Context, jws: Jws): Promise<OwnKey | undefined> {
  if (jws.header["alg"] !== "HS256") return ownKey(ctx, jws);
  const { aud, sub } = jws.payload;
  if (typeof aud !== "string" || typeof sub !== "string") return undefined;
  const client = await ctx.store.read((tx) =>
    findGrant(tx, sub, aud) === undefined ? undefined : tx.get("clients", aud),
  );
  if (client?.id_token_signed_response_alg !== "HS256" || client.client_secret === undefined) return undefined;
  return { alg: "HS256", key: createSecretKey(client.client_secret, "utf8") };
}

/**
 * Whose ID token this is. An expired one is accepted (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2), one of another issuer is not.
 * @throws {OAuthError} invalid_request
 */
export async function verifyIdTokenHint(ctx: Context, hint: string): Promise<IdTokenHint> {
  try {
    const jws = parse(hint, ["HS256", ...publicAlgs]);
    checkSignature(ctx, jws, await idTokenKey(ctx, jws));
    checkClaims(ctx, jws, "id", { allowExpired: true });
    const { sub, aud, sid, jti } = jws.payload;
    const flaw = await ctx.store.read((tx) => flawOf(tx, jti));
    if (flaw !== undefined)
      throw new TokenProblem(flaw.reason, { rule: "RFC 7519 7.2", fix: "sign in again: a fault spoiled this token" });
    return { sub: String(sub), clientId: String(aud), sid: typeof sid === "string" ? sid : null };
  } catch (error) {
    if (!(error instanceof TokenProblem)) throw error;
    const message = `id_token_hint is not an ID token that this server issued: ${error.message}`;
    throw new OAuthError("invalid_request", message, {
      rule: error.rule,
      parameter: "id_token_hint",
      fix: "send the id_token of the user's last sign-in here, or leave id_token_hint out",
      cause: error,
    });
  }
}
