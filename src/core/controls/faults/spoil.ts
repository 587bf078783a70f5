import type { AuthorizationResponse } from "../../sign-in/response.ts";
import type { Context } from "../../context.ts";
import { isObject, type JsonObject } from "../../../text/json-object.ts";
import { newPublicKey, publicAlgs } from "../../keys/keys.ts";
import { readJws } from "../../keys/jws.ts";
import { elsewhere } from "./token-flaws.ts";
import type { FlawName, FaultEndpoint } from "./flaw-list.ts";
import { spoilIdToken, spoilIdJag } from "./id-token-flaws.ts";

/** Makes one thing in a finished response wrong. The rest stays valid. */

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
  "iss-wrong": ["iss", (pairs) => changed(pairs, "iss", () => elsewhere.issuer)],
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
      return put(body, "issuer", elsewhere.issuer);
    default:
      return null;
  }
}
