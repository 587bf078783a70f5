import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import type { Client } from "../../../../store/store.ts";
import type { AuthorizationResponse } from "../../../sign-in/response.ts";
import type { Context } from "../../../context.ts";
import { isObject, type JsonObject } from "../../../../text/json.ts";
import { newPublicKey, publicAlgs } from "../../../records/keys/keys.ts";
import { readJws, signJws } from "../../../records/keys/jws.ts";
import { signFlawed, unknownExtension } from "./token-flaws.ts";
import { flawAt, type FlawName } from "./flaw-list.ts";
import type { FaultEndpoint } from "./endpoints.ts";
import type { Apply, FlawRow } from "./flaws/flaw.ts";
import { rememberFlawed } from "../../../protocol/tokens/state.ts";
import { idTokenSigner, sign, signerOf, tokenTypes, type UnsignedToken } from "../../../records/keys/signer.ts";

/** Makes one thing in a finished response wrong, as the row of the flaw says; the rest stays valid. */

/** Spoils a body. May need to sign a token or make a key first. Null: this body cannot have the flaw. */
type Spoiling = ((ctx: Context) => Promise<JsonObject>) | null;

type How<K extends Apply["kind"]> = Extract<Apply, { readonly kind: K; readonly how: unknown }>["how"];

/** The token in a body that a flaw is about. */
interface Spoilable {
  readonly member: "id_token" | "access_token";
  readonly typ: UnsignedToken["typ"];
  readonly claims: JsonObject;
  /** An ID token that is signed with its client's secret has none. */
  readonly kid: unknown;
  readonly signer: (ctx: Context) => Promise<UnsignedToken["signer"]>;
  /** The client whose token it is. */
  readonly client: string;
}

/** @returns null where the response has no such token */
function tokenIn(body: JsonObject, place: FlawRow["place"]): Spoilable | null {
  const member = place === "id-jag" ? "access_token" : "id_token";
  const text = body[member];
  const isThere = typeof text === "string" && (place === "id-token" || body["token_type"] === "N_A");
  const jws = isThere ? readJws(text) : null;
  if (jws === null) return null;
  const { payload: claims } = jws;
  const kid = jws.header["kid"];
  const client = String(place === "id-jag" ? claims["client_id"] : claims["aud"]);
  return place === "id-jag"
    ? { ...{ member, claims, client }, typ: tokenTypes.idJag, kid, signer: (ctx) => signerOf(ctx, "idJag") }
    : { ...{ member, claims, client }, typ: tokenTypes.id, kid, signer: (ctx) => signerOfClient(ctx, client) };
}

async function clientOf(ctx: Context, clientId: string): Promise<Client> {
  const client = await ctx.store.read((tx) => tx.get("clients", clientId));
  if (client === undefined) throw new Error(`client "${clientId}" was removed while its ID token was signed again`);
  return client;
}

const signerOfClient = async (ctx: Context, clientId: string): Promise<UnsignedToken["signer"]> =>
  idTokenSigner(ctx, await clientOf(ctx, clientId));

type Sign = (ctx: Context, token: UnsignedToken, clientId: string) => Promise<string>;

const secretOf = (text: string | Buffer): KeyObject => createSecretKey(Buffer.from(text));

const ways: Readonly<Record<How<"signature">, Sign>> = {
  "one-bit": (ctx, token) => signFlawed(ctx, token, ["bad_signature"]),
  none: (ctx, token) => signFlawed(ctx, token, ["alg_none"]),
  "other-key": (ctx, token) => signFlawed(ctx, token, ["unknown_kid"]),
  "no-kid": (_ctx, { signer: { alg, privateKey }, ...token }) => sign({ ...token, signer: { alg, privateKey } }),
  "unknown-crit": (_ctx, { typ, claims, signer: { alg, kid, privateKey } }) =>
    signJws({ alg, typ, ...(kid !== undefined && { kid }), ...unknownExtension }, claims, privateKey),
  "other-typ": (_ctx, token) => sign({ ...token, typ: tokenTypes.id }),
  // RFC 8725 2.1: the text of the public key as the secret of HS256.
  "public-as-secret": (_ctx, { typ, claims, signer: { kid, privateKey } }) => {
    const pem = createPublicKey(privateKey).export({ type: "spki", format: "pem" });
    return sign({
      typ,
      claims,
      signer: { alg: "HS256", ...(kid !== undefined && { kid }), privateKey: secretOf(pem) },
    });
  },
  "client-secret": async (ctx, { typ, claims, signer: { kid } }, clientId) => {
    const { client_secret: secret = "" } = await clientOf(ctx, clientId);
    return sign({
      typ,
      claims,
      signer: { alg: "HS256", ...(kid !== undefined && { kid }), privateKey: secretOf(secret) },
    });
  },
};

