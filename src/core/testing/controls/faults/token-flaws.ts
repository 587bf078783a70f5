import { createPrivateKey, createSecretKey } from "node:crypto";
import type { Context } from "../../../context.ts";
import { newPublicKey, newSecret, publicAlgs } from "../../../records/keys/keys.ts";
import { sign, tokenTypes, type UnsignedToken } from "../../../records/keys/signer.ts";
import { seconds } from "../../../../text/time.ts";
import { tokenFlawRow, type TokenFlaw } from "./flaws/access-token.ts";
import { distance } from "./flaws/flaw.ts";

/** Tokens that are bad on purpose. An API that accepts one has a security hole (RFC 8725, RFC 9068 4). */

/** Seconds: longer than the clocks of two machines are apart. */
const tenMinutes = 600;

/** A flaw as the name of its flag. */
const shown = (flaw: TokenFlaw): string => flaw.replaceAll("_", "-");

/** The context, at the time of issue of a token with these flaws: an expired one was issued so long ago that its lifetime is over. */
export function madeAt(ctx: Context, flaws: readonly TokenFlaw[], life: number): Context {
  const ago = flaws.includes("expired") ? distance : flaws.includes("expired_10m") ? tenMinutes : null;
  return ago === null ? ctx : { ...ctx, now: () => ctx.now() - (ago + life) * 1000 };
}

/** The claims with the flaws applied. @param life seconds */
export function bendClaims(
  ctx: Context,
  claims: UnsignedToken["claims"],
  flaws: readonly TokenFlaw[],
  life: number,
): UnsignedToken["claims"] {
  const nbf = seconds(ctx) + distance;
  const bent = flaws.map((flaw) => tokenFlawRow(flaw).apply?.(claims, { nbf, exp: nbf + life }) ?? {});
  return Object.assign({ ...claims }, ...bent) as UnsignedToken["claims"];
}

/** The type of a refresh token in place of any other, and the other way around. */
export const bendType = (typ: UnsignedToken["typ"], flaws: readonly TokenFlaw[]): UnsignedToken["typ"] => {
  if (!flaws.includes("wrong_type")) return typ;
  return typ === tokenTypes.refresh ? tokenTypes.access : tokenTypes.refresh;
};

/** A header that its reader has to know, and nobody does (RFC 7515 4.1.11). */
export const unknownExtension = { crit: ["unknown-extension"], "unknown-extension": true };

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs the token and applies the flaws of the signature. */
export async function signFlawed(ctx: Context, token: UnsignedToken, flaws: readonly TokenFlaw[]): Promise<string> {
  const more = flaws.includes("crit") ? unknownExtension : {};
  if (flaws.includes("alg_none")) {
    return `${encoded({ alg: "none", typ: token.typ, ...more })}.${encoded(token.claims)}.`;
  }
  if (flaws.includes("unknown_kid"))
    return sign({ ...token, signer: await unknownSigner(ctx, token.signer.alg) }, more);
  const signed = await sign(token, more);
  if (!flaws.includes("bad_signature")) return signed;
  const [header = "", claims = "", signature = ""] = signed.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  return `${header}.${claims}.${bytes.toString("base64url")}`;
}

/** A key of the same kind that exists for this one token. */
async function unknownSigner(ctx: Context, alg: string): Promise<UnsignedToken["signer"]> {
  const createdAt = new Date(ctx.now()).toISOString();
  const publicAlg = publicAlgs.find((name) => name === alg);
  if (publicAlg === undefined) {
    const { kid, jwk } = newSecret(ctx.random, createdAt);
    return { alg, kid, privateKey: createSecretKey(Buffer.from(String(jwk["k"]), "base64url")) };
  }
  const { kid, jwk } = await newPublicKey(publicAlg, createdAt);
  return { alg, kid, privateKey: createPrivateKey({ key: { ...jwk }, format: "jwk" }) };
}

/** One sentence for each flaw. */
export const warningsOf = (flaws: readonly TokenFlaw[]): readonly string[] =>
  flaws.map((flaw) => `${shown(flaw)}: this token is bad on purpose, ${tokenFlawRow(flaw).is}`);

/** Recorded, so that this server never accepts the token, even if everything else is valid. */
export const flawedReason = (flaws: readonly TokenFlaw[]): string =>
  `it was made to be refused (${flaws.map(shown).join(", ")})`;
