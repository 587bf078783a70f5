import * as z from "zod";
import { everyAssertionAlgorithm } from "../../records/clients/clients.ts";
import {
  clientIdForm,
  clientIdRule,
  originForm,
  redirectPatternForm,
  redirectUriForm,
} from "../../base/identifiers.ts";
import { checkRedirectPattern } from "../../records/clients/redirect-patterns.ts";
import { checkRedirectUri } from "../../records/redirect-uri.ts";
import {
  claimsObject,
  endpointUrl,
  issuerReference,
  jsonValue,
  nonEmptyText,
  scopeList,
  textOf,
  uriOf,
  webUrl,
  type DeepReadonly,
} from "../../records/fields.ts";
import { grantTypeNames } from "../tokens/grant-types/list.ts";
import { postAddress, samlSchema } from "../../records/service-providers/schema.ts";
import { globalTokenRevocationSchema, scimSchema } from "./provisioning.ts";
import { idTokenClaimSets, userinfoFormats } from "../../records/scopes/claim-table.ts";

const redirectUri = uriOf(redirectUriForm, checkRedirectUri);
const redirectPattern = uriOf(redirectPatternForm, checkRedirectPattern);

/** A refused request shows what is registered beside what was sent, and each one is compared with it. */
const atMost = <T extends z.ZodType>(address: T): z.ZodArray<T> =>
  z.array(address).max(1000, { error: "has more than 1,000 addresses" });

const origin = textOf(originForm, (given) =>
  given === "null"
    ? '"null" is the origin of every page without one, and cannot be allowed'
    : `"${given}" is not an origin as browsers send it, such as "http://localhost:5173" or "capacitor://localhost"`,
);

const clientId = textOf(clientIdForm, (given) => `"${given}" is not a client_id: ${clientIdRule}`);

/** RFC 7591 2, OpenID Connect Core 9. */
const authMethods = [
  "client_secret_post",
  "client_secret_basic",
  "client_secret_jwt",
  "private_key_jwt",
  "none",
] as const;

/** RFC 7518 3.1. */
export const idTokenAlgorithms = ["RS256", "PS256", "ES256", "EdDSA", "HS256"] as const;

const seconds = z.int().min(0, { error: "is below zero" });

/** RFC 7517 4. The members of each kind of key are checked when the key is used. */
export const jwk = z.object({ kty: nonEmptyText, kid: nonEmptyText.optional() }).catchall(jsonValue);

/** Metadata for people, which may also have a language: `client_name#tr` (RFC 7591 2.2). */
export const forPeople = {
  client_name: nonEmptyText.optional().describe("Shown on pages"),
  client_uri: webUrl.optional().describe("The home page of the app"),
  logo_uri: webUrl.optional().describe("Kept; no page shows it, because pages load nothing remote"),
  policy_uri: webUrl.optional().describe("A link on the login and consent pages"),
  tos_uri: webUrl.optional().describe("A link on the login and consent pages"),
};

/** The rest of RFC 7591 2. */
const oauthMetadata = {
  redirect_uris: atMost(redirectUri)
    .optional()
    .describe("Compared letter by letter; at most 1,000; needed for authorization_code"),
  token_endpoint_auth_method: z
    .enum(authMethods)
    .optional()
    .describe("Absent: client_secret_post and client_secret_basic"),
  grant_types: z.array(z.enum(grantTypeNames)).optional().describe("Absent: authorization_code and refresh_token"),
  response_types: z
    .array(z.enum(["code"]))
    .optional()
    .describe("Only code"),
  contacts: z.array(nonEmptyText).optional().describe("Addresses of the developers"),
  scope: scopeList.optional().describe("Space-separated; absent: every scope"),
  jwks_uri: endpointUrl.optional().describe("Where the public keys of private_key_jwt are; in place of jwks"),
  jwks: z
    .strictObject({ keys: z.array(jwk) })
    .optional()
    .describe("The public keys of private_key_jwt"),
  software_id: nonEmptyText.optional().describe("Kept (RFC 7591)"),
  software_version: nonEmptyText.optional().describe("Kept (RFC 7591)"),
};

