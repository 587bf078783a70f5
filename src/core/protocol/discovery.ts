import { createPublicKey } from "node:crypto";
import { everyAssertionAlgorithm } from "../records/clients/clients.ts";
import { proofAlgorithms } from "./tokens/dpop.ts";
import { baseOf, discoveryPath, metadataPath } from "../base/endpoints.ts";
import { publicAlgs } from "../records/keys/keys.ts";
import { responseModesOf } from "../sign-in/response.ts";
import { idJagType } from "./tokens/grant-types/id-jag-issue.ts";
import { grantTypeNames } from "./tokens/grant-types/list.ts";
import type { Context } from "../context.ts";
import { reachableAcr } from "../records/step-up/acr.ts";
import { standardClaimNames } from "../records/scopes/claims.ts";

const confidentialMethods = ["client_secret_post", "client_secret_basic", "client_secret_jwt", "private_key_jwt"];

/** Whether this issuer accepts ID-JAGs, or a client may get one: programs that do not know the members of metadata for them warn of those. */
export const usesIdJag = async ({ settings, store }: Context): Promise<boolean> =>
  settings.trusted_issuers.length > 0 || (await store.read((tx) => tx.has("clients", "idJag", "true")));

/**
 * The metadata (OpenID Connect Discovery 3, RFC 8414 2): registered names only, and only what works.
 * @param supported all scopes that may be asked for, the claims that those of fixtures release, the languages of the pages, and ID-JAGs
 * @param options `backchannel`: the base of the endpoints that clients call themselves, where it is not the issuer: a container may know this
 *   server by another name than the browser does
 */
export function metadata(
  ctx: Context,
  supported: {
    readonly scopes: readonly string[];
    readonly claims: readonly string[];
    readonly languages: readonly string[];
    readonly idJag: boolean;
  },
  { backchannel, dynamicRegistration }: { readonly backchannel: string | null; readonly dynamicRegistration: boolean },
): Readonly<Record<string, unknown>> {
  // An address is kept to the letter, also one with a trailing slash; the paths below it begin with one.
  const base = baseOf(ctx.address);
  const { paths } = ctx.layout;
  const back = backchannel ?? base;
  const { github, without = [] } = ctx.layout;
  if (github === true) return oauthMetadata(ctx, supported, back);
  // The client secrets of Apple are sent in one way, and libraries choose it only where no other is listed.
  const methods = ctx.layout.apple === true ? ["client_secret_post"] : confidentialMethods;
  return {
    issuer: ctx.issuer,
    authorization_endpoint: base + paths.authorize,
    token_endpoint: back + paths.token,
    ...(!without.includes("userinfo") && { userinfo_endpoint: back + paths.userinfo }),
    jwks_uri: back + paths.jwks,
    pushed_authorization_request_endpoint: back + paths.par,
    require_pushed_authorization_requests: false,
    device_authorization_endpoint: back + paths.device_authorization,
    ...(dynamicRegistration && { registration_endpoint: back + paths.register }),
    revocation_endpoint: back + paths.revoke,
    introspection_endpoint: back + paths.introspect,
    end_session_endpoint: base + paths.logout,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    scopes_supported: supported.scopes,
    claims_supported: [...new Set([...standardClaimNames, ...supported.claims])],
    acr_values_supported: reachableAcr(ctx),
    response_types_supported: ["code"],
    response_modes_supported: responseModesOf(ctx),
    grant_types_supported: grantTypeNames,
    // draft-ietf-oauth-identity-assertion-authz-grant-04 5: accepting ID-JAGs, and issuing them.
    ...(supported.idJag && {
      authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
      identity_chaining_requested_token_types_supported: [idJagType],
    }),
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...publicAlgs, "HS256"],
    token_endpoint_auth_methods_supported: [...methods, "none"],
    token_endpoint_auth_signing_alg_values_supported: everyAssertionAlgorithm,
    revocation_endpoint_auth_methods_supported: [...methods, "none"],
    revocation_endpoint_auth_signing_alg_values_supported: everyAssertionAlgorithm,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: everyAssertionAlgorithm,
    code_challenge_methods_supported: ["S256"],
    dpop_signing_alg_values_supported: proofAlgorithms,
    ui_locales_supported: supported.languages,
    prompt_values_supported: ["none", "login", "consent", "select_account"],
    authorization_response_iss_parameter_supported: true,
    ...(ctx.settings.client_metadata_documents && { client_id_metadata_document_supported: true }),
    claims_parameter_supported: true,
    request_parameter_supported: false,
    // Absent it would mean true (OpenID Connect Discovery 3).
    request_uri_parameter_supported: false,
  };
}

/** The metadata of OAuth alone (RFC 8414 2), where there is no OpenID Connect. */
const oauthMetadata = (
  { issuer, address, layout: { paths } }: Context,
  { scopes, languages }: { readonly scopes: readonly string[]; readonly languages: readonly string[] },
  back: string,
): Readonly<Record<string, unknown>> => ({
  issuer,
  authorization_endpoint: baseOf(address) + paths.authorize,
  token_endpoint: back + paths.token,
  scopes_supported: scopes,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code"],
  token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
  code_challenge_methods_supported: ["S256"],
  ui_locales_supported: languages,
  authorization_response_iss_parameter_supported: true,
});

/** The address of the metadata: below the issuer, and without OpenID Connect where RFC 8414 3.1 has it. */
export function metadataAddress({ issuer, layout }: Pick<Context, "issuer" | "layout">): string {
  if (layout.github !== true) return baseOf(issuer) + discoveryPath;
  const { origin, pathname } = new URL(issuer);
  return origin + metadataPath + baseOf(pathname);
}

/** How Keycloak describes a realm at the issuer: its clients read the public key there. */
export async function realm(ctx: Context): Promise<Readonly<Record<string, unknown>>> {
  const { keys } = await ctx.keys.jwks();
  const key = keys.find(({ alg }) => alg === "RS256") ?? {};
  const spki = createPublicKey({ key: { ...key }, format: "jwk" }).export({ type: "spki", format: "der" });
  return {
    realm: ctx.layout.name,
    public_key: spki.toString("base64"),
    "token-service": `${ctx.issuer}/protocol/openid-connect`,
    "account-service": `${baseOf(ctx.address)}/account`,
    "tokens-not-before": 0,
  };
}
