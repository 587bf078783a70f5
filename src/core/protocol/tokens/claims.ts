import type { Client, Grant, User } from "../../../store/store.ts";
import { type RequestedClaims, isProtocolClaim } from "../../records/scopes/claims.ts";
import type { Jws } from "../../records/keys/jws.ts";
import { tokenTypes } from "../../records/keys/signer.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";
import type { OnToken, OnTokenInput } from "../../context.ts";
import { HookError } from "../../base/errors.ts";

/** The types of tokens and of their claims. `sign.ts` sets the values. */

export type TokenKind = keyof typeof tokenTypes;

export const kindInWords: Readonly<Record<TokenKind, string>> = {
  access: "an access token",
  refresh: "a refresh token",
  id: "an ID token",
  logout: "a logout token",
  globalRevocation: "a token of Global Token Revocation",
  idJag: "an ID-JAG",
};

const always = ["iss", "sub", "exp", "iat", "jti"];
const ofGrant = [...always, "client_id", "era"];

/**
 * The claims that a token of each kind has: RFC 9068 2.2, OpenID Connect Core 2, OpenID Connect Back-Channel Logout 2.4, the draft of ID-JAGs,
 * and our own.
 */
export const requiredClaims: Readonly<Record<TokenKind, readonly string[]>> = {
  access: [...ofGrant, "aud"],
  refresh: [...ofGrant, "grant", "epoch", "family", "generation"],
  id: [...always, "aud"],
  logout: [...always, "aud", "events"],
  globalRevocation: ["iss", "aud", "iat", "exp", "jti"],
  idJag: [...always, "aud", "client_id"],
};

const kinds = Object.keys(tokenTypes) as readonly TokenKind[];

/**
 * The kind of a token of this server; undefined if it issues no such kind. The setting `access_token_typ: JWT` gives access tokens the
 * `typ` of ID tokens. Then `epoch` decides: every access token has it, and no ID token can, since no `claims` may have that name.
 */
export function kindOfToken({ header, payload }: Pick<Jws, "header" | "payload">): TokenKind | undefined {
  const kind = kinds.find((one) => tokenTypes[one] === header["typ"]);
  return kind === "id" && Object.hasOwn(payload, "epoch") ? "access" : kind;
}

/** The subject of an access token, and where the token is valid. */
export interface AccessTokenSubject {
  readonly client: Client;
  /** Null, with grant and family: the client speaks for itself (client credentials). */
  readonly user: User | null;
  readonly grant: Grant | null;
  readonly family: string | null;
  /** The era of the issuer, when the token is issued. */
  readonly era: number;
  readonly scopes: readonly string[];
  /** Claims that the request asked for by name. */
  readonly claims: RequestedClaims;
  /** RFC 8707: the APIs it is meant for; none: the client's `audience`, else the issuer. */
  readonly resources: readonly string[];
  /** Thumbprint of the key that the token is bound to (RFC 9449 6.1); null: a bearer token. */
  readonly jkt: string | null;
  /** Only for a token from an exchange. */
  readonly exchanged?: Exchanged;
}

/** Who acts for the subject of a token, and the actors before them (RFC 8693 4.1). */
export interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

/** What a token takes over from the tokens it was exchanged for (RFC 8693). */
interface Exchanged {
  readonly sub: string;
  /** Seconds since 1970: it expires with them, or exchanges could renew a token forever. */
  readonly expiresAt: number;
  readonly act: Actor | null;
  /** The subject's token, and those that it was exchanged for in turn. */
  readonly origins: readonly Origin[];
}

/** A token that another one was exchanged for. If it, or its client, becomes invalid, so does the other one. */
export interface Origin {
  readonly jti: string;
  readonly client_id: string;
  /** The epoch of the client; absent if the grant says enough. */
  readonly epoch?: string;
  readonly era: number;
}

/** What the tokens of one authorization have in common. */
export interface TokenSubject extends AccessTokenSubject {
  readonly user: User;
  readonly grant: Grant;
  readonly family: string;
}

/** Claims of an access or refresh token, by which its state is looked up. */
export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud?: string | readonly string[];
  readonly client_id: string;
  /** Absent: no scopes. */
  readonly scope?: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  /** Absent, as is the family, for a token without a user (client credentials). */
  readonly grant?: string;
  /** The epoch of the grant; without one, of the client. */
  readonly epoch?: string;
  /** The epoch of the client, where the grant is another's: only in a token from an exchange. */
  readonly client_epoch?: string;
  readonly family?: string;
  /** When it was issued, see `era.ts`. */
  readonly era: number;
  /** Claims asked for by name (OpenID Connect Core 5.5): `userinfo` in an access token, both in a refresh token. */
  readonly claims?: Partial<RequestedClaims>;
  /** Absent: a bearer token. */
  readonly cnf?: { readonly jkt: string };
  readonly act?: Actor;
  /** How and when the user signed in, in seconds (RFC 9470 6). Absent in a token without a user. */
  readonly acr?: string;
  readonly auth_time?: number;
  /** Only in a token from an exchange. */
  readonly exchanged_from?: readonly Origin[];
}

/** Claims of an ID token, with what its `jti` says. */
export interface IdTokenClaims extends TokenClaims {
  readonly epoch: string;
  readonly family: string;
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly acr: string;
}

/**
 * The `jti` of an ID token, opaque to clients. It names the family, the activation of the grant and the era, so that a token exchange can
 * look up whether the ID token still stands.
 */
export const jtiOfIdToken = (random: string, { family, grant, era }: TokenSubject): string =>
  [random, family, grant.epoch, era].join(".");

/** The reverse; null: it is the `jti` of another token. */
export function readJti(jti: unknown): Pick<IdTokenClaims, "family" | "epoch" | "era"> | null {
  const [, family, epoch, era] = /^[\w-]+\.([\w-]+)\.([\w-]+)\.([0-9]+)$/.exec(String(jti)) ?? [];
  return family === undefined || epoch === undefined ? null : { family, epoch, era: Number(era) };
}

/** The place of a refresh token in its family. Each is used once, and those that a retry got make a branch of their own. */
export interface RefreshPlace {
  /** How often the branch was rotated before. */
  readonly generation: number;
  /** Absent: the branch that the family began with. */
  readonly refresh_branch?: string;
}

export interface RefreshClaims extends TokenClaims, RefreshPlace {
  readonly grant: string;
  readonly epoch: string;
  readonly family: string;
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly sid?: string;
  readonly resource?: readonly string[];
}

/** The function `onToken` of `createIdp`, which adds claims to tokens. */

/** What the function adds to a token of this subject. @throws {HookError} */
export async function addedClaims(
  onToken: OnToken,
  kind: OnTokenInput["kind"],
  { client, user }: { readonly client: Pick<Client, "client_id">; readonly user: Pick<User, "username"> | null },
): Promise<JsonObject> {
  try {
    const given: unknown = await onToken({ kind, client: client.client_id, user: user?.username ?? null });
    if (given === undefined) return {};
    // Judged as it stands in the token: an object may say by toJSON what it is there.
    const text = JSON.stringify(given) as string | undefined;
    const claims: unknown = text === undefined ? null : JSON.parse(text);
    if (!isObject(claims)) throw new Error("it must return an object of claims");
    const taken = Object.keys(claims).find((name) => name === "email" || isProtocolClaim(name));
    if (taken !== undefined) throw new Error(`it returned the claim "${taken}", which only the server sets`);
    return claims;
  } catch (cause) {
    throw new HookError("onToken", cause);
  }
}
