import type { JsonObject } from "../../text/json.ts";
import { claimsOf, headerOf, requireJwt } from "../shared/tokens.ts";
import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

/** Tokens that anybody can make from a good one and the published keys. */

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Another user, in the text of the claims. */
export function withOtherPayload(token: string): string {
  const [header = "", , signature = ""] = token.split(".");
  return `${header}.${encoded({ ...claimsOf(token), sub: "somebody-else" })}.${signature}`;
}

export function withoutSignature(token: string): string {
  requireJwt(token);
  return `${token.split(".").slice(0, 2).join(".")}.`;
}

/** Not signed at all, with and without the kid of the good token. */
export function unsigned(token: string, alg: string): readonly string[] {
  const { typ, kid } = headerOf(token);
  return [
    { alg, typ, kid },
    { alg, typ },
  ].map((header) => `${encoded(header)}.${encoded(claimsOf(token))}.`);
}

/** HS256 with the text of a public key as the secret (RFC 8725 2.1), with and without its last newline. */
export function confused(token: string, keys: readonly JsonObject[]): readonly string[] {
  const { typ, kid } = headerOf(token);
  const jwk = keys.find((key) => key["kid"] === kid) ?? keys[0];
  if (jwk === undefined) return [];
  const pem = createPublicKey({ key: { ...jwk }, format: "jwk" })
    .export({ type: "spki", format: "pem" })
    .toString();
  const signed = `${encoded({ alg: "HS256", typ, kid: jwk["kid"] })}.${encoded(claimsOf(token))}`;
  return [pem, pem.trimEnd()].map((secret) => {
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  });
}

const signedWith = (token: string, header: JsonObject, key: KeyObject): string => {
  const signed = `${encoded(header)}.${encoded(claimsOf(token))}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
};

/** Signed with a key that only the token itself names (RFC 7515 4.1.3), with and without the kid of the good token. */
export function withOwnKey(token: string): readonly string[] {
  const { typ, kid } = headerOf(token);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = publicKey.export({ format: "jwk" });
  return [
    { alg: "RS256", typ, jwk },
    { alg: "RS256", typ, kid, jwk },
  ].map((header) => signedWith(token, header, privateKey));
}

/** Signed with a key that lies at an address which only the token itself names (RFC 7515 4.1.2). */
export interface WithKeyAt {
  /** The key set, as it lies there. */
  readonly keys: string;
  /** With a kid of its own, and with that of the good token. */
  tokens(url: string): readonly string[];
}

export function withKeyAt(token: string): WithKeyAt {
  const { typ, kid } = headerOf(token);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const kids = ["idp-check", kid];
  const keys = kids.map((one) => ({ ...publicKey.export({ format: "jwk" }), kid: one, use: "sig", alg: "RS256" }));
  return {
    keys: JSON.stringify({ keys }),
    tokens: (jku) => kids.map((one) => signedWith(token, { alg: "RS256", typ, kid: one, jku }, privateKey)),
  };
}

/** HS256 with an empty key, and a kid that is the path of an empty file. */
export function withEmptyFile(token: string): readonly string[] {
  const { typ } = headerOf(token);
  return ["/dev/null", `${"../".repeat(12)}dev/null`].map((kid) => {
    const signed = `${encoded({ alg: "HS256", typ, kid })}.${encoded(claimsOf(token))}`;
    return `${signed}.${createHmac("sha256", "").update(signed).digest("base64url")}`;
  });
}
