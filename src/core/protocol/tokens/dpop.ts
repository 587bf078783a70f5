import { createHash, createHmac } from "node:crypto";
import type { JWTPayload } from "jose";
import type { Context } from "../../context.ts";
import { useOnce } from "../../base/era.ts";
import { OAuthError, type Guidance } from "../../base/errors.ts";
import { expired, problemOf, timeProblem, readJws } from "../../records/keys/jws.ts";
import { privateMembers, thumbprint } from "../../records/keys/keys.ts";
import { hashOf, sameSecret } from "../../base/secrets.ts";

/** Demonstrating Proof of Possession (RFC 9449): tokens that only the holder of a key can use. */

/** A `DPoP` header, and the request that brought it. */
export interface Proof {
  readonly jwt: string;
  readonly method: string;
  /** The address of the endpoint, as discovery gives it. */
  readonly url: string;
}

/** The algorithms that discovery lists: asymmetric ones only (RFC 9449 4.2). */
export const proofAlgorithms = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "PS256", "RS256"];

/** Seconds that the clocks of client and server may be apart, either way (RFC 9449 11.1). */
const proofWindow = 60;

const needsNonce =
  'the DPoP proof needs a current nonce of this server: repeat the request with the value of the DPoP-Nonce header as the "nonce" of a new proof';

/** @param guidance RFC 9449 4.3 is the rule unless another one is more exact */
type Refuse = (reason: string, guidance: Pick<Guidance, "fix"> & Partial<Guidance>, cause?: unknown) => OAuthError;

export const makeNew = { fix: "make a new proof for each request, with its method and address" };

/** RFC 9449 5: 400 at this server's own endpoints; 7.1: 401 where an access token is presented. */
export const refusal =
  (accessToken: string | null): Refuse =>
  (reason, guidance, cause) =>
    new OAuthError("invalid_dpop_proof", `the DPoP proof is not accepted: ${reason}`, {
      rule: "RFC 9449 4.3",
      ...guidance,
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
    throw new OAuthError("use_dpop_nonce", needsNonce, {
      rule: accessToken === null ? "RFC 9449 8" : "RFC 9449 9",
      fix: null,
      ...(accessToken !== null && { status: 401 }),
    });
  }
  const issuedAt = claims.iat ?? 0;
  const age = ctx.now() / 1000 - issuedAt;
  if (Math.abs(age) > proofWindow) {
    const off = `${Math.round(Math.abs(age))} s ${age > 0 ? "ago" : "ahead"}`;
    const reason = `it was made ${off} ("iat") by this server's clock; at most ${proofWindow} s are allowed`;
    const { message, guidance } = timeProblem(ctx, reason, "RFC 9449 4.3");
    throw refuse(message, guidance);
  }
  const jkt = thumbprint(jwk);
  const id = hashOf(`${jkt} ${String(claims.jti)}`);
  const until = (issuedAt + proofWindow) * 1000 + 1;
  const problem = await ctx.store.transaction((tx) => useOnce(tx, "usedProofs", id, until));
  if (problem === "maybe used") throw refuse("it was made before the clock was set back", makeNew);
  if (problem === "used")
    throw refuse('its "jti" was used before; make a new proof for each request', {
      rule: "RFC 9449 11.1",
      fix: null,
    });
  return jkt;
}

