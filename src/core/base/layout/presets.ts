import type { EndpointName, SamlEndpoint } from "../endpoints.ts";
import { tenYears } from "../../../text/time.ts";

/** Where known vendors have their endpoints, for their SDKs. Only data: no security check depends on it. */

/** `type`: the parameters are the `response` member of a message of this type; without it they are the message itself. */
export type MessageMode =
  | { readonly mode: "web_message"; readonly type: string }
  | { readonly mode: "okta_post_message"; readonly type?: undefined };

export interface Preset {
  /** The path of the issuer below the base; `NAME` stands for the name of the issuer. */
  readonly issuer: string;
  /** Another way in which the path of the first issuer may be given. */
  readonly shortIssuer?: string;
  /** A second issuer of the same data, where the vendor has two. */
  readonly also?: Pick<Preset, "issuer" | "paths">;
  /** What `NAME` is for the first issuer, unless the given issuer says otherwise. */
  readonly firstName: string;
  /** Other issuers of the process have the first name as well: their own name is before the vendor's path. */
  readonly sharesFirstName?: true;
  /** Below the base. Endpoints that the vendor does not have stay where they are. */
  readonly paths: Readonly<Partial<Record<EndpointName, string>>>;
  /** The endpoints of SAML that are elsewhere, below the issuer. */
  readonly saml?: Readonly<Partial<Record<SamlEndpoint, string>>>;
  /** What the vendor calls `post_logout_redirect_uri`. */
  readonly returnParameter?: string;
  /** The form of the message by which the vendor's SDK receives a response in a frame or a popup (`response_mode`). */
  readonly messages?: MessageMode;
  /** Pages that the vendor's SDK loads in a frame and waits for: what each says to the page around it. */
  readonly frames?: Readonly<Record<string, string>>;
  /** The response of a device authorization has a sentence for the user; the vendor's samples print only that. */
  readonly deviceMessage?: true;
  /** Grant types under the names that the vendor's SDK sends. */
  readonly grantTypes?: Readonly<Record<string, string>>;
  /** `audience` is any text, not only a URI (RFC 8707 2). */
  readonly anyAudience?: true;
  /** Scopes that a request for `openid` alone asks for as well, within the client's own. */
  readonly impliedScopes?: readonly string[];
  /** The claim `typ` of each kind of token. */
  readonly payloadTypes?: { readonly access: string; readonly id: string; readonly refresh: string };
  /**
   * A GET of the issuer describes it, and a POST of a refresh token to the logout endpoint signs out. Access tokens name the client and the
   * session, and token responses say more of both.
   */
  readonly realm?: true;
  /** Claims of the user that access tokens have too, as the scopes give them; absent: the e-mail address alone, always. */
  readonly accessTokenClaims?: readonly string[];
  /** A token of a client that speaks for itself is for the resource of its scope: `RESOURCE/.default`. */
  readonly defaultScope?: true;
  /** Tokens have `tid` and `oid`. */
  readonly tenant?: true;
  /** The claim `ver` of access tokens and ID tokens. */
  readonly tokenVersion?: 1 | "2.0";
  /**
   * What access tokens call the client, the user and the scopes, beside the names of RFC 9068 2.2. `scp` is a list or a text; with `roles`, that
   * claim has the scopes of a client that speaks for itself.
   */
  readonly accessTokenNames?: {
    readonly client: "azp" | "cid";
    readonly user?: "uid";
    readonly scp?: "list" | "text";
    readonly roles?: true;
  };
  /** A logout without a hint returns to an address that exactly one client registered. */
  readonly logoutByUri?: true;
  /** Access tokens are opaque: random bits behind this text (`core/protocol/tokens/opaque.ts`). */
  readonly opaque?: string;
  /** The scopes in place of the built-in ones. `any`: others are granted too, and do nothing; commas separate them; a request may have none. */
  readonly scopes?: { readonly names: readonly string[]; readonly any?: true };
  /** The standard claims that ID tokens and UserInfo have; absent: all. */
  readonly standardClaims?: readonly string[];
  /** The claims about the sign-in that an ID token has only if the request asked for them. */
  readonly claimsOnRequest?: readonly ("acr" | "amr" | "auth_time")[];
  /** The answer to a refresh has no refresh token, unless it rotated. */
  readonly keepsRefreshToken?: true;
  /** Endpoints that neither the vendor nor this issuer has. */
  readonly without?: readonly EndpointName[];
  /** Another path of the authorization endpoint. */
  readonly alsoAuthorize?: string;
  /**
   * What Google does its own way: a refresh token needs `access_type=offline`, `hd` narrows the picker, a token revokes itself, and the keys are
   * also published as certificates.
   */
  readonly google?: true;
  /** OAuth 2.0 without OpenID Connect, GitHub's way (`core/protocol/tokens/github.ts`, `http/oauth/github.ts`). */
  readonly github?: true;
  /** What Apple does its own way: client secrets that are JWTs, the form that has `user` once, private addresses (`core/records/clients/apple-secret.ts`). */
  readonly apple?: true;
  /** Tokens have Cognito's claims. */
  readonly cognito?: true;
  /** What applies where neither fixtures nor flags say otherwise: tokens and UserInfo as the vendor has them. */
  readonly settings: {
    readonly access_token_alg: "HS256" | "RS256";
    readonly userinfo_format: "standard";
    readonly access_token_typ?: "JWT";
    readonly access_token_ttl?: number;
    readonly refresh_rotation?: "off";
    readonly refresh_requires_offline_access?: true;
  };
}

