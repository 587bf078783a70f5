import type { Client, ReadTx } from "../../../store/store.ts";
import {
  checkMaxAge,
  checkParameters,
  checkPrompt,
  checkResponseMode,
  checkResponseType,
  refuseQueryWithUser,
  refuseRequestObjects,
  refuseUnpushed,
  requireCodes,
  type Prompt,
} from "./checks.ts";
import { requireRegistered, settleClient, targetOf } from "./target.ts";
import type { RequestedClaims } from "../../records/scopes/claims.ts";
import { readClaimsParameter, type ClaimsRequest } from "../../records/scopes/claims-parameter.ts";
import { checkCodeLength, type SentRequest } from "./parameters.ts";
import { requiresPkce } from "../../records/clients/clients.ts";
import { clientOf } from "../../records/clients/documents.ts";
import type { Context } from "../../context.ts";
import { checkThumbprint } from "../tokens/dpop.ts";
import { acrValuesOf, checkEssentialAcr } from "../../records/step-up/acr.ts";
import { OAuthError } from "../../base/errors.ts";
import { addScopes } from "../../records/fix-commands.ts";
import { mayStillAsk } from "../../sign-in/grants/grants.ts";
import { checkChallenge } from "../tokens/pkce.ts";
import { RedirectedError, type ResponseTarget } from "../../sign-in/response.ts";
import { checkResources } from "../../records/scopes/resources.ts";
import { impliedScope, resolveScopes } from "../../records/scopes/scopes.ts";

/** An authorization request, parsed once into single values and checked. */
export interface AuthorizationRequest extends ResponseTarget {
  /** The path of the issuer that received it, below the address. */
  readonly issuerPath: string;
  readonly clientId: string;
  /** The client as its metadata document described it. Absent: the client is registered. */
  readonly document?: Client;
  /** Includes a scope for each single claim that needs consent. */
  readonly scopes: readonly string[];
  readonly claims: RequestedClaims;
  /** Undefined names: ignored, and reported in the log. */
  readonly ignoredScopes: readonly string[];
  readonly nonce: string | null;
  readonly codeChallenge: string | null;
  readonly prompt: readonly Prompt[];
  /** Seconds. */
  readonly maxAge: number | null;
  readonly loginHint: string | null;
  /** Google's `hd`. */
  readonly hostedDomain: string | null;
  /** The vendor gives a refresh token only for `access_type=offline`, which this has. */
  readonly offline: boolean;
  readonly idTokenHint: string | null;
  /** The only user who may sign in: `sub` of the `claims` parameter. */
  readonly requiredUserId: string | null;
  /** Languages for the pages, best first. */
  readonly uiLocales: string | null;
  /** RFC 8707. */
  readonly resources: readonly string[];
  /** The values of the claim `acr`, or `acr_values`, or those that the client has by default, best first. */
  readonly acr: readonly string[];
  /** The claim `acr` is essential (OpenID Connect Core 5.5.1.1). */
  readonly acrIsEssential: boolean;
  /** RFC 9449 10. */
  readonly dpopJkt: string | null;
}

/**
 * Checks a request in the only safe order: client and redirect URI first (a refusal is thrown as {@link OAuthError} and shown to the
 * person), then the rest (thrown as {@link RedirectedError} and sent to the client).
 * @throws {OAuthError | RedirectedError}
 */