/** OpenID Connect Dynamic Client Registration 2. */
const openIdMetadata = {
  application_type: z.enum(["web", "native"]).optional().describe("Kept (OpenID Connect registration)"),
  sector_identifier_uri: endpointUrl.optional().describe("Kept (OpenID Connect registration)"),
  subject_type: z.enum(["public"]).optional().describe("Every client sees the same sub"),
  id_token_signed_response_alg: z.enum(idTokenAlgorithms).optional().describe("The algorithm of ID tokens"),
  token_endpoint_auth_signing_alg: z
    .enum(everyAssertionAlgorithm)
    .optional()
    .describe("The only algorithm of client assertions"),
  default_max_age: seconds.optional().describe("max_age of requests that have none, in seconds"),
  require_auth_time: z.boolean().optional().describe("Kept; auth_time is always in the ID token"),
  default_acr_values: z
    .array(nonEmptyText)
    .optional()
    .describe("acr_values of requests that have neither those nor an acr claim, best first"),
  initiate_login_uri: endpointUrl.optional().describe("Where the app begins a sign-in; pages link to it"),
};

const idle = <T extends z.ZodType>(schema: T) => schema.optional().describe("Kept, without effect here");

/** The same, for what this server does not do. A file for another provider may have it, but no client can register it. */
const idleMetadata = {
  id_token_encrypted_response_alg: idle(nonEmptyText),
  id_token_encrypted_response_enc: idle(nonEmptyText),
  userinfo_signed_response_alg: idle(nonEmptyText),
  userinfo_encrypted_response_alg: idle(nonEmptyText),
  userinfo_encrypted_response_enc: idle(nonEmptyText),
  request_object_signing_alg: idle(nonEmptyText),
  request_object_encryption_alg: idle(nonEmptyText),
  request_object_encryption_enc: idle(nonEmptyText),
  request_uris: idle(z.array(webUrl)),
};

/** The fields that are kept, and change nothing here. */
export const keptFields: readonly string[] = [
  ...["logo_uri", "software_id", "software_version", "application_type", "sector_identifier_uri", "require_auth_time"],
  ...["backchannel_logout_session_required", ...Object.keys(idleMetadata)],
];

/** OpenID Connect RP-Initiated and Back-Channel Logout; RFC 9126 6; RFC 9449 5.2. */
const furtherMetadata = {
  post_logout_redirect_uris: atMost(redirectUri)
    .optional()
    .describe("Where a sign-out may return to; compared letter by letter"),
  backchannel_logout_uri: postAddress
    .optional()
    .describe("Receives logout tokens (OpenID Connect Back-Channel Logout)"),
  backchannel_logout_session_required: z.boolean().optional().describe("Kept; logout tokens always have a sid"),
  require_pushed_authorization_requests: z
    .boolean()
    .optional()
    .describe("Refuse authorization requests that were not pushed (RFC 9126)"),
  dpop_bound_access_tokens: z.boolean().optional().describe("Every token request needs a DPoP proof (RFC 9449)"),
};

/** Names of variables by which programs find or run code, or reach a registry, and those that `idp` sets itself. */
const takenVariables = [
  ..."PATH PATHEXT COMSPEC ZDOTDIR TMPDIR TEMP TMP HOME ENV BASH_ENV SHELL SHELLOPTS IFS PS4 PROMPT_COMMAND".split(" "),
  ..."PAGER EDITOR VISUAL BROWSER CLASSPATH MAKEFLAGS LUA_INIT OPENSSL_CONF".split(" "),
  ..."GODEBUG GOFLAGS GOROOT GOPATH GOPROXY GOTOOLCHAIN LESS* MAN* GITHUB_*".split(" "),
  ..."*_PROXY IDP_* OIDC_* NODE_* NPM_* BUN_* DENO_* PLAYWRIGHT_* PYTHON* PERL* RUBY* PHP* CARGO_* RUSTC_*".split(" "),
  ..."GEM_* BUNDLE_* PIP_* UV_* POETRY_* COMPOSER_* COREPACK_*".split(" "),
  ..."JAVA_* JDK_* _JAVA_* MAVEN_* GRADLE_* DOTNET_* COR_* LD_* DYLD_* GIT_* SSH_* SSL_* XDG_*".split(" "),
];
const takenPattern = takenVariables.map((name) => name.replace("*", "[A-Z0-9_]*")).join("|");
const takenForm = new RegExp(`^(?:${takenPattern})$`);

