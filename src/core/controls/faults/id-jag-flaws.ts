import type { Context } from "../../context.ts";
import type { JsonObject } from "../../../text/json-object.ts";
import { readJws } from "../../keys/jws.ts";
import { sign, tokenTypes, type UnsignedToken } from "../../keys/signer.ts";
import { rememberFlawed } from "../../tokens/flawed.ts";
import type { FlawName } from "./flaw-list.ts";
import { distance, elsewhere, signFlawed } from "./token-flaws.ts";

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