export function checkAuthorizationRequest(
  tx: ReadTx,
  ctx: Context,
  sent: SentRequest,
  { pushed, document }: { readonly pushed: boolean; readonly document: Client | undefined },
): AuthorizationRequest {
  const { values } = sent;
  const { client, ...settled } = settleClient(tx, ctx, sent, document);
  const target = targetOf(ctx, sent, settled);
  try {
    checkParameters(sent);
    refuseRequestObjects(sent);
    if (!pushed) refuseUnpushed(client);
    checkResponseType(ctx, sent, client);
    checkResponseMode(ctx, sent);
    const { scopes, ignored } = resolveScopes(tx, ctx, client, impliedScope(ctx, client, values.scope));
    const claims = readClaimsParameter(tx, ctx, client, values.claims, scopes);
    if (claims.acr?.essential === true) checkEssentialAcr(ctx, claims.acr.values);
    refuseQueryWithUser(ctx, scopes, target);
    const nonce = values.nonce ?? null;
    const resources = checkResources(ctx, sent.resources);
    checkCodeLength([nonce ?? "", ...claims.claims.userinfo, ...claims.claims.id_token, ...resources]);
    return {
      issuerPath: ctx.layout.issuer,
      clientId: client.client_id,
      ...(document !== undefined && { document }),
      scopes: [...scopes, ...claims.scopes],
      claims: withSignInClaims(ctx, client, claims.claims, values),
      ignoredScopes: ignored,
      nonce,
      ...askedAcr(client, claims.acr, values.acr_values),
      codeChallenge: checkChallenge(values.code_challenge, values.code_challenge_method, requiresPkce(client)),
      prompt: checkPrompt(values.prompt),
      maxAge: checkMaxAge(values.max_age) ?? client.default_max_age ?? null,
      loginHint: values.login_hint ?? null,
      hostedDomain: ctx.layout.google === true ? (values.hd ?? null) : null,
      offline: values.access_type === "offline",
      idTokenHint: values.id_token_hint ?? null,
      requiredUserId: claims.sub,
      uiLocales: values.ui_locales ?? null,
      resources,
      dpopJkt: checkThumbprint(values.dpop_jkt),
      ...target,
    };
  } catch (error) {
    throw error instanceof OAuthError ? new RedirectedError(error, target) : error;
  }
}

/** With some vendors an ID token says how and when the user signed in only if the request asked for that. */
function withSignInClaims(
  { layout: { claimsOnRequest = [] } }: Pick<Context, "layout">,
  client: Client,
  claims: RequestedClaims,
  values: SentRequest["values"],
): RequestedClaims {
  const asks = {
    acr: values.acr_values !== undefined || client.default_acr_values !== undefined,
    amr: false,
    auth_time:
      values.max_age !== undefined || client.default_max_age !== undefined || client["require_auth_time"] === true,
  };
  const asked = claimsOnRequest.filter((name) => asks[name]);
  return asked.length === 0 ? claims : { ...claims, id_token: [...new Set([...claims.id_token, ...asked])] };
}

/** The claim is more exact than the parameter, so it wins where both name values. */
const askedAcr = (
  client: Client,
  claim: ClaimsRequest["acr"],
  acrValues: string | undefined,
): Pick<AuthorizationRequest, "acr" | "acrIsEssential"> =>
  claim !== null && claim.values.length > 0
    ? { acr: claim.values, acrIsEssential: claim.essential }
    : { acr: acrValuesOf(claim === null ? client : {}, acrValues), acrIsEssential: false };

/**
 * Checks a request against its client again: the client may have changed while a page of the request was open.
 * @throws {OAuthError | RedirectedError} as {@link checkAuthorizationRequest}
 */
export function checkStillAllowed(
  tx: ReadTx,
  ctx: Pick<Context, "settings" | "address" | "layout">,
  request: AuthorizationRequest,
): Client {
  const { redirectUri, scopes, codeChallenge } = request;
  const client = clientOf(tx, request, redirectUri);
  requireRegistered(ctx, client, redirectUri);
  try {
    requireCodes(client);
    if (codeChallenge === null) checkChallenge(undefined, undefined, requiresPkce(client));
    const gone = scopes.filter((scope) => !mayStillAsk(tx, ctx, client, scope));
    if (gone.length > 0) {
      const now = `its registered scope is "${client.scope ?? ""}" by now`;
      throw new OAuthError(
        "invalid_scope",
        `client "${client.client_id}" may not ask for "${gone.join(" ")}": ${now}`,
        {
          rule: "RFC 6749 3.3",
          parameter: "scope",
          fix: addScopes(client, gone),
        },
      );
    }
    return client;
  } catch (error) {
    throw error instanceof OAuthError ? new RedirectedError(error, request) : error;
  }
}
