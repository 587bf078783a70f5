import type { AuthorizationRequest } from "./authorization-request.ts";
import { singleClaim } from "./claims.ts";

/** An authorization request in short, for the developer: folded away at the foot of the login and the consent page. */

/** What is worth knowing of a request that is no reason to refuse it. */
export type RequestNote =
  | { readonly kind: "no-pkce" | "no-state" | "no-nonce" }
  /** Names that nobody defined: ignored (CONTRACT 2.1). */
  | { readonly kind: "unknown-scopes"; readonly scopes: readonly string[] };

export interface RequestSummary {
  /** The parameters under their names, in the order of the standard. */
  readonly details: readonly { readonly name: string; readonly value: string }[];
  readonly notes: readonly RequestNote[];
}

/** The beginning of a token: enough to tell it from another, too little to use it. */
const shortened = (token: string): string => `${token.slice(0, 16)}…`;

export function summarise(request: AuthorizationRequest): RequestSummary {
  const parameters: readonly (readonly [name: string, value: string | null])[] = [
    ["client_id", request.clientId],
    ["redirect_uri", request.redirectUri],
    ["response_mode", request.mode === "query" ? null : request.mode],
    ["scope", request.scopes.filter((name) => singleClaim(name) === null).join(" ")],
    ["claims", request.scopes.flatMap((name) => singleClaim(name) ?? []).join(" ")],
    ["state", request.state],
    ["nonce", request.nonce],
    ["code_challenge", request.codeChallenge],
    ["prompt", request.prompt.join(" ")],
    ["max_age", request.maxAge === null ? null : String(request.maxAge)],
    ["login_hint", request.loginHint],
    ["id_token_hint", request.idTokenHint === null ? null : shortened(request.idTokenHint)],
    ["ui_locales", request.uiLocales],
    ["resource", request.resources.join(" ")],
    ["acr_values", request.acr],
    ["dpop_jkt", request.dpopJkt],
  ];
  const notes: RequestNote[] = [];
  if (request.codeChallenge === null) notes.push({ kind: "no-pkce" });
  if (request.state === null) notes.push({ kind: "no-state" });
  if (request.nonce === null && request.scopes.includes("openid")) notes.push({ kind: "no-nonce" });
  if (request.ignoredScopes.length > 0) notes.push({ kind: "unknown-scopes", scopes: request.ignoredScopes });
  return {
    details: parameters.flatMap(([name, value]) => (value === null || value === "" ? [] : [{ name, value }])),
    notes,
  };
}
