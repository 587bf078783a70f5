import { createHash } from "node:crypto";
import type { JWTPayload } from "jose";
import type { Client } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { mayBeForgotten } from "../era.ts";
import { isGoodNonce } from "../keys/dpop-nonce.ts";
import { OAuthError } from "../errors.ts";
import { privateMembers, thumbprint } from "../keys/keys.ts";
import { hashOf } from "../secrets.ts";
import { readJws } from "../keys/jws.ts";
import type { TokenClaims } from "./claims.ts";

/** Demonstrating Proof of Possession (RFC 9449): tokens that only the holder of a key can use. */

/** A `DPoP` header, and the request that brought it. */
export interface Proof {
  readonly jwt: string;
  readonly method: string;
  /** The address of the endpoint, as discovery gives it. */
  readonly url: string;
}

/** What discovery lists: asymmetric ones only (RFC 9449 4.2). */
export const proofAlgorithms = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "PS256", "RS256"];

/** Seconds that the clocks of client and server may be apart, either way (RFC 9449 11.1). */
const proofWindow = 60;

const needsNonce =
  'the DPoP proof needs a current nonce of this server: repeat the request with the value of the DPoP-Nonce header as the "nonce" of a new proof (RFC 9449 8)';

type Refuse = (reason: string, cause?: unknown) => OAuthError;

/** RFC 9449 5: 400 at this server's own endpoints; 7.1: 401 where an access token is presented. */
const refusal =
  (accessToken: string | null): Refuse =>
  (reason, cause) =>
    new OAuthError("invalid_dpop_proof", `the DPoP proof is not accepted: ${reason}`, {
      cause,
      ...(accessToken === null ? {} : { status: 401 }),
    });

/**
 * Checks a proof (RFC 9449 4.3), which passes once.
 * @param accessToken the token that it is to go with; null: none is presented
 * @returns the thumbprint of its key (RFC 7638)
 * @throws {OAuthError} invalid_dpop_proof with the rule that failed, use_dpop_nonce
 */
export async function verifyProof(ctx: Context, proof: Proof, accessToken: string | null): Promise<string> {
  const refuse = refusal(accessToken);
  const { claims, jwk } = await readProof(ctx, proof.jwt, refuse);
  checkRequest(claims, proof, refuse);
  if (accessToken !== null) checkTokenHash(claims, accessToken, refuse);
  // Before its "jti" is used up.
  if (!isGoodNonce(ctx, claims["nonce"])) {
    throw new OAuthError("use_dpop_nonce", needsNonce, { ...(accessToken !== null && { status: 401 }) });
  }
  const issuedAt = claims.iat ?? 0;
  const age = ctx.now() / 1000 - issuedAt;
  if (Math.abs(age) > proofWindow) {
    const off = `${Math.round(Math.abs(age))} s ${age > 0 ? "ago" : "ahead"}`;
    throw refuse(
      `it was made ${off} ("iat") by this server's clock; at most ${proofWindow} s are allowed (RFC 9449 4.3)`,
    );
  }
  const jkt = thumbprint(jwk);
  const id = hashOf(`${jkt} ${String(claims.jti)}`);
  const isNew = await ctx.store.transaction((tx) => {
    if (mayBeForgotten(tx, (issuedAt + proofWindow) * 1000 + 1))
      throw refuse("it was made before the clock was set back");
    if (tx.get("usedProofs", id) !== undefined) return false;
    // For as long as the proof would otherwise be accepted.
    tx.insert("usedProofs", { id, expiresAt: (issuedAt + proofWindow) * 1000 + 1 });
    return true;
  });
  if (!isNew) throw refuse('its "jti" was used before; make a new proof for each request (RFC 9449 11.1)');
  return jkt;
}

/** Verifies the signature with the public key in the proof's own header. */
async function readProof(
  ctx: Context,
  jwt: string,
  refuse: Refuse,
): Promise<{ readonly claims: JWTPayload; readonly jwk: Readonly<Record<string, unknown>> }> {
  // Header fields of one name arrive as one, joined by commas (RFC 9110 5.3).
  if (jwt.includes(",")) throw refuse("there is more than one DPoP header; send one (RFC 9449 4.3)");
  if (readJws(jwt) === null)
    throw refuse("it is not a JWT in canonical base64url, or needs an extension (RFC 7515 4.1.11)");
  // Imported here, because most servers never receive a DPoP proof.
  const { EmbeddedJWK, jwtVerify } = await import("jose");
  try {
    const { payload, protectedHeader } = await jwtVerify(
      jwt,
      (header, token) => {
        if (privateMembers.some((name) => Object.hasOwn({ ...header.jwk }, name))) {
          throw refuse('its "jwk" holds a private key; put the public key there, and never use this one again');
        }
        return EmbeddedJWK(header, token);
      },
      {
        typ: "dpop+jwt",
        algorithms: proofAlgorithms,
        requiredClaims: ["jti", "htm", "htu", "iat"],
        currentDate: new Date(ctx.now()),
        // As for "iat": the clock of whoever made it may be ahead.
        clockTolerance: proofWindow,
      },
    );
    if (payload.exp !== undefined && payload.exp * 1000 <= ctx.now()) throw refuse('it has expired ("exp")');
    if (typeof payload.jti !== "string" || payload.jti === "") throw refuse('its "jti" is not a string');
    return { claims: payload, jwk: { ...protectedHeader.jwk } };
  } catch (error) {
    if (error instanceof OAuthError) throw error;
    throw refuse(error instanceof Error ? error.message : "it cannot be verified", error);
  }
}

