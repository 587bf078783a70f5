import { createPrivateKey, createSecretKey } from "node:crypto";
import type { Context } from "../../context.ts";
import { newPublicKey, newSecret, publicAlgs } from "../../keys/keys.ts";
import { sign, tokenTypes, type UnsignedToken } from "../../keys/signer.ts";
import { seconds } from "../../../text/time.ts";

/** Tokens that are bad on purpose. An API that accepts one has a security hole (RFC 8725, RFC 9068 4). */

/** What can be wrong, by the names of the operation's fields. */
export const tokenFlaws = [
  "expired",
  "not_yet_valid",
  "wrong_issuer",
  "wrong_audience",
  "missing_issuer",
  "missing_audience",
  "missing_expiry",
  "issuer_prefix",
  "issuer_slash",
  "audience_contains",
  "wrong_type",
  "crit",
  "bad_signature",
  "unknown_kid",
  "alg_none",
] as const;
export type TokenFlaw = (typeof tokenFlaws)[number];

/** Seconds: more than clocks differ, and more than verifiers tolerate. */
export const distance = 3600;

/** More text behind a value that an API may compare in part only. */
const withMore = (value: unknown): string => `${String(value).replace(/\/$/, "")}/more`;
const withMoreEach = (value: unknown): unknown => (Array.isArray(value) ? value.map(withMore) : withMore(value));

/** The slash at the end of an issuer is part of it (RFC 8414 3.3). */
const withOtherSlash = (issuer: unknown): string =>
  String(issuer).endsWith("/") ? String(issuer).slice(0, -1) : `${String(issuer)}/`;

/** Names that never resolve (RFC 6761 6.4). */
export const wrongNames = {
  issuer: "https://wrong-issuer.invalid",
  audience: "https://wrong-audience.invalid",
  acs: "https://wrong-recipient.invalid/acs",
};

/** A flaw as the name of its flag. */
const shown = (flaw: TokenFlaw): string => flaw.replaceAll("_", "-");

/** The context, at the time of issue of a token with these flaws: an expired one was issued so long ago that its lifetime is over. */
export const madeAt = (ctx: Context, flaws: readonly TokenFlaw[], life: number): Context =>
  flaws.includes("expired") ? { ...ctx, now: () => ctx.now() - (distance + life) * 1000 } : ctx;

/** The claims with the flaws applied. @param life seconds */
export function bendClaims(
  ctx: Context,
  claims: UnsignedToken["claims"],
  flaws: readonly TokenFlaw[],
  life: number,
): UnsignedToken["claims"] {
  const nbf = seconds(ctx) + distance;
  return {
    ...claims,
    ...(flaws.includes("not_yet_valid") && { nbf, exp: nbf + life }),
    ...(flaws.includes("wrong_issuer") && { iss: wrongNames.issuer }),
    ...(flaws.includes("wrong_audience") && { aud: wrongNames.audience }),
    ...(flaws.includes("issuer_prefix") && { iss: withMore(claims["iss"]) }),
    ...(flaws.includes("issuer_slash") && { iss: withOtherSlash(claims["iss"]) }),
    ...(flaws.includes("audience_contains") && { aud: withMoreEach(claims["aud"]) }),
    // JSON has no undefined, so these are left out.
    ...(flaws.includes("missing_issuer") && { iss: undefined }),
    ...(flaws.includes("missing_audience") && { aud: undefined }),
    ...(flaws.includes("missing_expiry") && { exp: undefined }),
  };
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

const warnings: Readonly<Record<TokenFlaw, string>> = {
  expired: "it expired an hour ago",
  not_yet_valid: "its nbf is an hour from now",
  wrong_issuer: `its iss is ${wrongNames.issuer}`,
  wrong_audience: `its aud is ${wrongNames.audience}`,
  missing_issuer: "it has no iss",
  missing_audience: "it has no aud",
  missing_expiry: "it has no exp",
  issuer_prefix: "its iss is the issuer with more behind it",
  issuer_slash: "its iss differs from the issuer in the slash at its end",
  audience_contains: "its aud is the audience with more behind it",
  wrong_type: "its typ is that of another kind of token",
  crit: "its header crit names an extension that nobody knows",
  bad_signature: "one bit of its signature is wrong",
  unknown_kid: "it is signed with a key that is not published",
  alg_none: "it is not signed",
};

/** One sentence for each flaw. */
export const warningsOf = (flaws: readonly TokenFlaw[]): readonly string[] =>
  flaws.map((flaw) => `${shown(flaw)}: this token is bad on purpose, ${warnings[flaw]}`);

/** Recorded, so that this server never accepts the token, even if everything else is valid. */
export const flawedReason = (flaws: readonly TokenFlaw[]): string =>
  `it was made to be refused (${flaws.map(shown).join(", ")})`;
