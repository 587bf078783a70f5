import { grantTypes, tokenParameters } from "../tokens/grant-types/list.ts";

/** The fields of a client's metadata (RFC 7591, 7592). */
const ofRegistration = [
  "client_name client_uri logo_uri policy_uri tos_uri jwks_uri redirect_uris post_logout_redirect_uris grant_types",
  "response_types token_endpoint_auth_method token_endpoint_auth_signing_alg application_type contacts software_id",
  "software_version id_token_signed_response_alg registration_client_uri client_id_issued_at client_secret_expires_at",
  "backchannel_logout_uri backchannel_logout_session_required initiate_login_uri default_max_age require_auth_time",
].flatMap((line) => line.split(" "));

/** The parameters that are not meant to hold a secret. Any other counts as secret, so one that nobody thought of is never shown. */
const open = new Set(
  [
    // Requests (RFC 6749, 7009, 7662, 8628, 8693, 8707, 9449; OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2).
    "response_type response_mode client_id redirect_uri scope nonce prompt max_age display ui_locales claims_locales",
    "access_type hd",
    "acr_values claims login_hint code_challenge_method dpop_jkt resource grant_type token_type_hint",
    "client_assertion_type post_logout_redirect_uri",
    // The names that vendors have for post_logout_redirect_uri.
    "returnTo logout_uri",
    // Our own pages.
    "username decision pick cancel switch q page lang theme everywhere",
    // Responses.
    "error error_description error_uri iss token_type issued_token_type expires_in interval verification_uri message",
    ...ofRegistration,
    ...tokenParameters.flatMap(([name, kind]) => (kind === "secret" ? [] : [name])),
  ].flatMap((line) => line.split(" ")),
);

export const openNames: ReadonlySet<string> = open;

/** Whether a parameter is not meant to hold a secret. */
export const isOpen = (name: string): boolean => open.has(name);

const lists = "scope prompt response_type ui_locales claims_locales acr_values resource audience".split(" ");
/** Whether the value of a parameter is a list with spaces. */
export const isList = (name: string): boolean => lists.includes(name);

/** Whether a parameter is not meant to hold a secret, in an address that somebody sent: any application may have made its name. */
export const isOpenInAddress = (name: string): boolean =>
  isOpen(name) || !/code|token|secret|passw|assertion|verifier|state|hint|csrf|key|session/i.test(name);

/** Whether a text may be shown as the name of a parameter. Where a form is expected, a program may send a secret alone. */
export const isParameterName = (name: string): boolean =>
  open.has(name) || /^[a-z]{1,15}(?:_[a-z]{1,15}){0,4}$/.test(name) || /^[\w.:-]{1,15}$/.test(name);

/**
 * Whether the value of a parameter is registered, if the endpoint accepted the request: it is compared with what is registered, or it was
 * just registered.
 */
export function isProven(endpoint: string, name: string, grantType: unknown): boolean {
  if (endpoint === "register") return name === "scope" || ofRegistration.includes(name);
  if (endpoint === "authorize" || endpoint === "par") return name === "redirect_uri";
  if (endpoint !== "token") return false;
  return grantTypes.find((one) => one.name === grantType)?.parameters[name] === "registered";
}
