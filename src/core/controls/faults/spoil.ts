import type { AuthorizationResponse } from "../../sign-in/response.ts";
import type { Context } from "../../context.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";
import { newPublicKey, publicAlgs } from "../../keys/keys.ts";
import { readJws, signJws, type Jws } from "../../keys/jws.ts";
import { wrongNames, distance, signFlawed, unknownExtension } from "./token-flaws.ts";
import type { FlawName, FaultEndpoint } from "./flaw-list.ts";
import { rememberFlawed } from "../../tokens/state.ts";
import { idTokenSigner, sign, tokenTypes, type UnsignedToken } from "../../keys/signer.ts";

/**
 * Makes one thing in a finished response wrong; the rest stays valid. First ID tokens, which are signed again with one claim changed or with
 * something wrong about the signature, then ID-JAGs, then whole responses.
 */

const withoutClaim = (claims: JsonObject, name: string): JsonObject | null => {
  const { [name]: left, ...rest } = claims;
  return left === undefined ? null : rest;
};
const withClaim = (claims: JsonObject, name: string, value: unknown): JsonObject | null =>
  claims[name] === undefined ? null : { ...claims, [name]: value };

/** Null: the ID token cannot have the flaw. Times are relative to the token's own, because clients may have another clock. */
const claimFlaws: Readonly<Partial<Record<FlawName, (claims: JsonObject) => JsonObject | null>>> = {
  "iss-wrong": (claims) => withClaim(claims, "iss", wrongNames.issuer),
  "aud-wrong": (claims) => withClaim(claims, "aud", wrongNames.audience),
  "aud-extra": (claims) => withClaim(claims, "aud", [claims["aud"], wrongNames.audience]),
  "azp-wrong": (claims) => withClaim(claims, "azp", wrongNames.audience),
  "exp-past": (claims) => withClaim(claims, "exp", Number(claims["iat"]) - distance),
  "iat-future": (claims) => withClaim(claims, "iat", Number(claims["iat"]) + distance),
  "iat-missing": (claims) => withoutClaim(claims, "iat"),
  "sub-missing": (claims) => withoutClaim(claims, "sub"),
  "nonce-wrong": (claims) => withClaim(claims, "nonce", `${String(claims["nonce"])}x`),
  "nonce-missing": (claims) => withoutClaim(claims, "nonce"),
  "at-hash-wrong": (claims) => withClaim(claims, "at_hash", Buffer.alloc(16).toString("base64url")),
  "iss-prefix": (claims) => withClaim(claims, "iss", `${String(claims["iss"]).replace(/\/$/, "")}/another`),
  "aud-contains": (claims) => withClaim(claims, "aud", `not-${String(claims["aud"])}-but-another`),
};

type Sign = (ctx: Context, token: UnsignedToken) => Promise<string>;

