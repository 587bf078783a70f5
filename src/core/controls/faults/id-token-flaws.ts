import type { Context } from "../../context.ts";
import type { JsonObject } from "../../../text/json-object.ts";
import { rememberFlawed } from "../../tokens/flawed.ts";
import { signJws, type Jws, readJws } from "../../keys/jws.ts";
import { idTokenSigner, sign, tokenTypes, type UnsignedToken } from "../../keys/signer.ts";
import { distance, elsewhere, signFlawed } from "./token-flaws.ts";
import type { FlawName } from "./flaw-list.ts";

/** ID tokens that are signed again with one claim changed, or with something wrong about the signature. */

const without = (claims: JsonObject, name: string): JsonObject | null => {
  const { [name]: left, ...rest } = claims;
  return left === undefined ? null : rest;
};
const changed = (claims: JsonObject, name: string, value: unknown): JsonObject | null =>
  claims[name] === undefined ? null : { ...claims, [name]: value };

/** Null: the ID token cannot have the flaw. Times are relative to the token's own, because clients may have another clock. */
const claimFlaws: Readonly<Partial<Record<FlawName, (claims: JsonObject) => JsonObject | null>>> = {
  "iss-wrong": (claims) => changed(claims, "iss", elsewhere.issuer),
  "aud-wrong": (claims) => changed(claims, "aud", elsewhere.audience),
  "aud-extra": (claims) => changed(claims, "aud", [claims["aud"], elsewhere.audience]),
  "azp-wrong": (claims) => changed(claims, "azp", elsewhere.audience),
  "exp-past": (claims) => changed(claims, "exp", Number(claims["iat"]) - distance),
  "iat-future": (claims) => changed(claims, "iat", Number(claims["iat"]) + distance),
  "iat-missing": (claims) => without(claims, "iat"),
  "sub-missing": (claims) => without(claims, "sub"),
  "nonce-wrong": (claims) => changed(claims, "nonce", `${String(claims["nonce"])}x`),
  "nonce-missing": (claims) => without(claims, "nonce"),
  "at-hash-wrong": (claims) => changed(claims, "at_hash", Buffer.alloc(16).toString("base64url")),
  "iss-prefix": (claims) => changed(claims, "iss", `${String(claims["iss"]).replace(/\/$/, "")}/another`),
  "aud-contains": (claims) => changed(claims, "aud", `not-${String(claims["aud"])}-but-another`),
};

type Sign = (ctx: Context, token: UnsignedToken) => Promise<string>;

const withoutKid: Sign = (_ctx, { signer: { alg, privateKey }, ...token }) =>
  sign({ ...token, signer: { alg, privateKey } });

/** An extension without a meaning (RFC 7515 4.1.11). */
const unknownExtension = { crit: ["unknown-extension"], "unknown-extension": true };

const withCrit: Sign = (_ctx, { typ, claims, signer: { alg, kid, privateKey } }) =>
  signJws({ alg, typ, ...(kid !== undefined && { kid }), ...unknownExtension }, claims, privateKey);

/** Each flaw, with whether it needs a `kid`: an ID token that is signed with its client's secret has none. */
const signatureFlaws: Readonly<Partial<Record<FlawName, readonly [needsKid: boolean, sign: Sign]>>> = {
  "signature-wrong": [false, (ctx, token) => signFlawed(ctx, token, ["bad_signature"])],
  "alg-none": [false, (ctx, token) => signFlawed(ctx, token, ["alg_none"])],
  "kid-unknown": [true, (ctx, token) => signFlawed(ctx, token, ["unknown_kid"])],
  "kid-missing": [true, withoutKid],
  crit: [false, withCrit],
};

/** The flawed ID token, signed as the client's ID tokens are. This server does not accept it. */
async function signAgain(
  ctx: Context,
  flaw: FlawName,
  clientId: string,
  claims: JsonObject,
  signer: Sign,
): Promise<string> {
  const client = await ctx.store.read((tx) => tx.get("clients", clientId));
  if (client === undefined) throw new Error(`client "${clientId}" was removed while its ID token was signed again`);
  const idToken = await signer(ctx, { typ: tokenTypes.id, signer: await idTokenSigner(ctx, client), claims });
  await ctx.store.transaction((tx) => {
    rememberFlawed(tx, ctx, claims["jti"], `it was made to be refused (${flaw})`);
  });
  return idToken;
}

/** @returns null where the ID token cannot have the flaw */
export function spoilIdToken({ header, payload }: Jws, flaw: FlawName): ((ctx: Context) => Promise<string>) | null {
  const clientId = String(payload["aud"]);
  const [needsKid, signer] = signatureFlaws[flaw] ?? [];
  if (signer !== undefined) {
    if (needsKid === true && header["kid"] === undefined) return null;
    return (ctx) => signAgain(ctx, flaw, clientId, payload, signer);
  }
  const claims = claimFlaws[flaw]?.(payload) ?? null;
  return claims && ((ctx) => signAgain(ctx, flaw, clientId, claims, (_ctx, token) => sign(token)));
}

/** ID-JAGs that are signed again with one thing wrong. Only another authorization server could accept one. */

type Token = Pick<UnsignedToken, "typ" | "claims">;

const withClaims =
  (change: (claims: JsonObject) => JsonObject) =>
  ({ typ, claims }: Token): Token => ({ typ, claims: { ...claims, ...change(claims) } });

const flaws: Readonly<Partial<Record<FlawName, (token: Token) => Token>>> = {
  "id-jag.typ-wrong": ({ claims }) => ({ typ: tokenTypes.id, claims }),
  "id-jag.aud-wrong": withClaims(() => ({ aud: elsewhere.audience })),
  "id-jag.aud-two": withClaims(({ aud }) => ({ aud: [aud, elsewhere.audience] })),
  "id-jag.client-wrong": withClaims(({ client_id: id }) => ({ client_id: `${String(id)}-other` })),
  // Relative to its own time, because the other server may have another clock.
  "id-jag.exp-past": withClaims(({ iat }) => ({ exp: Number(iat) - distance })),
  "id-jag.sub-missing": withClaims(() => ({ sub: undefined })),
  "id-jag.signature-wrong": (token) => token,
};

/** @returns null where the response has no ID-JAG, or this is a flaw of something else */
export function spoilIdJag(body: JsonObject, flaw: FlawName): ((ctx: Context) => Promise<string>) | null {
  const jws = body["token_type"] === "N_A" ? readJws(String(body["access_token"])) : null;
  const bend = flaws[flaw];
  if (jws === null || bend === undefined) return null;
  return async (ctx) => {
    const token = bend({ typ: tokenTypes.idJag, claims: jws.payload });
    // With another typ it could be taken for an ID token of this server.
    await ctx.store.transaction((tx) => {
      rememberFlawed(tx, ctx, jws.payload["jti"], `it was made to be refused (${flaw})`);
    });
    const signed = { ...token, signer: await ctx.keys.signing("RS256") };
    return flaw === "id-jag.signature-wrong" ? signFlawed(ctx, signed, ["bad_signature"]) : sign(signed);
  };
}
