import type { AuthorizationRequest } from "./request.ts";
import { isList, isOpen } from "../redaction/places.ts";
import { shownValue } from "../redaction/values.ts";
import { singleClaim } from "../scopes/claims.ts";
import type { RequestNote, RequestSummary } from "../sign-in/purpose.ts";

/** An authorization request in short, for the developer: folded away at the foot of the login and the consent page. */

/** The parameters whose values the request could only have because they are registered or known here. */
const proven = ["client_id", "redirect_uri", "response_mode", "scope", "claims", "prompt", "max_age"];

/** As everywhere (core/redaction): a value that may be a secret is not shown. */
function shown(name: string, value: string): string {
  if (proven.includes(name)) return value;
  return (isOpen(name) ? shownValue(value, () => false, isList(name)) : null) ?? "…";
}

export function summarize(request: AuthorizationRequest): RequestSummary {
  const { scopes, nonce } = request;
  const details: { name: string; value: string }[] = [];
  const say = (name: string, value: string | null): void => {
    if (value !== null && value !== "") details.push({ name, value: shown(name, value) });
  };
  say("client_id", request.clientId);
  say("redirect_uri", request.redirectUri);
  say("response_mode", request.mode === "query" ? null : request.mode);
  const claims: string[] = [];
  const names: string[] = [];
  for (const scope of scopes) {
    const claim = singleClaim(scope);
    if (claim === null) names.push(scope);
    else claims.push(claim);
  }
  say("scope", names.join(" "));
  say("claims", claims.join(" "));
  say("state", request.state);
  say("nonce", nonce);
  say("code_challenge", request.codeChallenge);
  say("prompt", request.prompt.join(" "));
  say("max_age", request.maxAge === null ? null : String(request.maxAge));
  say("login_hint", request.loginHint);
  say("id_token_hint", request.idTokenHint);
  say("ui_locales", request.uiLocales);
  say("resource", request.resources.join(" "));
  say("acr_values", request.acr.join(" "));
  say("dpop_jkt", request.dpopJkt);
  const notes: RequestNote[] = [];
  if (request.codeChallenge === null) notes.push({ kind: "no-pkce" });
  if (request.state === null) notes.push({ kind: "no-state" });
  if (nonce === null && scopes.includes("openid")) notes.push({ kind: "no-nonce" });
  if (request.ignoredScopes.length > 0)
    notes.push({
      kind: "unknown-scopes",
      scopes: [shownValue(request.ignoredScopes.join(" "), () => false, true) ?? "…"],
    });
  return { details, notes };
}