/** Checks that the proof was made for this request. */
function checkRequest({ htm, htu }: JWTPayload, { method, url }: Proof, refuse: Refuse): void {
  if (htm !== method) throw refuse(`its "htm" is ${JSON.stringify(htm)}, the request is a ${method}`);
  if (typeof htu !== "string" || !isSameUri(htu, url)) {
    throw refuse(`its "htu" is ${JSON.stringify(htu)}, the request went to "${url}"`);
  }
}

function checkTokenHash({ ath }: JWTPayload, accessToken: string, refuse: Refuse): void {
  if (ath !== createHash("sha256").update(accessToken).digest("base64url")) {
    const what = ath === undefined ? 'it has no "ath",' : 'its "ath" is not';
    throw refuse(`${what} the base64url SHA-256 hash of the access token (RFC 9449 4.2)`);
  }
}

/** An http URI as RFC 3986 writes it: scheme, host, port, path; then a query and a fragment, which do not count. */
const httpUri =
  /^(https?):\/\/([\w.-]+|\[[0-9a-f:.]+\])(?::(\d*))?((?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*)*)(?:[?#].*)?$/i;

/** Only RFC 3986 6.2.2 and 6.2.3, without the other repairs that a browser would make. Null: not an http URI. */
function normalize(uri: string): string | null {
  const [, scheme, host, port, path] = httpUri.exec(uri) ?? [];
  if (scheme === undefined || host === undefined || path === undefined) return null;
  const isDefault = port === undefined || port === "" || port === (/^http$/i.test(scheme) ? "80" : "443");
  const plain = path.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
  // URL only resolves the dot segments here; nothing else of the path can change.
  return `${scheme}://${host}${isDefault ? "" : `:${port}`}`.toLowerCase() + new URL(`http://x${plain}`).pathname;
}

const isSameUri = (given: string, url: string): boolean =>
  given === url || normalize(given) === (normalize(url) ?? url);

/**
 * The key that a token request proves to hold: its tokens are bound to that.
 * @returns null: it brought no proof, so its tokens are bearer tokens
 * @throws {OAuthError} invalid_dpop_proof
 */
export async function provenKey(ctx: Context, client: Client, proof: Proof | null): Promise<string | null> {
  if (proof !== null) return verifyProof(ctx, proof, null);
  if (client.dpop_bound_access_tokens === true) {
    throw new OAuthError(
      "invalid_dpop_proof",
      `client "${client.client_id}" has dpop_bound_access_tokens, so a DPoP header is needed with each token request (RFC 9449 5.2)`,
    );
  }
  return null;
}

/**
 * A code or refresh token that is bound to a key is valid only with that key.
 * @param bound null: it is not bound
 * @throws {OAuthError} invalid_grant
 */
export function checkBinding(what: "code" | "refresh_token", bound: string | null, proven: string | null): void {
  if (bound === null || bound === proven) return;
  throw new OAuthError(
    "invalid_grant",
    proven === null
      ? `${what} is bound to a key, and the request has no DPoP header that proves it (RFC 9449 ${what === "code" ? "10" : "5"})`
      : `${what} is bound to another key than the one of the DPoP proof`,
  );
}

/** `dpop_jkt` of an authorization request (RFC 9449 10). @throws {OAuthError} invalid_request */
export function checkThumbprint(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!/^[\w-]{43}$/.test(value)) {
    throw new OAuthError(
      "invalid_request",
      `dpop_jkt "${value}" is not a base64url SHA-256 thumbprint of 43 characters (RFC 9449 10, RFC 7638)`,
    );
  }
  return value;
}

/** An access token as a request presents it. */
export interface PresentedToken {
  readonly token: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly proof: Proof | null;
}

/**
 * Checks that the sender of a token is the client it was issued to (RFC 9449 7.1), and refuses bound tokens sent as bearer tokens (7.2).
 * @param claims of that token, already verified
 * @throws {OAuthError} invalid_token, invalid_dpop_proof; invalid_request if it is unclear how the token is presented
 */
export async function checkSender(
  ctx: Context,
  { cnf }: TokenClaims,
  { token, scheme, proof }: PresentedToken,
): Promise<void> {
  if (scheme === "Bearer") {
    if (cnf !== undefined) {
      throw new OAuthError(
        "invalid_token",
        "the token is bound to a key: send it as Authorization: DPoP <access token>, with a DPoP proof (RFC 9449 7.2)",
      );
    }
    if (proof !== null) {
      throw new OAuthError(
        "invalid_request",
        "a DPoP proof beside a bearer token: leave the DPoP header out, or send a token that is bound to its key as Authorization: DPoP",
      );
    }
    return;
  }
  if (cnf === undefined) {
    throw new OAuthError("invalid_token", "the token is bound to no key: send it as Authorization: Bearer");
  }
  if (proof === null) throw refusal(token)("it is missing; send it in a DPoP header (RFC 9449 7.1)");
  if ((await verifyProof(ctx, proof, token)) !== cnf.jkt) {
    throw new OAuthError("invalid_token", "the token is bound to another key than the one of the DPoP proof");
  }
}
