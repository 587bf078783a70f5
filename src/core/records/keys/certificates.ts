import { createPrivateKey } from "node:crypto";
import type { Key } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { selfSignedCertificate } from "./certificate.ts";
import { isOfSaml } from "./saml-keys.ts";

/** The published RSA keys as certificates, the form in which Google's libraries read them. */

/** Milliseconds: a certificate is made anew by each process, and says the same for as long as its key lives. */
const life = 10 * 365.25 * 86_400_000;

/** Each is signed, and whoever may rotate keys decides how many there are. */
const made = new WeakMap<Key, string>();

function certificateOf(key: Key): string {
  const known = made.get(key);
  if (known !== undefined) return known;
  const notBefore = Date.parse(key.createdAt);
  const certificate = selfSignedCertificate({
    ...{ key: createPrivateKey({ key: { ...key.jwk }, format: "jwk" }), subject: "idp", names: [] },
    ...{ notBefore, notAfter: notBefore + life },
  });
  made.set(key, certificate);
  return certificate;
}

/** PEM by `kid`. */
export async function rsaCertificates(ctx: Context): Promise<Readonly<Record<string, string>>> {
  const published = new Set((await ctx.keys.jwks()).keys.map(({ kid }) => kid));
  const keys = await ctx.store.read((tx) => [...tx.all("keys")]);
  return Object.fromEntries(
    keys
      .filter((key) => key.alg === "RS256" && !isOfSaml(key) && published.has(key.kid))
      .map((key) => [key.kid, certificateOf(key)]),
  );
}
