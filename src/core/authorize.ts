import { cut, redacted } from "../repeated.ts";
import { StorageError, type Client, type Grant, type Interaction, type ReadTx, type Tx } from "../store/store.ts";
import {
  checkAuthorizationRequest,
  checkStillAllowed,
  type AuthorizationRequest,
  type RawParameters,
} from "./authorization-request.ts";
import { findClient } from "./clients.ts";
import { tellAll, type Telling } from "./backchannel-logout.ts";
import { drawCode, type CodeOwner } from "./codes.ts";
import type { Context } from "./context.ts";
import { OAuthError } from "./errors.ts";
import { activeGrant, recordGrant } from "./grants.ts";
import { grantedNow } from "./granted-scopes.ts";
import { beginInteraction, endInteraction, purposeOf, type Browser, type Purpose } from "./interactions.ts";
import { answerClient, RedirectedError, type AuthorizationResponse } from "./redirect-response.ts";
import { putBackPushed, takePushed } from "./pushed-request.ts";
import { liveSession, startSession, type LiveSession } from "./sessions.ts";
import { verifyIdTokenHint } from "./accepted-tokens.ts";
import { seconds } from "./time.ts";

/**
 * The way of a sign-in:
 *
 *   authorize ──▶ nextStep ──▶ login page ──▶ login  (records who signed in) ──┐
 *                   ▲    └───▶ consent page ▶ consent (records what was decided)│
 *                   └───────────────────────────────────────────────────────────┘
 *                        └───▶ back to the client with a code, or with the reason why not
 *
 * `nextStep` alone knows the order; login and consent know nothing of each other.
 */

/** Where the browser goes next. */
type Step =
  | { readonly kind: "page"; readonly page: "login" | "consent"; readonly uid: string }
  | {
      readonly kind: "return";
      readonly answer: AuthorizationResponse;
      readonly clientId: string;
      readonly username: string;
    }
  | { readonly kind: "own-page"; readonly path: string };

/** A step, and the new value of the session cookie where the user has just signed in. */
export interface StepResult {
  readonly step: Step;
  readonly sessionCookie: string | null;
  /** The session that the new one took the place of, whose clients are told once that is on disk. */
  readonly telling: Telling;
}

/**
 * Begins an authorization request (RFC 6749 4.1.1, OpenID Connect Core 3.1.2).
 * @throws {OAuthError} to be shown to the person; {RedirectedError} to be sent to the client
 */
export async function beginAuthorization(ctx: Context, raw: RawParameters, browser: Browser): Promise<StepResult> {
  const { parameters, pushed } = await takePushed(ctx, raw);
  const request = await ctx.store.read((tx) =>
    checkAuthorizationRequest(tx, ctx, parameters, { pushed: pushed !== null }),
  );
  if (request.ignoredScopes.length > 0) {
    ctx.log(`scope "${cut(redacted(request.ignoredScopes.join(" ")), 500)}" is not defined: ignored`);
  }
  const hintedUserId = await hintedUser(ctx, request);
  const purpose: Purpose = { kind: "authorization", request, hintedUserId };
  let result: StepResult;
  try {
    result = await ctx.store.transaction((tx) => {
      const session = liveSession(tx, browser.session);
      return proceed(tx, ctx, { purpose, login: null, interaction: null }, session, browser);
    });
  } catch (error) {
    if (error instanceof StorageError && pushed !== null) await putBackPushed(ctx, pushed);
    throw error;
  }
  await tellAll(ctx, result.telling);
  return result;
}

/** The one user that will do, by `id_token_hint` or the `claims` parameter; null: whoever signs in. */
async function hintedUser(ctx: Context, request: AuthorizationRequest): Promise<string | null> {
  const { idTokenHint: hint, requiredUserId } = request;
  if (hint === null) return requiredUserId;
  try {
    const { sub } = await verifyIdTokenHint(ctx, hint);
    if (requiredUserId === null || requiredUserId === sub) return sub;
  } catch (error) {
    throw error instanceof OAuthError ? new RedirectedError(error, request) : error;
  }
  throw refuse(
    request,
    "login_required",
    "id_token_hint and the claims parameter name two users (OpenID Connect Core 5.5.1)",
  );
}

/** Begins a sign-in for one of the server's own pages. */
export async function beginSignIn(ctx: Context, path: string, browser: Browser): Promise<StepResult> {
  const result = await ctx.store.transaction((tx) =>
    proceed(tx, ctx, { purpose: { kind: "page", path }, login: null, interaction: null }, null, browser),
  );
  await tellAll(ctx, result.telling);
  return result;
}

/** What is known of a sign-in under way. */
export interface Progress {
  readonly purpose: Purpose;
  readonly login: Interaction["login"];
  /** Null: nothing was kept yet, because no page was needed so far. */
  readonly interaction: Interaction | null;
}

export const progressOf = (interaction: Interaction): Progress => ({
  purpose: purposeOf(interaction),
  login: interaction.login,
  interaction,
});

