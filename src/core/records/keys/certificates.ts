import { createPrivateKey } from "node:crypto";
import type { Context } from "../../context.ts";
import { selfSignedCertificate } from "./certificate.ts";
import { isOfSaml } from "./saml-keys.ts";

/** The published RSA keys as certificates, the form in which Google's libraries read them. */

/** Milliseconds: a certificate is made anew for each answer, and says the same for as long as its key lives. */
const life = 10 * 365.25 * 86_400_000;

/** PEM by `kid`. */
export async function rsaCertificates(ctx: Context): Promise<Readonly<Record<string, string>>> {
  const published = new Set((await ctx.keys.jwks()).keys.map(({ kid }) => kid));
  const keys = await ctx.store.read((tx) => [...tx.all("keys")]);
  return Object.fromEntries(
    keys
      .filter((key) => key.alg === "RS256" && !isOfSaml(key) && published.has(key.kid))
      .map(({ kid, jwk, createdAt }) => {
        const notBefore = Date.parse(createdAt);
        const key = createPrivateKey({ key: { ...jwk }, format: "jwk" });
        return [kid, selfSignedCertificate({ key, subject: "idp", names: [], notBefore, notAfter: notBefore + life })];
      }),
  );
}
