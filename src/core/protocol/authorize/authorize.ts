/*
 * core/protocol/authorize: the authorization request, from its parameters to the response.
 *
 * parameters.ts reads the request once, into single values. request.ts runs all checks in their order: client and redirect URI first
 * (target.ts), then single parameters (checks.ts). purpose.ts says what the sign-in needs and how it ends. par.ts stores pushed requests (RFC 9126).
 */
import { cut, redacted } from "../../../text/redacted.ts";
import { shownValue } from "../redaction/values.ts";
import { StorageError, type PushedRequest } from "../../../store/store.ts";
import { verifyIdTokenHint } from "../tokens/accept.ts";
import { refuse } from "./purpose.ts";
import { checkAuthorizationRequest, type AuthorizationRequest } from "./request.ts";
import { readRequest, type RawParameters } from "./parameters.ts";
import type { Context } from "../../context.ts";
import { documentClient } from "../../records/clients/documents.ts";
import { OAuthError } from "../../base/errors.ts";
import { whenCodeLeft } from "../../records/step-up/otp.ts";
import type { Needs } from "../../sign-in/purpose.ts";
import { newInteraction, type Browser, type SignInRecord } from "../../sign-in/interactions.ts";
import { advance, resumeSignIn, settle, type StepResult } from "../../sign-in/next-step.ts";
import { putBackPushed, takePushed } from "./par.ts";
import { RedirectedError } from "../../sign-in/response.ts";
import { liveSession } from "../../sign-in/sessions/sessions.ts";

/**
 * The path of a sign-in:
 *
 *   authorize ──▶ nextStep ──▶ login page ──▶ login  (records who signed in) ────┐
 *                 ▲ │   ├────▶ factor page ─▶ factor (records what was proved)   │
 *                 │ │   └────▶ consent page ▶ consent (records what was decided) │
 *                 │ │                                                            │
 *                 └─┼────────────────────────────────────────────────────────────┘
 *                   └────▶ return: ends the interaction, and as its purpose says sends the browser to the client, with a code or with
 *                          the reason why not, or to one of our own pages
 *
 * `nextStep` alone knows the order (`next-step.ts`). A `Purpose` says what a sign-in needs and how it ends (`purpose.ts`). Login and
 * consent know nothing about each other, or about what follows.
 */

/** The first step, and the pattern of the client that let the redirect URI in; null: it is registered itself. */
type Begun = StepResult & Pick<AuthorizationRequest, "pattern">;

/**
 * Begins an authorization request (RFC 6749 4.1.1, OpenID Connect Core 3.1.2).
 * @throws {OAuthError} shown to the person; {RedirectedError} sent to the client
 */
export async function beginAuthorization(ctx: Context, raw: RawParameters, browser: Browser): Promise<Begun> {
  const taken = await takePushed(ctx, readRequest(raw), browser);
  if ("uid" in taken) return { ...(await resumeSignIn(ctx, taken.uid, browser)), pattern: null };
  const { sent, pushed } = taken;
  const document = pushed === null ? await documentClient(ctx, sent.values.client_id, browser) : pushed.document;
  const request = await ctx.store.read((tx) =>
    checkAuthorizationRequest(tx, ctx, sent, { pushed: pushed !== null, document }),
  );
  if (request.ignoredScopes.length > 0) {
    const ignored = shownValue(request.ignoredScopes.join(" "), () => false, true) ?? "…";
    ctx.log(`scope "${cut(redacted(ignored), 500)}" is not defined: ignored`);
  }
  const hintedUserId = await hintedUser(ctx, request);
  try {
    const step = await begin(ctx, { kind: "authorization", request, hintedUserId }, browser, pushed);
    return { ...step, pattern: request.pattern };
  } catch (error) {
    if (error instanceof StorageError && pushed !== null) await putBackPushed(ctx, pushed);
    throw error;
  }
}

/** The only user who may sign in, by `id_token_hint` or the `claims` parameter; null: any user. */
async function hintedUser(ctx: Context, request: AuthorizationRequest): Promise<string | null> {
  const { idTokenHint: hint, requiredUserId } = request;
  if (hint === null) return requiredUserId;
  try {
    const { sub } = await verifyIdTokenHint(ctx, hint);
    if (requiredUserId === null || requiredUserId === sub) return sub;
  } catch (error) {
    throw error instanceof OAuthError ? new RedirectedError(error, request) : error;
  }
  throw refuse(request, "login_required", "id_token_hint and the claims parameter name two users", {
    rule: "OpenID Connect Core 5.5.1",
    fix: "send only one of them, or the same user in both",
  });
}

/** Begins a sign-in for one of our own pages. @param path of the page, below the issuer @param acr what the page needs */
export const beginSignIn = (ctx: Context, path: string, acr: Needs["acr"], browser: Browser): Promise<StepResult> =>
  begin(ctx, { kind: "page", path, acr }, browser, null);

/** Begins a sign-in for a request whose client and address are proven. @param pushed null: the request was not pushed */
export async function begin(
  ctx: Context,
  record: SignInRecord,
  browser: Browser,
  pushed: PushedRequest | null,
): Promise<StepResult> {
  const result = await whenCodeLeft(ctx, () =>
    ctx.store.transaction((tx) => {
      const interaction = newInteraction(ctx, record, browser);
      const advanced = advance(tx, ctx, interaction, liveSession(tx, browser.session), browser);
      const { uid, expiresAt } = interaction;
      if (pushed !== null && advanced.step.kind === "page") tx.put("pushedRequests", { ...pushed, uid, expiresAt });
      return advanced;
    }),
  );
  return settle(ctx, result);
}
