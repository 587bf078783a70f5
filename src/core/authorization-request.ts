import type { Client, ReadTx } from "../store/store.ts";
import type { RequestedClaims } from "./claims.ts";
import { readClaimsParameter } from "./claims-parameter.ts";
import { mayStillAsk } from "./granted-scopes.ts";
import { findClient, grantTypesOf, isPublic, mayUse, requiresPkce } from "./clients.ts";
import type { Context } from "./context.ts";
import { checkThumbprint } from "./dpop.ts";
import { OAuthError } from "./errors.ts";
import { addRedirectUri, listClients, showClient } from "./fix-commands.ts";
import { checkChallenge } from "./pkce.ts";
import { checkCodeLength, checkLength } from "./request-length.ts";
import { matchRedirectUri } from "./redirect-uri.ts";
import { RedirectedError, responseModes, type ResponseMode, type ResponseTarget } from "./redirect-response.ts";
import { checkResources } from "./resources.ts";
import { responseParametersOf } from "./request-object.ts";
import { resolveScopes } from "./scopes.ts";

/** An authorization request, parsed once into single values and checked (CONTRACT 2.1). */
export interface AuthorizationRequest extends ResponseTarget {
  readonly clientId: string;
  /** Includes a scope for each single claim that needs consent. */
  readonly scopes: readonly string[];
  readonly claims: RequestedClaims;
  /** Names nobody defined: ignored, and said in the log. */
  readonly ignoredScopes: readonly string[];
  readonly nonce: string | null;
  readonly codeChallenge: string | null;
  readonly prompt: readonly Prompt[];
  /** Seconds. */
  readonly maxAge: number | null;
  readonly loginHint: string | null;
  readonly idTokenHint: string | null;
  /** The one user that will do: `sub` of the `claims` parameter. */
  readonly requiredUserId: string | null;
  /** Languages for the pages, best first. */
  readonly uiLocales: string | null;
  /** RFC 8707. */
  readonly resources: readonly string[];
  /** Voluntary (OpenID Connect Core 3.1.2.1): shown to the developer. */
  readonly acrValues: string | null;
  /** RFC 9449 10. */
  readonly dpopJkt: string | null;
}

const prompts = ["none", "login", "consent", "select_account"] as const;
type Prompt = (typeof prompts)[number];