const variableName = textOf(new RegExp(`^(?!(?:${takenPattern})$)[A-Z][A-Z0-9_]*$`), (given) =>
  takenForm.test(given)
    ? "cannot be set here: programs find or run code by it, or idp sets it"
    : "is not the name of a variable: A to Z, digits and _, such as COOKIE_SECRET",
);

/** Fields that only `idp` has. */
const ownMetadata = {
  redirect_patterns: atMost(redirectPattern)
    .min(1, { error: "is empty; list a pattern, or leave it out" })
    .optional()
    .describe(
      "Redirect URIs of preview deployments, with one * in the leftmost part of the host; needs a secret and PKCE",
    ),
  require_pkce: z.boolean().optional().describe("Public clients need PKCE anyway"),
  userinfo_format: z.enum(userinfoFormats).optional().describe("The form of UserInfo; the setting has the default"),
  id_token_claims: z
    .enum(idTokenClaimSets)
    .optional()
    .describe("minimal: ID tokens without the claims of the user; the setting has the default"),
  skip_consent: z.boolean().optional().describe("Approve without the consent page"),
  refresh_ends_with_session: z
    .boolean()
    .optional()
    .describe("Refresh tokens without offline_access end with the session of the user (Back-Channel Logout 2.7)"),
  audience: z
    .union([nonEmptyText, z.array(nonEmptyText).min(1)], { error: "is neither text nor a list of texts" })
    .optional()
    .describe("aud of access tokens; absent: the issuer"),
  claims: claimsObject.optional().describe("Extra claims of access tokens without a user, and of their introspection"),
  env: z
    .record(
      variableName,
      textOf(/^[^\0]*$/, () => "has a NUL character, which no variable can hold"),
    )
    .optional()
    .describe("Development values that the app needs beside OIDC_*; idp env and idp exec give them"),
  id_jag_audiences: z
    .array(z.strictObject({ issuer: issuerReference, client_id: clientId.optional() }))
    .min(1, { error: "is empty; list an issuer, or leave it out" })
    .optional()
    .describe("Issuers for which the client may get an ID-JAG by token exchange, with its client_id there"),
  federated_credentials: z
    .array(z.strictObject({ issuer: endpointUrl, subject: nonEmptyText, audience: nonEmptyText }))
    .min(1, { error: "is empty; list a workload, or leave it out" })
    .optional()
    .describe("Tokens of workloads that may act as the client, by their iss, sub and aud"),
  apple_team: nonEmptyText
    .optional()
    .describe("The secret is a JWT by the ES256 key in jwks, as at Apple; this is its iss"),
  saml: samlSchema.optional(),
  allowed_origins: z.array(origin).optional().describe("CORS, beside the origins of redirect_uris"),
  scim: scimSchema.optional(),
  global_token_revocation: globalTokenRevocationSchema.optional(),
};

/** A client of a fixture. */
export const clientSchema = z
  .strictObject({
    client_id: clientId.describe("Unique"),
    client_secret: nonEmptyText.optional().describe("Absent, and no method that needs keys: a public client"),
    ...forPeople,
    ...oauthMetadata,
    ...openIdMetadata,
    ...idleMetadata,
    ...furtherMetadata,
    ...ownMetadata,
  })
  .describe("A client: metadata of RFC 7591 and OpenID Connect registration and logout, and a few of idp's own");

/** Metadata that a client may choose when it registers (RFC 7591); of those of `idp`, only what loosens nothing. */
export const registrableMetadata = (name: string): boolean =>
  [forPeople, oauthMetadata, openIdMetadata, furtherMetadata].some((known) => Object.hasOwn(known, name)) ||
  name === "require_pkce" ||
  name === "userinfo_format" ||
  name === "id_token_claims" ||
  translatedField(name) !== null;

export type FixtureClient = DeepReadonly<z.input<typeof clientSchema>>;

/** The schema of a key such as `client_name#tr`; null for another kind of key. */
export function translatedField(key: string): z.ZodType | null {
  const name = /^([a-z_]+)#[A-Za-z0-9-]+$/.exec(key)?.[1] ?? "";
  return Object.hasOwn(forPeople, name) ? forPeople[name as keyof typeof forPeople] : null;
}