/** Verifies the signature with the public key in the proof's own header. */
async function readProof(
  ctx: Context,
  jwt: string,
  refuse: Refuse,
): Promise<{ readonly claims: JWTPayload; readonly jwk: Readonly<Record<string, unknown>> }> {
  // Header fields of one name arrive as one, joined by commas (RFC 9110 5.3).
  if (jwt.includes(",")) throw refuse("there is more than one DPoP header; send one", { fix: null });
  if (readJws(jwt) === null)
    throw refuse("it is not a JWT in canonical base64url, or needs an extension", {
      rule: "RFC 7515 4.1.11",
      ...makeNew,
    });
  // Imported here, because most servers never receive a DPoP proof.
  const { EmbeddedJWK, jwtVerify } = await import("jose");
  try {
    const { payload, protectedHeader } = await jwtVerify(
      jwt,
      (header, token) => {
        if (privateMembers.some((name) => Object.hasOwn({ ...header.jwk }, name))) {
          throw refuse('its "jwk" holds a private key; put the public key there, and never use this one again', {
            fix: "make a new key pair, and put only its public key into the header",
          });
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
    if (payload.exp !== undefined && payload.exp * 1000 <= ctx.now()) throw expired(ctx, payload.exp);
    if (typeof payload.jti !== "string" || payload.jti === "") throw refuse('its "jti" is not a string', makeNew);
    return { claims: payload, jwk: { ...protectedHeader.jwk } };
  } catch (error) {
    if (error instanceof OAuthError) throw error;
    const { message, guidance } = problemOf(ctx, error);
    throw refuse(message, guidance, error);
  }
}

/** Checks that the proof was made for this request. */
function checkRequest({ htm, htu }: JWTPayload, { method, url }: Proof, refuse: Refuse): void {
  if (htm !== method) throw refuse(`its "htm" is ${JSON.stringify(htm)}, the request is a ${method}`, makeNew);
  if (typeof htu !== "string" || !isSameUri(htu, url)) {
    throw refuse(`its "htu" is ${JSON.stringify(htu)}, the request went to "${url}"`, {
      fix: `make the proof for ${url}, the address in the discovery document`,
    });
  }
}

function checkTokenHash({ ath }: JWTPayload, accessToken: string, refuse: Refuse): void {
  if (ath !== createHash("sha256").update(accessToken).digest("base64url")) {
    const what = ath === undefined ? 'it has no "ath",' : 'its "ath" is not';
    throw refuse(`${what} the base64url SHA-256 hash of the access token`, {
      rule: "RFC 9449 4.2",
      fix: "set ath to the base64url of the SHA-256 hash of the access token that is sent with it",
    });
  }
}

/** An http URI as RFC 3986 writes it: scheme, host, port, path; then a query and a fragment, which do not count. */
const httpUri =
  /^(https?):\/\/([\w.-]+|\[[0-9a-f:.]+\])(?::(\d*))?((?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*)*)(?:[?#].*)?$/i;

/** Normalizes by RFC 3986 6.2.2 and 6.2.3 alone, without the other repairs that a browser would make. Null: not an http URI. */
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

/** `dpop_jkt` of an authorization request (RFC 9449 10). @throws {OAuthError} invalid_request */
export function checkThumbprint(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!/^[\w-]{43}$/.test(value)) {
    throw new OAuthError(
      "invalid_request",
      `dpop_jkt "${value}" is not a base64url SHA-256 thumbprint of 43 characters`,
      {
        rule: "RFC 9449 10",
        parameter: "dpop_jkt",
        fix: "send the base64url of the thumbprint of the public key, or leave dpop_jkt out",
      },
    );
  }
  return value;
}

/**
 * The nonces of DPoP proofs (RFC 9449 8, 9). One is made of the signing secret and the time, so nothing is stored, and every instance on the
 * same data accepts it.
 */

/** Milliseconds: each nonce is the current one for so long, and is accepted for as long again. */
const life = 300_000;

type Sources = Pick<Context, "keys" | "now" | "issuer">;

const nonceAt = ({ keys, issuer }: Sources, period: number): string =>
  createHmac("sha256", keys.secret.privateKey).update(`dpop nonce ${issuer} ${period}`).digest("base64url");

const periodOf = ({ now }: Sources): number => Math.floor(now() / life);

/** The nonce for the next proof; null where proofs need none. */
export const nextNonce = (ctx: Sources & Pick<Context, "settings">): string | null =>
  ctx.settings.dpop_nonce === "required" ? nonceAt(ctx, periodOf(ctx)) : null;

/** Whether a proof with this nonce may be accepted: it has the current nonce or the previous one, or needs none. */
function isGoodNonce(ctx: Sources & Pick<Context, "settings">, given: unknown): boolean {
  if (ctx.settings.dpop_nonce !== "required") return true;
  const period = periodOf(ctx);
  return typeof given === "string" && [period, period - 1].some((one) => sameSecret(given, nonceAt(ctx, one)));
}