/** Parameters as they came: a name that was sent twice holds a list. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The single value of a parameter; one without a value counts as not sent (RFC 6749 3.1). */
function single(raw: RawParameters, name: string): string | undefined {
  const value = Object.hasOwn(raw, name) ? raw[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Checks a request in the one order that is safe: client and redirect URI first (a refusal is thrown as {@link OAuthError}
 * and shown to the person), then all the rest (thrown as {@link RedirectedError} and sent to the client).
 * @throws {OAuthError | RedirectedError}
 */
export function checkAuthorizationRequest(
  tx: ReadTx,
  ctx: Context,
  raw: RawParameters,
  { pushed }: { readonly pushed: boolean },
): AuthorizationRequest {
  const { client, redirectUri } = settleClient(tx, raw);
  const target = targetOf(raw, redirectUri);
  try {
    checkParameters(raw);
    refuseRequestObjects(raw);
    if (!pushed) refuseUnpushed(client);
    checkResponseType(raw, client);
    checkResponseMode(raw);
    const { scopes, ignored } = resolveScopes(tx, client, single(raw, "scope"));
    const claims = readClaimsParameter(tx, client, single(raw, "claims"), scopes);
    const nonce = single(raw, "nonce") ?? null;
    const resources = checkResources([raw["resource"] ?? [], raw["audience"] ?? []].flat());
    checkCodeLength([nonce ?? "", ...claims.claims.userinfo, ...claims.claims.id_token, ...resources]);
    return {
      redirectUri,
      state: target.state,
      mode: target.mode,
      clientId: client.client_id,
      scopes: [...scopes, ...claims.scopes],
      claims: claims.claims,
      ignoredScopes: ignored,
      nonce,
      codeChallenge: checkChallenge(
        single(raw, "code_challenge"),
        single(raw, "code_challenge_method"),
        requiresPkce(client),
      ),
      prompt: checkPrompt(single(raw, "prompt")),
      maxAge: checkMaxAge(single(raw, "max_age")) ?? client.default_max_age ?? null,
      loginHint: single(raw, "login_hint") ?? null,
      idTokenHint: single(raw, "id_token_hint") ?? null,
      requiredUserId: claims.sub,
      uiLocales: single(raw, "ui_locales") ?? null,
      resources,
      acrValues: single(raw, "acr_values") ?? null,
      dpopJkt: checkThumbprint(single(raw, "dpop_jkt")),
    };
  } catch (error) {
    throw error instanceof OAuthError ? new RedirectedError(error, target) : error;
  }
}

/**
 * Holds a request that passed before against its client as it is now: a page of it may stand open for an hour.
 * @throws {OAuthError | RedirectedError} as {@link checkAuthorizationRequest}
 */
export function checkStillAllowed(tx: ReadTx, request: AuthorizationRequest): Client {
  const { redirectUri, scopes, codeChallenge } = request;
  const client = findClient(tx, request.clientId, redirectUri);
  requireRegistered(client, redirectUri);
  try {
    requireCodes(client);
    if (codeChallenge === null) checkChallenge(undefined, undefined, requiresPkce(client));
    const gone = scopes.filter((scope) => !mayStillAsk(tx, client, scope));
    if (gone.length > 0) {
      const now = `its registered scope is "${client.scope ?? ""}" by now`;
      throw new OAuthError("invalid_scope", `client "${client.client_id}" may not ask for "${gone.join(" ")}": ${now}`);
    }
    return client;
  } catch (error) {
    throw error instanceof OAuthError ? new RedirectedError(error, request) : error;
  }
}

/**
 * Refuses a request whose `request_uri` stands for none: client and redirect URI come first here too (CONTRACT 2.1).
 * @throws {OAuthError} of those; else `error`, as it is where no redirect URI stands beside it (RFC 9126 4)
 * @throws {RedirectedError} `error`, where one does
 */
export function refuseRequestUri(tx: ReadTx, raw: RawParameters, error: OAuthError): never {
  const client = namedClient(tx, raw);
  const redirectUri = single(raw, "redirect_uri");
  if (redirectUri === undefined) throw error;
  requireRegistered(client, redirectUri);
  throw new RedirectedError(error, targetOf(raw, redirectUri));
}

function targetOf(raw: RawParameters, redirectUri: string): ResponseTarget {
  const object = responseParametersOf(single(raw, "request"));
  const modeOfObject = single(raw, "response_mode") === undefined ? responseModeOf(object.mode) : undefined;
  return {
    redirectUri,
    state: single(raw, "state") ?? object.state ?? null,
    mode: askedMode(raw) ?? modeOfObject ?? "query",
  };
}

function namedClient(tx: ReadTx, raw: RawParameters): Client {
  for (const name of ["client_id", "redirect_uri"]) {
    if (Array.isArray(raw[name])) {
      throw new OAuthError(
        "invalid_request",
        `${name} was sent ${raw[name].length} times; send it once (RFC 6749 3.1)`,
        { fix: listClients },
      );
    }
  }
  const clientId = single(raw, "client_id");
  if (clientId === undefined) {
    throw new OAuthError("invalid_request", "client_id is missing (RFC 6749 4.1.1)", { fix: listClients });
  }
  return findClient(tx, clientId, single(raw, "redirect_uri"));
}

/** Nothing is ever sent to an address that is not proven to be the client's (RFC 6749 4.1.2.1, RFC 9700 2.1). */
function settleClient(tx: ReadTx, raw: RawParameters): { client: Client; redirectUri: string } {
  const client = namedClient(tx, raw);
  const redirectUri = single(raw, "redirect_uri");
  if (redirectUri === undefined) {
    throw new OAuthError(
      "invalid_request",
      `redirect_uri is missing; client "${client.client_id}" has registered: ${client.redirect_uris.join("  ") || "none"} (RFC 6749 3.1.2.3)`,
      { fix: showClient(client) },
    );
  }
  requireRegistered(client, redirectUri);
  return { client, redirectUri };
}

function requireRegistered(client: Client, redirectUri: string): void {
  if (!client.redirect_uris.some((uri) => matchRedirectUri(uri, redirectUri, isPublic(client)))) {
    const registered = client.redirect_uris.join("  ") || "none";
    throw new OAuthError(
      "invalid_request",
      `redirect_uri "${redirectUri}" is not registered for client "${client.client_id}"; registered: ${registered}`,
      {
        fix: addRedirectUri(client, redirectUri),
        mismatch: {
          parameter: "redirect_uri",
          sent: redirectUri,
          registered: client.redirect_uris,
          rule: "RFC 6749 3.1.2.3, RFC 9700 2.1",
        },
      },
    );
  }
}

/** Each comes once, and all are kept until somebody answers. */
function checkParameters(raw: RawParameters): void {
  const texts: (string | undefined)[] = [];
  for (const [name, value] of Object.entries(raw)) {
    if (typeof value !== "object") texts.push(name, value);
    else if (name === "resource" || name === "audience") texts.push(name, ...value);
    else throw new OAuthError("invalid_request", `${name} was sent ${value.length} times; send it once (RFC 6749 3.1)`);
  }
  checkLength(texts);
}

/** OpenID Connect Core 6: nothing outside is fetched for a request, and no request object is read. */
function refuseRequestObjects(raw: RawParameters): void {
  if (single(raw, "request") !== undefined) {
    throw new OAuthError("request_not_supported", "request objects are not supported; send plain parameters");
  }
  if (single(raw, "request_uri") !== undefined) {
    throw new OAuthError(
      "request_uri_not_supported",
      "request_uri is taken from the pushed authorization request endpoint only (RFC 9126); send plain parameters or push them",
    );
  }
}

/** RFC 9126 6. */
function refuseUnpushed(client: Client): void {
  if (client.require_pushed_authorization_requests === true) {
    throw new OAuthError(
      "invalid_request",
      `client "${client.client_id}" has to push its requests: POST them to the pushed authorization request endpoint first (RFC 9126)`,
    );
  }
}

function checkResponseType(raw: RawParameters, client: Client): void {
  const responseType = single(raw, "response_type");
  if (responseType === undefined) throw new OAuthError("invalid_request", 'response_type is missing; send "code"');
  if (responseType !== "code") {
    throw new OAuthError("unsupported_response_type", `response_type "${responseType}" is not supported; send "code"`);
  }
  requireCodes(client);
}

function requireCodes(client: Client): void {
  if (!mayUse(client, "authorization_code")) {
    throw new OAuthError(
      "unauthorized_client",
      `client "${client.client_id}" may not use authorization_code: its grant_types are "${grantTypesOf(client).join(" ")}"`,
    );
  }
}

function checkResponseMode(raw: RawParameters): void {
  const mode = single(raw, "response_mode");
  if (mode !== undefined && askedMode(raw) === undefined) {
    throw new OAuthError(
      "invalid_request",
      `response_mode "${mode}" is not supported; use ${responseModes.join(" or ")}`,
    );
  }
}

/** The mode asked for, where there is such a one: a refusal travels by it too. */
const askedMode = (raw: RawParameters): ResponseMode | undefined => responseModeOf(single(raw, "response_mode"));

const responseModeOf = (name: string | undefined): ResponseMode | undefined =>
  responseModes.find((mode) => mode === name);

/** OpenID Connect Core 3.1.2.1. */
function checkPrompt(value: string | undefined): readonly Prompt[] {
  const names = [...new Set((value ?? "").split(" ").filter((name) => name !== ""))];
  const unknown = names.filter((name) => !(prompts as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new OAuthError(
      "invalid_request",
      `prompt "${unknown.join(" ")}" is not supported; use ${prompts.join(", ")}`,
    );
  }
  if (names.includes("none") && names.length > 1) {
    throw new OAuthError("invalid_request", `prompt "none" cannot be joined with another: "${names.join(" ")}"`);
  }
  return names as Prompt[];
}

function checkMaxAge(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (!/^\d{1,9}$/.test(value)) {
    throw new OAuthError("invalid_request", `max_age "${value}" is not a whole number of seconds below 1,000,000,000`);
  }
  return Number(value);
}
