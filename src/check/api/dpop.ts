import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from "node:crypto";

/** DPoP proofs (RFC 9449 4.2). */

export interface ProofKey {
  /** Its thumbprint (RFC 7638). */
  readonly jkt: string;
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly privateKey: KeyObject;
}

/** Claims of a proof. */
export type ProofParts = Readonly<Record<string, unknown>>;

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const hashed = (text: string): string => createHash("sha256").update(text).digest("base64url");

export function newProofKey(): ProofKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kty, crv, x, y } = publicKey.export({ format: "jwk" });
  return { jkt: hashed(JSON.stringify({ crv, kty, x, y })), jwk: { kty, crv, x, y }, privateKey };
}

/** @param url without query and fragment (RFC 9449 4.2) @param now milliseconds */
export function proofFor(
  { jwk, privateKey }: ProofKey,
  request: { readonly method: string; readonly url: string; readonly token: string; readonly now: number },
  parts: ProofParts = {},
): string {
  const { method, url, token, now } = request;
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: url,
    iat: Math.floor(now / 1000),
    ath: hashed(token),
    ...parts,
  };
  const signed = `${encoded({ alg: "ES256", typ: "dpop+jwt", jwk })}.${encoded(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}
