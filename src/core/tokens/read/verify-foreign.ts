import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { compactVerify } from "jose";
import { bytesOf } from "../../keys/jws.ts";
import {
  checkClaims,
  criticalProblem,
  decodeOrFail,
  shown,
  verification,
  type Check,
  type Expected,
  type Verification,
} from "./claim-checks.ts";

/** Verifies a token of any issuer with given keys. It fetches nothing and reads no store. */

type Jwk = Readonly<Record<string, unknown>>;

/** The keys that a signature is checked with. */
export type Keys =
  | { readonly kind: "secret"; readonly secret: string }
  /** `from`: where they were found, in words. */
  | { readonly kind: "public"; readonly jwks: readonly Jwk[]; readonly from: string };

const unknownState = "Revocation was not checked: only the issuer knows it. Use introspection.";

/** Verifies signature, issuer, audience and times; each check is reported. */
export async function verifyForeignToken(token: string, keys: Keys, expected: Expected): Promise<Verification> {
  const said = decodeOrFail(token, expected.now);
  if ("checks" in said) return said;
  const { header, payload } = said;
  const checks = [await checkSignature(token, header, keys), ...checkClaims(payload, expected)];
  const anyIssuer = "The issuer was not checked: name it with --issuer.";
  return verification(checks, [...(expected.issuer === null ? [anyIssuer] : []), unknownState]);
}

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

async function checkSignature(token: string, header: Jwk, keys: Keys): Promise<Check> {
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
    if (alg !== "HS256") return no(`signed with ${alg}; a secret verifies HS256 only`);
    const fits = await holds(token, createSecretKey(Buffer.from(keys.secret, "utf8")), alg);
    return fits ? yes("HS256, with the secret that was given") : no("HS256: not signed with the secret that was given");
  }
  if (alg.startsWith("HS")) {
    return no(`signed with ${alg}, which needs the secret (--secret-stdin); a public key never verifies it`);
  }
  const count = `the ${keys.jwks.length} keys of ${keys.from}`;
  const named = kid === undefined ? keys.jwks : keys.jwks.filter((jwk) => jwk["kid"] === kid);
  if (named.length === 0) return no(`kid ${shown(kid)} is not among ${count}`);
  const fitting = named.filter((jwk) => algorithmsOf(jwk).includes(alg));
  if (fitting.length === 0) {
    const good = [...new Set(named.flatMap(algorithmsOf))].join(", ") || "no signature";
    return no(`the token says ${alg}; ${kid === undefined ? count : "the key that it names"}: usable for ${good}`);
  }
  for (const jwk of fitting) {
    const key = publicKey(jwk);
    if (key === null) return no(`the key ${shown(jwk["kid"])} of ${keys.from} cannot be read`);
    const unnamed = kid === undefined ? "; the token names no key" : "";
    if (await holds(token, key, alg)) return yes(`${alg}, kid ${shown(jwk["kid"])} from ${keys.from}${unnamed}`);
  }
  return no(
    `${alg}: not signed with ${kid === undefined ? `any of ${count}; it names none` : "the key that it names"}`,
  );
}

function publicKey(jwk: Jwk): KeyObject | null {
  try {
    return createPublicKey({ key: { ...jwk }, format: "jwk" });
  } catch {
    return null;
  }
}

/** Whether the signature is this key's, by this algorithm. */
async function holds(token: string, key: KeyObject, alg: string): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}
