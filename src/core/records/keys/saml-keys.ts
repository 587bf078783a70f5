import { createPrivateKey, type KeyObject } from "node:crypto";
import type { Key, ReadTx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { newPublicKey } from "./keys.ts";
import { pemOf, selfSignedCertificate } from "./certificate.ts";

/** The keys of SAML: RSA, each with a self-signed certificate, apart from those that sign tokens. Made at the first use. */

export interface SamlKey {
  readonly kid: string;
  readonly key: KeyObject;
  /** PEM. */
  readonly certificate: string;
}

export const isOfSaml = ({ use }: Key): boolean => use === "saml";

/** Milliseconds of real time, whatever a tester does to the clock: service providers look at their own. */
const life = 10 * 365.25 * 86_400_000;
/** Clocks differ. */
const before = 86_400_000;

/** A new key with its certificate. */
export async function newSamlKey({ clock, now }: Pick<Context, "clock" | "now">): Promise<Key> {
  const made = await newPublicKey("RS256", new Date(now()).toISOString());
  const key = createPrivateKey({ key: { ...made.jwk }, format: "jwk" });
  const notBefore = Math.floor((clock.unmoved() - before) / 1000) * 1000;
  const pem = selfSignedCertificate({ key, subject: "idp SAML", names: [], notBefore, notAfter: notBefore + life });
  return { ...made, use: "saml", certificate: pem };
}

/** A key, ready to sign. */
export const readSamlKey = ({ kid, jwk, certificate }: Key): SamlKey => ({
  kid,
  key: createPrivateKey({ key: { ...jwk }, format: "jwk" }),
  certificate: pemOf(certificate ?? ""),
});

/** The one that signs, then the others, the newest first. */
const allIn = (tx: ReadTx): readonly Key[] =>
  [...tx.all("keys")]
    .filter(isOfSaml)
    .sort(
      (one, other) =>
        (other.retiredAt ?? Infinity) - (one.retiredAt ?? Infinity) || (one.createdAt < other.createdAt ? 1 : -1),
    );

const isSigning = (key: Key | undefined): boolean => key?.retiredAt === null;

/** The keys of an issuer, the one that signs first. It is made if there is none yet. */
export async function samlKeys(ctx: Context): Promise<readonly [SamlKey, ...SamlKey[]]> {
  for (;;) {
    const [first, ...others] = await ctx.store.read(allIn);
    if (first !== undefined && isSigning(first)) return [readSamlKey(first), ...others.map(readSamlKey)];
    const key = await newSamlKey(ctx);
    // Another request may have made one meanwhile.
    await ctx.store.transaction((tx) => {
      if (!isSigning(allIn(tx)[0])) tx.insert("keys", key);
    });
  }
}
