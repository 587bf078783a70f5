import type { Client, Grant, Tx, User } from "../../../store/store.ts";
import { checkStillAllowed, type AuthorizationRequest } from "./request.ts";
import { patternHost } from "../../records/clients/redirect-patterns.ts";
import { clientOf } from "../../records/clients/documents.ts";
import { drawCode } from "../tokens/codes.ts";
import type { Context } from "../../context.ts";
import { OAuthError, type Guidance } from "../../base/errors.ts";
import { activeGrant, grantFor, recordGrant } from "../../sign-in/grants/grants.ts";
import type { Ending, Needs, SignInOutcome, Purpose, RequestNote, RequestSummary } from "../../sign-in/purpose.ts";
import { answerClient, RedirectedError } from "../../sign-in/response.ts";
import { isList, isOpen } from "../redaction/places.ts";
import { shownHint, shownValue } from "../redaction/values.ts";
import { singleClaim } from "../../records/scopes/claims.ts";
import { userForm } from "../../records/scopes/vendor-users.ts";

/** Kept while the person signs in. */
interface AuthorizationRecord {
  readonly kind: "authorization";
  readonly request: AuthorizationRequest;
  /** The only user who may sign in, by a hint of the request; null: any. */
  readonly hintedUserId: string | null;
}

declare module "../../sign-in/interactions.ts" {
  interface SignInRecords {
    readonly authorization: AuthorizationRecord;
  }
}

/** An authorization request as the purpose of a sign-in: it ends with a code for the client, or with the reason why not. */
export function authorizationPurpose({ request, hintedUserId }: AuthorizationRecord): Purpose {
  const { clientId, document, redirectUri, uiLocales } = request;
  return {
    needs: needsOf(request, hintedUserId),
    shown: {
      app: { clientId, document, redirectUri, uiLocales },
      ownPage: null,
      hint: shownHint(request.loginHint),
      uiLocales,
      summary: () => summarize(request),
    },
    check: (tx, ctx) => void checkStillAllowed(tx, ctx, request),
    refuse: (code, description, guidance) => refuse(request, code, description, guidance),
    finish: (tx, ctx, outcome) => finish(tx, ctx, request, outcome),
  };
}

function needsOf(request: AuthorizationRequest, hintedUserId: string | null): Needs {
  const { prompt, maxAge, loginHint, hostedDomain, clientId, document, redirectUri, scopes } = request;
  const login = prompt.includes("select_account") ? "choice" : prompt.includes("login") ? "again" : "once";
  return {
    login,
    maxAge,
    loginHint,
    hostedDomain,
    userId: hintedUserId,
    consent: { clientId, document, redirectUri, scopes, isForced: prompt.includes("consent") },
    acr: request.acr,
    acrIsEssential: request.acrIsEssential,
    silent: prompt.includes("none"),
  };
}

function finish(tx: Tx, ctx: Context, request: AuthorizationRequest, outcome: SignInOutcome): Ending {
  if (outcome === "canceled") return refused(request, "The user canceled the sign-in");
  if (outcome === "denied") return refused(request, "The user denied the request");
  const { authentication } = outcome;
  const { user, session } = outcome.session;
  const client = clientOf(tx, request);
  const isFirst = activeGrant(tx, user.id, client.client_id) === undefined;
  const grant = settleGrant(tx, ctx, request, { user, client, allowed: outcome.allowed });
  const isOffline = request.offline && (isFirst || request.prompt.includes("consent"));
  const withoutRefresh = ctx.layout.google === true && !isOffline;
  const code = drawCode(tx, ctx, { client, user, grant, session, authentication }, { ...request, withoutRefresh });
  const shown = isFirst && ctx.layout.apple === true ? userForm(ctx, user, grant.scopes) : {};
  const answer = answerClient(request, { code, ...shown });
  return { kind: "return", answer, clientId: client.client_id, username: user.username };
}

/** The grant that the code is for: what the user allowed, else the existing one, else one by policy (`skip_consent`, `consent: skip`). */
function settleGrant(
  tx: Tx,
  ctx: Context,
  { scopes, redirectUri }: AuthorizationRequest,
  to: { readonly user: User; readonly client: Client; readonly allowed: readonly string[] | null },
): Grant {
  const { user, client, allowed } = to;
  if (allowed !== null) {
    const host = patternHost(ctx, client, redirectUri);
    return recordGrant(tx, ctx, { user, client, asked: scopes, allowed, by: "user", host });
  }
  const grant = grantFor(tx, ctx, client, user.id, scopes);
  return grant ?? recordGrant(tx, ctx, { user, client, asked: scopes, allowed: scopes, by: "policy" });
}

const refused = (request: AuthorizationRequest, description: string): Ending => ({
  kind: "refused",
  error: refuse(request, "access_denied", description, {
    rule: "RFC 6749 4.1.2.1",
    fix: "send the person back to the page that they came from, where they can sign in again",
  }),
});

/** A refusal that is sent to the client. */
export const refuse = (
  request: AuthorizationRequest,
  code: Parameters<Purpose["refuse"]>[0] | "access_denied",
  description: string,
  guidance: Guidance,
): RedirectedError => new RedirectedError(new OAuthError(code, description, guidance), request);

/** An authorization request in short, for the developer: folded away at the foot of the login and the consent page. */

/** The parameters whose values the request could only have because they are registered or known here. */
const proven = ["client_id", "redirect_uri", "response_mode", "scope", "claims", "prompt", "max_age"];

/** A parameter as the page shows it. A value that may be a secret is not shown, as everywhere (core/protocol/redaction). */
function shown(name: string, value: string): string {
  if (proven.includes(name)) return value;
  return (isOpen(name) ? shownValue(value, () => false, isList(name)) : null) ?? "…";
}

function summarize(request: AuthorizationRequest): RequestSummary {
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
