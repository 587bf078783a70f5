import { randomText } from "../../serve/random.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import { signedBy } from "../shared/tokens.ts";

/** Logout tokens that a check sends in place of the issuer, as they are or wrong on purpose. */

const event = "http://schemas.openid.net/event/backchannel-logout";
/** Seconds that a logout token lives. */
const life = 120;

/** A user's session at the provider, as the ID token of its browser names it. */
export interface SignedInSession {
  readonly sub: string;
  readonly sid: string;
}

/** How a logout token differs from a good one. */
export interface LogoutClaims {
  /** In place of the usual ones; null leaves one out. `iat` and `exp` are seconds from now. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly spoil?: "signature" | "alg";
  /** In place of `logout+jwt`. */
  readonly typ?: string;
}

export async function logoutTokenOf(
  server: Server,
  { issuer, client }: { readonly issuer: string; readonly client: string },
  { sub, sid }: SignedInSession,
  { claims = {}, spoil, typ = "logout+jwt" }: LogoutClaims,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const at = (name: string, usual: number): number => now + (typeof claims[name] === "number" ? claims[name] : usual);
  const all = {
    ...{ iss: issuer, sub, aud: client, jti: randomText(16), sid, events: { [event]: {} } },
    ...claims,
    ...{ iat: at("iat", 0), exp: at("exp", life) },
  };
  const payload = Object.fromEntries(Object.entries(all).filter(([, value]: [string, unknown]) => value !== null));
  // As the issuer chooses it for the client.
  const { id_token_signed_response_alg: alg = "RS256" } = await callServer(server, "clients.show", {
    client_id: client,
  });
  const token = await signedBy(server, String(alg), typ, payload);
  const [head = "", body = "", signature = ""] = token.split(".");
  if (spoil === undefined) return token;
  const none = Buffer.from(JSON.stringify({ alg: "none", typ })).toString("base64url");
  if (spoil === "alg") return `${none}.${body}.`;
  const bytes = Buffer.from(signature, "base64url");
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  return `${head}.${body}.${bytes.toString("base64url")}`;
}
