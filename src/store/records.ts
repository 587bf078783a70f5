export type { Key, ScimResource } from "./credentials.ts";
import type { FederatedCredential, FederatedSubject, Passkey, ScimServer } from "./credentials.ts";

/** The lasting records. Short-lived ones are in pending.ts, and parts of these in credentials.ts. */

/** A user: section "users" of a fixture, each field with its value. Times are ISO 8601. */
export interface User {
  /** The `sub` of every token: text of ASCII; a Snowflake unless a fixture says otherwise. */
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  /** Null: none. */
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** `scrypt$N$r$p$salt$hash` (base64url); null: signs in from the picker only. */
  readonly passwordHash: string | null;
  /** The password is known (from a fixture), but not hashed yet. */
  readonly passwordPending: boolean;
  /** Keyed digest of the fixture password that was hashed, so that the same one is not hashed again. Null: not from a fixture. */
  readonly passwordDigest: string | null;
  readonly status: "active" | "suspended" | "banned";
  /** `baseUrl` null: this server makes the picture. */
  readonly avatar: { readonly baseUrl: string | null; readonly path: string; readonly color: string };
  readonly about: string;
  /** For the tester: who this user is, where lists show no roles. */
  readonly note: string | null;
  readonly language: string;
  readonly theme: "light" | "dark" | "system" | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly website: string | null;
  readonly location: string | null;
  readonly birthDate: string | null;
  readonly phone: string | null;
  readonly socialLinks: readonly { readonly platform: string; readonly url: string; readonly label: string }[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** What the user has beside the password or the picker. Absent: nothing. */
  readonly factors?: readonly ("otp" | "passkey")[];
  /** Base32, of the one-time codes. Absent: the user never had that factor. */
  readonly otp_secret?: string;
  /** Who the user is at other issuers, whose ID-JAGs speak for the user. Absent: nobody. */
  readonly federated?: readonly FederatedSubject[];
  /** Registered on the account page. Absent: none. */
  readonly passkeys?: readonly Passkey[];
}

/** A client: RFC 7591 and OpenID Connect metadata beside `idp`'s own. `core/records/clients/clients.ts` decides what applies where some is absent. */
export interface Client {
  readonly client_id: string;
  /** Absent, and no method that needs keys: a public client. */
  readonly client_secret?: string;
  readonly client_name?: string;
  readonly redirect_uris: readonly string[];
  /** Families of redirect URIs, with one `*` each (`core/records/clients/redirect-patterns.ts`). */
  readonly redirect_patterns?: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly allowed_origins?: readonly string[];
  /** Space-separated; absent: every scope. */
  readonly scope?: string;
  readonly token_endpoint_auth_method?: string;
  readonly token_endpoint_auth_signing_alg?: string;
  readonly grant_types?: readonly string[];
  readonly require_pkce?: boolean;
  readonly userinfo_format?: "native" | "standard" | "combined";
  readonly id_token_claims?: "all" | "minimal";
  readonly id_token_signed_response_alg?: string;
  readonly skip_consent?: boolean;
  readonly refresh_ends_with_session?: boolean;
  readonly audience?: string | readonly string[];
  /** Variables that the app needs beside those of OpenID Connect, in development. */
  readonly env?: Readonly<Record<string, string>>;
  /** Extra claims of tokens without a user. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  readonly jwks_uri?: string;
  /** Its secret is a JWT that it signs with the key of `jwks`, as at Apple; this is the `iss` of that. */
  readonly apple_team?: string;
  /** Issuers for which the client may get an ID-JAG here, with its name there. */
  readonly id_jag_audiences?: readonly { readonly issuer: string; readonly client_id?: string | undefined }[];
  /** Tokens of workloads that may act as this client. */
  readonly federated_credentials?: readonly FederatedCredential[];
  /** The app's SCIM server; a type of `core/protocol/client-metadata/provisioning.ts`. */
  readonly scim?: ScimServer;
  /** Where the app learns that all tokens of a user are revoked. */
  readonly global_token_revocation?: { readonly uri: string; readonly subject?: "email" | "iss_sub" | undefined };
  readonly backchannel_logout_uri?: string;
  readonly default_max_age?: number;
  readonly default_acr_values?: readonly string[];
  readonly initiate_login_uri?: string;
  /** It is a service provider of SAML, and nothing of OpenID Connect: a type of `core/records/service-providers/schema.ts`. */
  readonly saml?: unknown;
  /**
   * Names one registration of this id. Tokens that speak for the client alone carry it, so that those of a client that was removed
   * stay dead when the id comes back. (Those of users depend on the epoch of their grant.)
   */
  readonly epoch: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** SHA-256 of the token that manages a client which registered itself (RFC 7592), base64url. */
  readonly registrationTokenHash?: string;
  /** Its metadata is the document at `client_id`: nobody registered it. */
  readonly fromDocument?: true;
  /** Any other registered metadata, kept as it was given. */
  readonly [metadata: string]: unknown;
}

/** A scope beyond those built in: what it says on the consent page (by language), and the claims it releases. */
export interface Scope {
  readonly name: string;
  readonly description: Readonly<Record<string, string>>;
  readonly claims: readonly string[];
}

/** The consent of one user for one client. Times are ISO 8601. */
export interface Grant {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Scopes that the user was asked for and left out. Absent: none. */
  readonly declined?: readonly string[];
  /** Hosts that a pattern of the client let in, and that the user allowed: the newest last. Absent: none. */
  readonly hosts?: readonly string[];
  readonly status: "active" | "revoked";
  /** Drawn at each activation. Tokens carry it, so what was issued before a revocation stays dead after a new consent. */
  readonly epoch: string;
  readonly by: "user" | "policy" | "cli" | "fixture" | "issuer";
  /** The issuer that allowed them, if one did: its ID-JAG named the scopes. */
  readonly issuer?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revokedAt: string | null;
  /** Who revoked it; absent if it is active, or if that is not recorded. */
  readonly revokedBy?: "user" | "operator" | "ban" | "client";
  /** When its client last received a token, exact to an hour (`core/sign-in/grants/grants.ts`). Absent: never. */
  readonly lastUsedAt?: string;
}

/**
 * What happened to the tokens of one code redemption, or to a branch that a retry within `refresh_grace` began. Kept for exceptions only: one
 * without a record was neither rotated nor killed, so its refresh token is of generation 0.
 */
export interface TokenFamily {
  readonly id: string;
  /** The generation of the refresh token that is good now; an older one is a reuse. */
  readonly generation: number;
  /** When that generation began, in milliseconds; for `refresh_grace`. */
  readonly rotatedAt: number;
  /** Why the family is dead, in words that follow "the token": "was revoked by the operator"; null: it lives. */
  readonly deadBecause: string | null;
  /** Since when, in milliseconds; absent if that is not known. */
  readonly deadAt?: number;
  readonly expiresAt: number;
}

/** One token that died alone (RFC 7009 of an access token). */
export interface DeadToken {
  readonly jti: string;
  /** As of a family; of an ID token with a flaw, a sentence. */
  readonly reason: string;
  /** Since when, in milliseconds; absent if that is not known. */
  readonly at?: number;
  readonly expiresAt: number;
}

/** What an opaque access token stands for. */
export interface OpaqueToken {
  /** SHA-256 of the token, base64url. */
  readonly id: string;
  /** The JWT that says what the token is good for. Nobody is given it. */
  readonly jwt: string;
  readonly expiresAt: number;
}

/** A browser in which a user has signed in. */
export interface Session {
  /** SHA-256 of the cookie's value, base64url: the file gives nobody a session. */
  readonly id: string;
  /** The `sid` of ID tokens. */
  readonly sid: string;
  readonly userId: string;
  /** When the user last proved who they are, in seconds since 1970: `auth_time`. */
  readonly authTime: number;
  readonly amr: readonly string[];
  /** What was proved beside that sign-in, and when: a type of `core/records/step-up/proofs.ts`. Absent: nothing. */
  readonly factors?: Readonly<Record<string, number>>;
  /** Clients that received an ID token of this session. */
  readonly clientIds: readonly string[];
  /** Clients that got an ID token, and had no `backchannel_logout_uri` then. Absent: none. */
  readonly quietClientIds?: readonly string[];
  /** Its program and system, as its first request named them: "Firefox, Linux"; absent: unknown. */
  readonly browser?: string;
  /** Service providers of SAML that got an assertion, with the name of the user in it. Absent: none. */
  readonly serviceProviders?: readonly {
    readonly clientId: string;
    readonly nameId: string;
    readonly format: string;
  }[];
  readonly createdAt: string;
  readonly expiresAt: number;
}

/** What `idp expire` ended: all tokens of a user, of a client or of both that were issued in an era or before it. */
export interface Expiration {
  /** The ids of the user and the client as a JSON list; null: any. */
  readonly id: string;
  readonly access?: EndOfTokens;
  readonly refresh?: EndOfTokens;
}

interface EndOfTokens {
  readonly era: number;
  /** Since when, in milliseconds. */
  readonly at: number;
}

/** What a fixture last said about a record, as a keyed hash, so that run-time changes are kept while the fixture stays the same. */
export interface AppliedFixture {
  /** `user:alice`, `client:demo-app`, … */
  readonly id: string;
  readonly digest: string;
}

/** A fixture file or a fixture of a program that was checked. It has digests in place of passwords. */
export interface KeptFixture {
  readonly name: string | null;
  /** The sections, users without their passwords. */
  readonly value: Readonly<Record<string, unknown>>;
  /** The digests of the passwords, by username. */
  readonly digests: Readonly<Record<string, string>>;
  /** The key of the digests. */
  readonly key: string;
}

/** The fixtures that a reset goes back to, where they are others than those that the process was started with. */
export interface FixturesInUse {
  readonly id: "inUse";
  /** Drawn: another one for other fixtures. */
  readonly version: string;
  readonly fixtures: readonly KeptFixture[];
}

/** The fixtures that the data were made from. It is no part of an export, because paths mean something on one machine only. */
export interface MadeFrom {
  readonly id: "madeFrom";
  /** The built-in demo. */
  readonly demo: boolean;
  /** Each fixture; `name`: as it was given; `path`: the whole path of its file. Empty for an import. */
  readonly from: readonly { readonly name: string | null; readonly path: string | null }[];
}

/** Single values that belong to the data as a whole. */
export interface Meta {
  readonly id:
    | "issuer"
    | "addedBy"
    | "settings"
    | "longestLife"
    | "latestEnd"
    | "era"
    | "pasts"
    | "deadEras"
    | "knownKeys"
    | "workloadKeys";
  readonly value: unknown;
}

/** A state of the issuer to go back to. */
export interface Snapshot {
  readonly name: string;
  /** ISO 8601. */
  readonly savedAt: string;
  /** The name of the token that saved it. Absent in snapshots of earlier versions: everybody's. */
  readonly by?: string;
  /** A type of `core/testing/controls/snapshots.ts`. */
  readonly content: unknown;
}
