import { createHash, randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type JWK } from "jose";

/** DPoP proofs by hand (RFC 9449 4.2): each of their parts can be bent. */

/** Members of a proof that are to be otherwise; undefined leaves one out. */
export type Bend = Readonly<Record<string, unknown>>;

export interface ProofKey {
  /** Its thumbprint. */
  readonly jkt: string;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
  /** A proof for a POST, made now. */
  readonly prove: (url: string, claims?: Bend, header?: Bend) => Promise<string>;
}

/** A key of a client. @param now in milliseconds */
export async function newProofKey(alg = "ES256", now: () => number = Date.now): Promise<ProofKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    jkt: await calculateJwkThumbprint(publicJwk),
    publicJwk,
    privateJwk: await exportJWK(privateKey),
    prove: (url, claims = {}, header = {}) =>
      new SignJWT({ jti: randomUUID(), htm: "POST", htu: url, iat: Math.floor(now() / 1000), ...claims })
        .setProtectedHeader({ alg, typ: "dpop+jwt", jwk: publicJwk, ...header })
        .sign(privateKey),
  };
}

/** `ath`: the hash of the access token that a proof goes with. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("base64url");
