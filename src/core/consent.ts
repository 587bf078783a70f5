import type { Client, Grant, Interaction, ReadTx, User } from "../store/store.ts";
import { nextStep, proceed, progressOf, refuse, returnWithCode, type StepResult } from "./authorize.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import { tellAll } from "./backchannel-logout.ts";
import type { Context } from "./context.ts";
import { findClient } from "./clients.ts";
import { isCovered } from "./granted-scopes.ts";
import { activeGrant, recordGrant } from "./grants.ts";
import { endInteraction, findInteraction, InteractionError, over, type Browser } from "./interactions.ts";
import { summarise, type RequestSummary } from "./request-summary.ts";
import { namedScopes, releasedValues, type NamedScope, type ReleasedValue } from "./scope-display.ts";
import { hashOf, sameSecret } from "./secrets.ts";
import { liveSession, sessionOf, type LiveSession } from "./sessions.ts";

/** The consent page and its form: records what was decided. */

/** Bound to the user the page was shown to: after another one signed in, in another tab, nobody decides for somebody else. */
const csrfFor = (interaction: Interaction, user: User): string => hashOf(`${interaction.csrf} ${user.id}`);

export interface ScopeRow extends NamedScope {
  /** The very values that would be sent. */
  readonly values: readonly ReleasedValue[];
}

export interface ConsentPage {
  readonly kind: "page";
  readonly csrf: string;
  readonly client: Client;
  readonly user: User;
  readonly redirectUri: string;
  readonly uiLocales: string | null;
  readonly fresh: readonly ScopeRow[];
  readonly granted: readonly ScopeRow[];
  /** What is sent whatever is ticked, where no row of `openid` says so. */
  readonly always: readonly ReleasedValue[];
  readonly request: RequestSummary;
}

/**
 * What the consent page shows; or the step to take where consent is not what is missing (signed out meanwhile, granted in another tab).
 * @throws {InteractionError | RedirectedError}
 */
export async function showConsent(
  ctx: Context,
  uid: string,
  browser: Browser,
): Promise<ConsentPage | (StepResult & { readonly kind: "step" })> {
  const result = await ctx.store.transaction((tx): Awaited<ReturnType<typeof showConsent>> => {
    const interaction = findInteraction(tx, ctx, uid, browser);
    const session = sessionFor(tx, interaction, browser);
    const progress = progressOf(interaction);
    const { purpose } = progress;
    if (purpose.kind !== "authorization" || session === null || nextStep(tx, ctx, progress, session) !== "consent") {
      return { kind: "step", ...proceed(tx, ctx, progress, session, browser) };
    }
    const { request } = purpose;
    const client = findClient(tx, request.clientId);
    const grant: Pick<Grant, "scopes"> = activeGrant(tx, session.user.id, client.client_id) ?? { scopes: [] };
    const before = grant.scopes;
    // What a scope that was granted gives anyway is no question.
    const asked = request.scopes.filter((name) => before.includes(name) || !isCovered(tx, client, grant, name));
    const released = releasedValues(tx, client, session.user);
    const rows = (names: readonly string[]): ScopeRow[] =>
      namedScopes(tx, names).map(({ name, description }) => ({
        name,
        description,
        values: name === "openid" ? released.always : released.by(name),
      }));
    return {
      kind: "page",
      csrf: csrfFor(interaction, session.user),
      client,
      user: session.user,
      redirectUri: request.redirectUri,
      uiLocales: request.uiLocales,
      fresh: rows(asked.filter((name) => !before.includes(name))),
      granted: rows(asked.filter((name) => before.includes(name))),
      always: request.scopes.includes("openid") ? [] : released.always,
      request: summarise(request),
    };
  });
  if (result.kind === "step") await tellAll(ctx, result.telling);
  return result;
}

/** Whoever signed in and was suspended or banned since is told so, and not just asked to sign in again. @throws {InteractionError} */
function sessionFor(tx: ReadTx, interaction: Interaction, browser: Browser): LiveSession | null {
  const live = liveSession(tx, browser.session);
  if (live !== null) return live;
  const userId = sessionOf(tx, browser.session)?.userId ?? interaction.login?.userId;
  const user = userId === undefined ? undefined : tx.get("users", userId);
  if (user !== undefined && user.status !== "active") throw over(tx, interaction, "suspended");
  return null;
}

export interface ConsentForm {
  readonly csrf: string;
  readonly decision: "allow" | "deny";
  /** The scopes that stood ticked. */
  readonly scopes: readonly string[];
}

/**
 * Takes the decision, once: the interaction ends in the same transaction that writes the grant and draws the code.
 * @throws {InteractionError}; {RedirectedError} where the user denies
 */
export async function consent(ctx: Context, uid: string, browser: Browser, form: ConsentForm): Promise<StepResult> {
  const outcome = await ctx.store.transaction((tx): StepResult | { denied: AuthorizationRequest } => {
    const interaction = findInteraction(tx, ctx, uid, browser);
    const session = sessionFor(tx, interaction, browser);
    const progress = progressOf(interaction);
    const { purpose } = progress;
    if (purpose.kind !== "authorization") throw new InteractionError("gone");
    if (session !== null && !sameSecret(form.csrf, csrfFor(interaction, session.user)))
      throw new InteractionError("csrf");
    // Signed out since the page was shown. Where consent was given in another tab meanwhile, this decision counts all the same.
    if (session === null || nextStep(tx, ctx, progress, session) === "login") {
      return proceed(tx, ctx, progress, session, browser);
    }
    endInteraction(tx, ctx, interaction);
    const { request } = purpose;
    if (form.decision === "deny") return { denied: request };
    const client = findClient(tx, request.clientId);
    // Only what was asked for can be allowed, whatever the form says; openid cannot be unticked (CONTRACT 2.2).
    const allowed = request.scopes.filter((name) => name === "openid" || form.scopes.includes(name));
    const grant = recordGrant(tx, ctx, { user: session.user, client, asked: request.scopes, allowed, by: "user" });
    return returnWithCode(tx, ctx, request, { client, grant, ...session });
  });
  if ("denied" in outcome) throw refuse(outcome.denied, "access_denied", "The user denied the request");
  await tellAll(ctx, outcome.telling);
  return outcome;
}