const usual = { access_token_alg: "RS256", userinfo_format: "standard" } as const;
/** The settings of vendors whose access tokens have no `typ` of their own. */
const asJwt = { ...usual, access_token_typ: "JWT" } as const;
/** Of vendors that give a refresh token only to an app that asked for `offline_access`. */
const offline = { refresh_requires_offline_access: true } as const;

/** The settings of vendors whose access tokens are opaque. */
const asText = { access_token_alg: "HS256", userinfo_format: "standard" } as const;

const realm = "/realms/NAME";
const protocol = `${realm}/protocol/openid-connect`;

/** The organization's own server and the one named `default` have the same paths below their own. */
const ofOkta = (server: string) => ({
  authorize: `${server}/authorize`,
  token: `${server}/token`,
  userinfo: `${server}/userinfo`,
  revoke: `${server}/revoke`,
  introspect: `${server}/introspect`,
  jwks: `${server}/keys`,
  logout: `${server}/logout`,
  par: `${server}/par`,
  device_authorization: `${server}/device/authorize`,
  register: `${server}/clients`,
});

export const presets = {
  auth0: {
    settings: { ...asJwt, ...offline },
    issuer: "/",
    firstName: "",
    paths: {
      authorize: "/authorize",
      token: "/oauth/token",
      userinfo: "/userinfo",
      revoke: "/oauth/revoke",
      jwks: "/.well-known/jwks.json",
      logout: "/v2/logout",
      par: "/oauth/par",
      device_authorization: "/oauth/device/code",
      register: "/oidc/register",
    },
    returnParameter: "returnTo",
    messages: { mode: "web_message", type: "authorization_response" },
    anyAudience: true,
    // https://auth0.com/docs/secure/tokens/access-tokens/access-token-profiles
    accessTokenNames: { client: "azp" },
  },
  okta: {
    settings: { ...usual, ...offline },
    issuer: "/oauth2/NAME",
    firstName: "default",
    sharesFirstName: true,
    paths: ofOkta("/oauth2/NAME/v1"),
    also: { issuer: "", paths: ofOkta("/oauth2/v1") },
    messages: { mode: "okta_post_message" },
    // https://developer.okta.com/docs/reference/api/oidc/#tokens-and-claims
    tokenVersion: 1,
    accessTokenNames: { client: "cid", user: "uid", scp: "list" },
  },
  keycloak: {
    settings: asJwt,
    issuer: realm,
    firstName: "idp",
    paths: {
      authorize: `${protocol}/auth`,
      token: `${protocol}/token`,
      userinfo: `${protocol}/userinfo`,
      revoke: `${protocol}/revoke`,
      introspect: `${protocol}/token/introspect`,
      jwks: `${protocol}/certs`,
      logout: `${protocol}/logout`,
      par: `${protocol}/ext/par/request`,
      device_authorization: `${protocol}/auth/device`,
      register: `${realm}/clients-registrations/openid-connect`,
    },
    saml: { metadata: "/protocol/saml/descriptor", sso: "/protocol/saml", slo: "/protocol/saml" },
    // Its SDK asks whether it may watch the session in a frame. There is no such frame here.
    frames: { [`${protocol}/3p-cookies/step1.html`]: "unsupported" },
    impliedScopes: ["profile", "email"],
    payloadTypes: { access: "Bearer", id: "ID", refresh: "Refresh" },
    realm: true,
    accessTokenClaims: ["preferred_username", "name", "email", "email_verified"],
  },
  cognito: {
    settings: usual,
    issuer: "",
    firstName: "",
    paths: {
      authorize: "/oauth2/authorize",
      token: "/oauth2/token",
      userinfo: "/oauth2/userInfo",
      revoke: "/oauth2/revoke",
      jwks: "/.well-known/jwks.json",
      logout: "/logout",
    },
    returnParameter: "logout_uri",
    alsoAuthorize: "/login",
    cognito: true,
  },
  entra: {
    settings: { ...asJwt, ...offline },
    issuer: "/NAME/v2.0",
    shortIssuer: "/NAME",
    firstName: "common",
    paths: {
      authorize: "/NAME/oauth2/v2.0/authorize",
      token: "/NAME/oauth2/v2.0/token",
      userinfo: "/oidc/userinfo",
      jwks: "/NAME/discovery/v2.0/keys",
      logout: "/NAME/oauth2/v2.0/logout",
      device_authorization: "/NAME/oauth2/v2.0/devicecode",
    },
    deviceMessage: true,
    defaultScope: true,
    tenant: true,
    // https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference
    tokenVersion: "2.0",
    accessTokenNames: { client: "azp", scp: "text", roles: true },
    logoutByUri: true,
    grantTypes: { device_code: "urn:ietf:params:oauth:grant-type:device_code" },
  },
  // https://developers.google.com/identity/openid-connect/openid-connect
  google: {
    settings: { ...asText, refresh_rotation: "off" },
    issuer: "",
    firstName: "",
    paths: {
      authorize: "/o/oauth2/v2/auth",
      token: "/token",
      userinfo: "/v1/userinfo",
      revoke: "/revoke",
      jwks: "/oauth2/v3/certs",
    },
    opaque: "ya29.",
    standardClaims: ["name", "picture", "given_name", "family_name", "email", "email_verified"],
    claimsOnRequest: ["acr", "amr", "auth_time"],
    keepsRefreshToken: true,
    google: true,
  },
  // https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
  github: {
    // Its tokens do not expire.
    settings: { ...asText, access_token_ttl: tenYears },
    issuer: "/login/oauth",
    firstName: "",
    paths: { authorize: "/login/oauth/authorize", token: "/login/oauth/access_token", userinfo: "/user" },
    opaque: "gho_",
    scopes: { names: ["user", "read:user", "user:email", "read:org"], any: true },
    github: true,
  },
  // https://developer.apple.com/documentation/signinwithapplerestapi
  apple: {
    settings: { ...asText, refresh_rotation: "off" },
    issuer: "",
    firstName: "",
    paths: { authorize: "/auth/authorize", token: "/auth/token", revoke: "/auth/revoke", jwks: "/auth/keys" },
    opaque: "",
    scopes: { names: ["openid", "name", "email"] },
    standardClaims: ["email", "email_verified"],
    claimsOnRequest: ["acr", "amr"],
    keepsRefreshToken: true,
    without: ["userinfo"],
    apple: true,
  },
} as const satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof presets;

export const presetNames = Object.keys(presets) as readonly PresetName[];