/** Takes the next step, and ends the interaction where that step leaves this server. */
export function proceed(
  tx: Tx,
  ctx: Context,
  progress: Progress,
  session: LiveSession | null,
  browser: Browser,
): StepResult {
  const { purpose } = progress;
  const next = nextStep(tx, ctx, progress, session);
  if (next === "login") {
    const automatic = automaticLogin(tx, ctx, progress);
    if (automatic !== null) {
      const { cookie, session: started, telling } = startSession(tx, ctx, automatic, ["user"], browser.session);
      const login = { userId: automatic.id, at: seconds(ctx) };
      const { step } = proceed(tx, ctx, { ...progress, login }, { session: started, user: automatic }, browser);
      return { step, sessionCookie: cookie, telling };
    }
  }
  if (next === "login" || next === "consent") {
    const kept = progress.interaction ?? beginInteraction(tx, ctx, purpose, browser);
    if (kept.login !== progress.login) tx.put("interactions", { ...kept, login: progress.login });
    return only({ kind: "page", page: next, uid: kept.uid });
  }
  if (progress.interaction !== null) endInteraction(tx, ctx, progress.interaction);
  if (purpose.kind === "page") return only({ kind: "own-page", path: purpose.path });
  const { request } = purpose;
  const client = findClient(tx, request.clientId);
  const grant = next.grant ?? policyGrant(tx, ctx, next.session, client, request);
  return returnWithCode(tx, ctx, request, { client, grant, ...next.session });
}

/** A step of a user who did not just sign in. */
const only = (step: Step): StepResult => ({ step, sessionCookie: null, telling: [] });

/** Back to the client, which gets a code. */
export function returnWithCode(tx: Tx, ctx: Context, request: AuthorizationRequest, to: CodeOwner): StepResult {
  const answer = answerClient(ctx.issuer, request, { code: drawCode(tx, ctx, to, request) });
  return only({ kind: "return", answer, clientId: to.client.client_id, username: to.user.username });
}

/** `login: auto:alice`: the user who signs in without a page, if the account is in order. */
function automaticLogin(tx: ReadTx, ctx: Context, progress: Progress) {
  if (!ctx.settings.login.startsWith("auto:") || progress.login !== null) return null;
  const user = tx.find("users", "username", ctx.settings.login.slice("auto:".length));
  return user?.status === "active" ? user : null;
}

/** Consent without a page: `skip_consent` of the client, or `consent: skip`. */
function policyGrant(tx: Tx, ctx: Context, session: LiveSession, client: Client, request: AuthorizationRequest): Grant {
  return recordGrant(tx, ctx, {
    user: session.user,
    client,
    asked: request.scopes,
    allowed: request.scopes,
    by: "policy",
  });
}

/** Everything is there; `grant` null: by policy, consent is not asked for. */
interface Ready {
  readonly session: LiveSession;
  readonly grant: Grant | null;
}

/**
 * The only place that knows the order: sign in, then consent, then back to the client.
 * @throws {RedirectedError} where `prompt=none` forbids the page that would be needed (OpenID Connect Core 3.1.2.6), or the client may
 *   not ask for this any more; {OAuthError} where it may not be sent there
 */
export function nextStep(
  tx: ReadTx,
  ctx: Context,
  progress: Progress,
  session: LiveSession | null,
): "login" | "consent" | Ready {
  const { purpose, login } = progress;
  // The session may be another user's by now: signed in in another tab.
  const justSignedIn = session !== null && login !== null && login.userId === session.user.id;
  if (purpose.kind === "page") return session === null ? "login" : { session, grant: null };
  const { request, hintedUserId } = purpose;
  const client = checkStillAllowed(tx, request);
  const silent = request.prompt.includes("none");
  if (session === null || (!justSignedIn && mustSignInAgain(ctx, request, session, hintedUserId))) {
    if (silent) throw refuse(request, "login_required", "the user has to sign in, and prompt=none forbids asking");
    return "login";
  }
  if (hintedUserId !== null && hintedUserId !== session.user.id) {
    throw refuse(request, "login_required", "another user signed in than the one that was asked for");
  }
  const grant = activeGrant(tx, session.user.id, client.client_id);
  const allows = (given: Grant): boolean =>
    grantedNow(tx, client, given, request.scopes).length === request.scopes.length;
  if (client.skip_consent === true || ctx.settings.consent === "skip") {
    return { session, grant: grant !== undefined && allows(grant) ? grant : null };
  }
  if (grant === undefined || !allows(grant) || request.prompt.includes("consent")) {
    if (silent) throw refuse(request, "consent_required", "the user has to consent, and prompt=none forbids asking");
    return "consent";
  }
  return { session, grant };
}

/** Whether this session does not do for this request, so that the user has to sign in within it. */
export function mustSignInAgain(
  ctx: Context,
  request: AuthorizationRequest,
  session: LiveSession,
  hintedUserId: string | null,
): boolean {
  if (request.prompt.includes("login") || request.prompt.includes("select_account")) return true;
  if (hintedUserId !== null && hintedUserId !== session.user.id) return true;
  if (request.maxAge === null) return false;
  // max_age=0 means the same as prompt=login (OpenID Connect Core 3.1.2.1).
  return request.maxAge === 0 || seconds(ctx) - session.session.authTime > request.maxAge;
}

/** A refusal to be sent to the client. */
export const refuse = (
  request: AuthorizationRequest,
  code: "login_required" | "consent_required" | "access_denied",
  description: string,
): RedirectedError => new RedirectedError(new OAuthError(code, description), request);
