import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { compactVerify, errors } from "jose";
import { isObject } from "../text/json.ts";
import { bytesOf, criticalProblem, shown, type Check } from "./checks.ts";

/** The check of a token's signature with keys that are given. It fetches nothing. */

type Jwk = Readonly<Record<string, unknown>>;

/** The keys that a signature is checked with. `from`: where they were found, in words. */
export type Keys =
  | { readonly kind: "secret"; readonly secret: string; readonly from: string }
  | { readonly kind: "public"; readonly jwks: readonly Jwk[]; readonly from: string };

/**
 * The algorithms that a public key may be used for (RFC 7518 3.1, RFC 8037 3.1). HS256 is never among them: a public key must not serve
 * as a secret (RFC 8725 2.1).
 */
function algorithmsOf({ kty, crv, alg, use }: Jwk): readonly string[] {
  const byCurve: Readonly<Record<string, readonly string[]>> = {
    "P-256": ["ES256"],
    "P-384": ["ES384"],
    "P-521": ["ES512"],
    Ed25519: ["EdDSA", "Ed25519"],
  };
  const rsa = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
  const fitting =
    kty === "RSA" ? rsa : typeof crv === "string" && Object.hasOwn(byCurve, crv) ? byCurve[crv] : undefined;
  if (fitting === undefined || (use !== undefined && use !== "sig")) return [];
  return alg === undefined ? fitting : fitting.filter((name) => name === alg);
}

/** Whether one of the keys signed the token, by the algorithm that its header names. */
export async function checkSignature(token: string, header: Jwk, keys: Keys): Promise<Check> {
  const { alg, kid } = header;
  const no = (detail: string): Check => ({ name: "signature", ok: false, detail });
  const yes = (detail: string): Check => ({ name: "signature", ok: true, detail });
  if (typeof alg !== "string") return no("the header has no alg");
  if (alg.toLowerCase() === "none") return no('alg is "none": the token is not signed');
  const critical = criticalProblem(header);
  if (critical !== null) return no(critical);
  // jose accepts a signature in any spelling.
  if (bytesOf(token.split(".")[2] ?? "") === null) return no("it is not canonical base64url (RFC 4648 3.5)");
  if (keys.kind === "secret") {
    if (!/^HS(256|384|512)$/.test(alg)) return no(`signed with ${alg}; a secret verifies HS256, HS384 and HS512 only`);
    const { secret, from } = keys;
    const fits = await isSigned(token, () => createSecretKey(Buffer.from(secret, "utf8")), alg);
    return fits === true ? yes(`${alg}, with ${from}`) : no(`${alg}: not signed with ${from}`);
  }
  if (alg.startsWith("HS")) {
    return no(`signed with ${alg}, which needs the secret; a public key never verifies it`);
  }
  const allKeys =
    keys.jwks.length === 1 ? `the one key of ${keys.from}` : `the ${keys.jwks.length} keys of ${keys.from}`;
  const named = kid === undefined ? keys.jwks : keys.jwks.filter((jwk) => jwk["kid"] === kid);
  if (named.length === 0) return no(`kid ${shown(kid)} is not among ${allKeys}`);
  const fitting = named.filter((jwk) => algorithmsOf(jwk).includes(alg));
  if (fitting.length === 0) {
    const good = [...new Set(named.flatMap(algorithmsOf))].join(", ") || "no signature";
    return no(`the token says ${alg}; ${kid === undefined ? allKeys : "the key that it names"}: usable for ${good}`);
  }
  const unnamed = kid === undefined ? "; the token names no key" : "";
  const unusable: string[] = [];
  for (const jwk of fitting) {
    const signed = await isSigned(token, () => createPublicKey({ key: { ...jwk }, format: "jwk" }), alg);
    if (signed === true) return yes(`${alg}, kid ${shown(jwk["kid"])} from ${keys.from}${unnamed}`);
    const key = jwk["kid"] === undefined ? "a key" : `the key ${shown(jwk["kid"])}`;
    if (signed !== false) unusable.push(`${key} of ${keys.from} cannot be used: ${signed.message}`);
  }
  const any = keys.jwks.length === 1 ? "" : "any of ";
  const others = `${alg}: not signed with ${kid === undefined ? `${any}${allKeys}${unnamed}` : "the key that it names"}`;
  return no([...(unusable.length < fitting.length ? [others] : []), ...unusable].join("; "));
}

/** Whether the signature is this key's, by this algorithm; an error: why the key cannot be used for it. */
async function isSigned(token: string, key: () => KeyObject, alg: string): Promise<boolean | Error> {
  try {
    await compactVerify(token, key(), { algorithms: [alg] });
    return true;
  } catch (error) {
    return error instanceof errors.JOSEError ? false : (error as Error);
  }
}

/** The keys of a JWK Set, or a single JWK (RFC 7517 4, 5); null if it is neither. */
export function keysIn(value: unknown): readonly Jwk[] | null {
  const listed = isObject(value) && Array.isArray(value["keys"]) ? value["keys"].filter(isObject) : null;
  return listed ?? (isObject(value) && typeof value["kty"] === "string" ? [value] : null);
}