const withoutKid: Sign = (_ctx, { signer: { alg, privateKey }, ...token }) =>
  sign({ ...token, signer: { alg, privateKey } });

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
function spoilIdToken({ header, payload }: Jws, flaw: FlawName): ((ctx: Context) => Promise<string>) | null {
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

const idJagFlaws: Readonly<Partial<Record<FlawName, (token: Token) => Token>>> = {
  "id-jag.typ-wrong": ({ claims }) => ({ typ: tokenTypes.id, claims }),
  "id-jag.aud-wrong": withClaims(() => ({ aud: wrongNames.audience })),
  "id-jag.aud-two": withClaims(({ aud }) => ({ aud: [aud, wrongNames.audience] })),
  "id-jag.client-wrong": withClaims(({ client_id: id }) => ({ client_id: `${String(id)}-other` })),
  // Relative to its own time, because the other server may have another clock.
  "id-jag.exp-past": withClaims(({ iat }) => ({ exp: Number(iat) - distance })),
  "id-jag.sub-missing": withClaims(() => ({ sub: undefined })),
  "id-jag.signature-wrong": (token) => token,
};

/** @returns null where the response has no ID-JAG, or this is a flaw of something else */
function spoilIdJag(body: JsonObject, flaw: FlawName): ((ctx: Context) => Promise<string>) | null {
  const jws = body["token_type"] === "N_A" ? readJws(String(body["access_token"])) : null;
  const bend = idJagFlaws[flaw];
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

/** Another random value of the same form. */
const another = (value: string): string => `${value.slice(1)}x`;

type Pairs = AuthorizationResponse["parameters"];

const without = (pairs: Pairs, name: string): Pairs => pairs.filter(([one]) => one !== name);
const changed = (pairs: Pairs, name: string, change: (value: string) => string): Pairs =>
  pairs.map(([one, value]) => [one, one === name ? change(value) : value]);

/** Each flaw, with the parameter that a response must have for it. */
const responseFlaws: Readonly<Partial<Record<FlawName, readonly [string, (pairs: Pairs) => Pairs]>>> = {
  "state-missing": ["state", (pairs) => without(pairs, "state")],
  "state-wrong": ["state", (pairs) => changed(pairs, "state", another)],
  "iss-missing": ["iss", (pairs) => without(pairs, "iss")],
  "iss-wrong": ["iss", (pairs) => changed(pairs, "iss", () => wrongNames.issuer)],
  "code-missing": ["code", (pairs) => without(pairs, "code")],
  "code-twice": ["code", (pairs) => [...pairs, ...pairs.filter(([name]) => name === "code")]],
  "error-and-code": ["code", (pairs) => [...pairs, ["error", "access_denied"]]],
};

/** An authorization response with a flaw; null: it cannot have it. */
export function spoilAuthorization(answer: AuthorizationResponse, flaw: FlawName): AuthorizationResponse | null {
  const [needed, spoil] = responseFlaws[flaw] ?? ["", () => []];
  const parameters = answer.parameters.some(([name]) => name === needed) ? spoil(answer.parameters) : null;
  return parameters && { ...answer, parameters };
}

/** Spoils a body. May need to sign a token or make a key first. Null: this body cannot have the flaw. */
type Spoiling = ((ctx: Context) => Promise<JsonObject>) | null;

function leaveOut(body: JsonObject, name: string): Spoiling {
  const { [name]: left, ...rest } = body;
  return left === undefined ? null : () => Promise.resolve(rest);
}
const put = (body: JsonObject, name: string, value: unknown): Spoiling =>
  body[name] === undefined ? null : () => Promise.resolve({ ...body, [name]: value });

function spoilItsIdToken(body: JsonObject, flaw: FlawName): Spoiling {
  const { id_token: idToken } = body;
  const jws = typeof idToken === "string" ? readJws(idToken) : null;
  const spoil = jws && spoilIdToken(jws, flaw);
  return spoil && (async (ctx) => ({ ...body, id_token: await spoil(ctx) }));
}

function spoilItsIdJag(body: JsonObject, flaw: FlawName): Spoiling {
  const spoil = spoilIdJag(body, flaw);
  return spoil && (async (ctx) => ({ ...body, access_token: await spoil(ctx) }));
}

function spoilToken(body: JsonObject, flaw: FlawName): Spoiling {
  switch (flaw) {
    case "id-token-missing":
      return leaveOut(body, "id_token");
    case "token-type-wrong":
      return put(body, "token_type", "unknown");
    case "expires-in-missing":
      return leaveOut(body, "expires_in");
    case "refresh-token-missing":
      return leaveOut(body, "refresh_token");
    case "scope-wider":
      return put(body, "scope", `${String(body["scope"])} not-asked-for`.trim());
    default:
      return spoilItsIdJag(body, flaw) ?? spoilItsIdToken(body, flaw);
  }
}

type Jwk = JsonObject;

/** A key of the same kind that signs nothing. @param kid null: its own */
async function otherKey(ctx: Context, jwk: Jwk, kid: string | null): Promise<Jwk> {
  const alg = publicAlgs.find((name) => name === jwk["alg"]) ?? "RS256";
  const made = await newPublicKey(alg, new Date(ctx.now()).toISOString());
  const material = Object.entries(made.jwk).filter(([name]) => Object.hasOwn(jwk, name));
  return { ...jwk, ...Object.fromEntries(material), kid: kid ?? made.kid };
}

function spoilKeys(body: JsonObject, flaw: FlawName): Spoiling {
  const keys = Array.isArray(body["keys"]) ? body["keys"].filter(isObject) : [];
  switch (flaw) {
    case "keys-empty":
      return () => Promise.resolve({ keys: [] });
    case "keys-rotated":
      return async (ctx) => ({ keys: await Promise.all(keys.map((key) => otherKey(ctx, key, null))) });
    default:
      return async (ctx) => {
        const others = await Promise.all(keys.map((key) => otherKey(ctx, key, String(key["kid"]))));
        return { keys: [...others, ...keys] };
      };
  }
}

/** How a flaw makes the JSON of a response wrong. @returns null where this response cannot have the flaw */
export function spoilJson(endpoint: FaultEndpoint, body: unknown, flaw: FlawName): Spoiling {
  if (!isObject(body)) return null;
  switch (endpoint) {
    case "token":
      return spoilToken(body, flaw);
    case "userinfo":
      return flaw === "sub-missing" ? leaveOut(body, "sub") : put(body, "sub", another(String(body["sub"])));
    case "jwks":
      return spoilKeys(body, flaw);
    case "discovery":
      return put(body, "issuer", wrongNames.issuer);
    default:
      return null;
  }
}