/** The body with its token signed again. This server does not accept that token. */
function spoilTokenIn(body: JsonObject, { name, place, apply }: Pick<FlawRow, "name" | "place" | "apply">): Spoiling {
  const token = tokenIn(body, place);
  if (token === null || (apply.kind !== "claims" && apply.kind !== "signature")) return null;
  const needsKid =
    apply.kind === "signature" && ["other-key", "no-kid", "public-as-secret", "client-secret"].includes(apply.how);
  if (needsKid && token.kid === undefined) return null;
  const claims = apply.kind === "claims" ? apply.change(token.claims) : token.claims;
  if (claims === null) return null;
  return async (ctx) => {
    const unsigned = { typ: token.typ, claims, signer: await token.signer(ctx) };
    const signed = await (apply.kind === "claims" ? sign(unsigned) : ways[apply.how](ctx, unsigned, token.client));
    await ctx.store.transaction((tx) => {
      rememberFlawed(tx, ctx, token.claims["jti"], `it was made to be refused (${name})`);
    });
    return { ...body, [token.member]: signed };
  };
}

/** An authorization response with a flaw; null: it cannot have it. */
export function spoilAuthorization(answer: AuthorizationResponse, flaw: FlawName): AuthorizationResponse | null {
  const apply = flawAt("authorize", flaw)?.apply;
  if (apply?.kind !== "parameters" || !answer.parameters.some(([name]) => name === apply.needs)) return null;
  return { ...answer, parameters: apply.change(answer.parameters) };
}

/** A key of the same kind that signs nothing. @param kid null: its own */
async function otherKey(ctx: Context, jwk: JsonObject, kid: string | null): Promise<JsonObject> {
  const alg = publicAlgs.find((name) => name === jwk["alg"]) ?? "RS256";
  const made = await newPublicKey(alg, new Date(ctx.now()).toISOString());
  const material = Object.entries(made.jwk).filter(([name]) => Object.hasOwn(jwk, name));
  return { ...jwk, ...Object.fromEntries(material), kid: kid ?? made.kid };
}

async function otherKeys(ctx: Context, body: JsonObject, how: How<"keys">): Promise<JsonObject> {
  if (how === "none") return { keys: [] };
  const keys = Array.isArray(body["keys"]) ? body["keys"].filter(isObject) : [];
  const others = await Promise.all(keys.map((key) => otherKey(ctx, key, how === "others" ? null : String(key["kid"]))));
  return { keys: how === "others" ? others : [...others, ...keys] };
}

/** How a flaw makes the JSON of a response wrong. @returns null where this response cannot have the flaw */
export function spoilJson(endpoint: FaultEndpoint, body: unknown, flaw: FlawName): Spoiling {
  const row = isObject(body) ? flawAt(endpoint, flaw) : undefined;
  if (!isObject(body) || row === undefined) return null;
  const { apply } = row;
  switch (apply.kind) {
    case "body": {
      const spoiled = apply.change(body);
      return spoiled && (() => Promise.resolve(spoiled));
    }
    case "claims":
    case "signature":
      return spoilTokenIn(body, row);
    case "keys":
      return (ctx) => otherKeys(ctx, body, apply.how);
    case "parameters":
    case "saml":
      return null;
  }
}

/** Other claims in the ID token of a token response, or in UserInfo. @returns null where the response has neither */
export function otherClaimsIn(endpoint: FaultEndpoint, body: unknown, claims: JsonObject): Spoiling {
  if (!isObject(body)) return null;
  if (endpoint === "userinfo") return () => Promise.resolve({ ...body, ...claims });
  const change = (own: JsonObject): JsonObject => ({ ...own, ...claims });
  return spoilTokenIn(body, { name: "claims", place: "id-token", apply: { kind: "claims", change } });
}
