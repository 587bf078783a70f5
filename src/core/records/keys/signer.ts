import { createSecretKey, type KeyObject } from "node:crypto";
import type { Client } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { signJws } from "./jws.ts";
import { publicAlgs } from "./keys.ts";

/** The only file that signs tokens, and that says which key signs which. `tokens/sign.ts` makes their claims; `tokens/accept.ts` verifies them. */

/** The `typ` of each kind (RFC 9068 2.1, and the same idea for refresh tokens). The setting `access_token_typ` may change that of access tokens. */
export const tokenTypes = {
  access: "at+jwt",
  refresh: "rt+jwt",
  id: "JWT",
  logout: "logout+jwt",
  globalRevocation: "global-token-revocation+jwt",
  idJag: "oauth-id-jag+jwt",
} as const;

/** The key that signs a token; without a `kid` it is a client's own secret. */
interface Signer {
  readonly alg: string;
  readonly kid?: string;
  readonly privateKey: KeyObject;
}

/** A token as it is about to be signed. Claims that are undefined are left out: JSON has no such value. */
export interface UnsignedToken {
  readonly typ: (typeof tokenTypes)[keyof typeof tokenTypes];
  readonly signer: Signer;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** @param more members of the header */
export const sign = (
  { typ, claims, signer: { alg, kid, privateKey } }: UnsignedToken,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> => signJws({ alg, typ, ...(kid !== undefined && { kid }), ...more }, claims, privateKey);

/** The key that signs a token of this kind, whoever its client is. It is made if there is none yet. */
export async function signerOf(
  { keys, settings }: Pick<Context, "keys" | "settings">,
  kind: "access" | "refresh" | "idJag" | "globalRevocation",
): Promise<Signer> {
  // Only this server reads refresh tokens; what others read has a key that they can get.
  const isSecret = kind === "refresh" || (kind === "access" && settings.access_token_alg === "HS256");
  return isSecret ? keys.secret : keys.signing("RS256");
}

/** The key that signs a client's ID and logout tokens (Back-Channel Logout 2.4); for HS256 it is the client's own secret (OpenID Connect Core 10.1). */
export async function idTokenSigner(ctx: Context, client: Client): Promise<Signer> {
  const alg = client.id_token_signed_response_alg ?? "RS256";
  if (alg === "HS256") return { alg, privateKey: createSecretKey(client.client_secret ?? "", "utf8") };
  const known = publicAlgs.find((name) => name === alg);
  if (known === undefined) throw new Error(`client "${client.client_id}" asks for ID tokens signed with "${alg}"`);
  return ctx.keys.signing(known);
}
