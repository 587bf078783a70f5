/** Parameters of a request as they were sent. The value of a name that was sent twice is a list. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parameters of an authorization request. Any other has no effect (RFC 6749 3.1). */
export const authorizeParameters: readonly string[] = [
  "response_type response_mode client_id redirect_uri scope state nonce prompt max_age display ui_locales claims_locales",
  "claims acr_values login_hint id_token_hint code_challenge code_challenge_method dpop_jkt resource audience",
  "request request_uri",
].flatMap((line) => line.split(" "));

/** The single value of a parameter; one without a value counts as not sent (RFC 6749 3.1). */
export function single(raw: RawParameters, name: string): string | undefined {
  const value = Object.hasOwn(raw, name) ? raw[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
