/*
 * core/sign-in: one sign-in, from the request that begins it to the redirect that ends it.
 *
 * interactions.ts stores the sign-ins and sign-outs that wait for the person at the browser. purpose.ts says what a sign-in needs and
 * how it ends, needs.ts what of it is missing. next-step.ts is the only place that knows the order: login, then a missing
 * factor, then consent, then return.
 */
import type { Proof } from "../records/step-up/proofs.ts";
import type { Interaction, ReadTx, Tx, User } from "../../store/store.ts";
import { notifyClients, type EndedSessions } from "./sessions/backchannel.ts";
import { clientOf } from "../records/clients/documents.ts";
import type { Context } from "../context.ts";
import { allowBeforehand } from "../records/fix-commands.ts";
import { patternHost } from "../records/clients/redirect-patterns.ts";
import { grantFor, isNewHost } from "./grants/grants.ts";
import {
  endInteraction,
  findForForm,
  findInteraction,
  isStored,
  refusalOf,
  recordFact,
  signInRecordOf,
  type Browser,
} from "./interactions.ts";
import { canMeet, factorsOf, givenIn } from "../records/step-up/acr.ts";
import { useCurrentCode, whenCodeLeft } from "../records/step-up/otp.ts";
import { missingOf, currentAuthenticationInfo } from "./needs.ts";
import { ownPagePurpose, type Ending, type SignInOutcome, type Purpose, type Question } from "./purpose.ts";
import { addProof, liveSession, sessionOf, startSession, type LiveSession } from "./sessions/sessions.ts";

/** Decides on the next step of a sign-in, and takes it. The diagram is in `authorize.ts`. */

/** Where the browser goes next. */
type Step =
  | { readonly kind: "page"; readonly page: "login" | "factor" | "consent"; readonly uid: string }
  | Exclude<Ending, { kind: "refused" }>;

/** A step that a transaction took, and what is left to do after it. */
export interface Advance {
  readonly step: Step | Extract<Ending, { kind: "refused" }>;
  /** The new value of the session cookie, if the user has just signed in. */
  readonly sessionCookie: string | null;
  /** The session that the new one replaced, whose clients are notified. */
  readonly endedSessions: EndedSessions;
}

/** The part of a step's result that the response needs. */
export interface StepResult extends Pick<Advance, "sessionCookie"> {
  readonly step: Step;
}

/** What a sign-in is for. @throws {InteractionError} if the interaction is not a sign-in */
export function purposeOf(ctx: Pick<Context, "purposeOfRequest">, interaction: Interaction): Purpose {
  const record = signInRecordOf(interaction);
  return record.kind === "page" ? ownPagePurpose(record.path, record.acr) : ctx.purposeOfRequest(record);
}

type Next =
  { readonly kind: "login" | "factor" | "consent" } | { readonly kind: "return"; readonly outcome: SignInOutcome };

/**
 * The only place that knows the order: sign in, then further factors, then consent, then return.
 * @throws what the purpose refuses with, if a page is needed that may not be shown (`prompt=none`, OpenID Connect Core 3.1.2.6), if
 *   another user signed in than the one that is needed, or if the client may no longer ask for this
 */
export function nextStep(tx: ReadTx, ctx: Context, interaction: Interaction, session: LiveSession | null): Next {
  const purpose = purposeOf(ctx, interaction);
  const { needs } = purpose;
  const { login, consent } = interaction;
  purpose.check(tx, ctx);
  if (login === "canceled") return { kind: "return", outcome: "canceled" };
  // The session may belong to another user by now, who signed in in another tab.
  const lacks = session === null ? null : missingOf(ctx, purpose, interaction, session);
  if (session === null || lacks === null || (lacks.login && lacks.factors.length === 0)) {
    if (!needs.silent) return { kind: "login" };
    throw purpose.refuse("login_required", "the user has to sign in, and prompt=none forbids asking", {
      rule: "OpenID Connect Core 3.1.2.6",
      fix: "send the request again without prompt=none, so that the user can sign in",
    });
  }
  if (needs.userId !== null && needs.userId !== session.user.id) {
    throw purpose.refuse("login_required", "another user signed in than the one that was asked for", {
      rule: "OpenID Connect Core 3.1.2.1",
      fix: "leave id_token_hint and the claim sub out to take any user, or sign in as the user whom they name",
    });
  }
  if (lacks.factors.length > 0) {
    if (!needs.silent) return { kind: lacks.login ? "login" : "factor" };
    const names = lacks.factors.join(" and ");
    throw purpose.refuse(
      "interaction_required",
      `the user has to prove more (${names}), and prompt=none forbids asking`,
      {
        rule: "OpenID Connect Core 3.1.2.6",
        fix: `send the request again without prompt=none, so that the page can ask for ${names}`,
      },
    );
  }
  const authentication = currentAuthenticationInfo(ctx, needs, interaction, session);
  // A decision counts for the session in which it was made.
  const decision = consent?.sessionId === session.session.id ? consent : null;
  if (decision !== null) {
    return {
      kind: "return",
      outcome: decision.allowed === null ? "denied" : { session, authentication, allowed: decision.allowed },
    };
  }
  const why = needs.consent === null ? null : whyAsk(tx, ctx, needs.consent, session.user);
  if (needs.consent !== null && why !== null) {
    if (!needs.silent) return { kind: "consent" };
    throw purpose.refuse(
      "consent_required",
      why.host === null
        ? "the user has to consent, and prompt=none forbids asking"
        : `the user has not allowed the app at ${why.host} yet, and prompt=none forbids asking`,
      {
        rule: "OpenID Connect Core 3.1.2.6",
        fix:
          why.host === null
            ? allowBeforehand(session.user, needs.consent)
            : "send the request again without prompt=none, so that the user can allow this host",
      },
    );
  }
  return { kind: "return", outcome: { session, authentication, allowed: null } };
}

/**
 * Why the user is asked: for scopes, or (`host`) only because a pattern of the client lets in a host that the user has not allowed. Null: consent
 * is given, or not asked for by policy (`skip_consent` of the client, `consent: skip`).
 */
function whyAsk(tx: ReadTx, ctx: Context, question: Question, user: User): { readonly host: string | null } | null {
  const { scopes, isForced, redirectUri } = question;
  const client = clientOf(tx, question);
  if (client.skip_consent === true || ctx.settings.consent === "skip") return null;
  const grant = grantFor(tx, ctx, client, user.id, scopes);
  if (isForced || grant === undefined) return { host: null };
  const host = patternHost(ctx, client, redirectUri);
  return host !== null && isNewHost(grant, host) ? { host } : null;
}

/** Takes the next step. The step that leaves the pages ends the interaction: of several tabs, one wins. */
export function advance(
  tx: Tx,
  ctx: Context,
  interaction: Interaction,
  session: LiveSession | null,
  browser: Browser,
): Advance {
  const next = nextStep(tx, ctx, interaction, session);
  if (next.kind === "return") {
    endInteraction(tx, ctx, interaction);
    return stepOnly(purposeOf(ctx, interaction).finish(tx, ctx, next.outcome));
  }
  const automatic = next.kind === "consent" ? null : automaticLogin(tx, ctx, interaction);
  if (automatic !== null) return signIn(tx, ctx, interaction, automatic.user, automatic.proofs, browser);
  if (!isStored(tx, interaction)) tx.insert("interactions", interaction);
  return stepOnly({ kind: "page", page: next.kind, uid: interaction.uid });
}

const stepOnly = (step: Advance["step"]): Advance => ({ step, sessionCookie: null, endedSessions: [] });

/**
 * The user of `login: auto:alice`, who signs in without a page if the account is active, and what the setting `factors` proves of what
 * that user has.
 * @throws {NoCodeLeft}
 */
function automaticLogin(
  tx: Tx,
  ctx: Context,
  interaction: Interaction,
): { readonly user: User; readonly proofs: readonly Proof[] } | null {
  const { login, factors } = ctx.settings;
  if (!login.startsWith("auto:") || interaction.login !== null) return null;
  const user = tx.find("users", "username", login.slice("auto:".length));
  if (user?.status !== "active") return null;
  const own = factors.filter((factor) => canMeet(ctx, user, factor) || (factor === "passkey" && hasPasskey(user)));
  if (own.includes("otp")) useCurrentCode(tx, ctx, user);
  const further = own.filter((factor) => factor !== "pwd").map((factor) => (factor === "passkey" ? "button" : factor));
  return { user, proofs: [own.includes("pwd") ? "pwd" : "user", ...further] };
}

const hasPasskey = (user: User): boolean => factorsOf(user).includes("passkey");

/**
 * Starts a session for a user who has proved who they are, records it, and takes the next step.
 * @param proofs `pwd` or `user`, and what else they proved
 */
export function signIn(
  tx: Tx,
  ctx: Context,
  interaction: Interaction,
  user: User,
  proofs: readonly Proof[],
  browser: Browser,
): Advance {
  const { cookie, session, endedSessions } = startSession(tx, ctx, user, proofs, browser);
  const signedIn = recordProof(tx, interaction, user, proofs);
  const { step } = advance(tx, ctx, signedIn, { session, user }, browser);
  return { step, sessionCookie: cookie, endedSessions };
}

/** Records another factor of the user who is signed in, and takes the next step. */
export function proveMore(
  tx: Tx,
  ctx: Context,
  interaction: Interaction,
  before: LiveSession,
  proof: Proof,
  browser: Browser,
): Advance {
  const { cookie, live } = addProof(tx, ctx, before, proof);
  const { step } = advance(tx, ctx, recordProof(tx, interaction, before.user, [proof]), live, browser);
  return { step, sessionCookie: cookie, endedSessions: [] };
}

/** Records what a user proved in a sign-in. */
export const recordProof = (tx: Tx, interaction: Interaction, user: User, proofs: readonly Proof[]): Interaction =>
  recordFact(tx, interaction, { login: { userId: user.id, met: [...givenIn(interaction, user), ...proofs] } });

/** Finishes a step after its transaction: notifies clients. @throws the error that the sign-in was refused with */
export async function settle(ctx: Context, { step, sessionCookie, endedSessions }: Advance): Promise<StepResult> {
  await notifyClients(ctx, endedSessions);
  if (step.kind === "refused") throw step.error;
  return { step, sessionCookie };
}

/** Finds the next step of a sign-in whose page is no longer the right one: granted in another tab, or signed out. @throws {InteractionError} */
export async function resumeSignIn(ctx: Context, uid: string, browser: Browser): Promise<StepResult> {
  const result = await whenCodeLeft(ctx, () =>
    ctx.store.transaction((tx) => {
      const interaction = findInteraction(tx, ctx, uid, browser);
      return advance(tx, ctx, interaction, sessionFor(tx, interaction, browser), browser);
    }),
  );
  return settle(ctx, result);
}

/** The session of the browser. @throws {InteractionError} if its user was suspended or banned meanwhile, so that the page can say so */
export function sessionFor(tx: ReadTx, interaction: Interaction, browser: Browser): LiveSession | null {
  const live = liveSession(tx, browser.session);
  if (live !== null) return live;
  const { login } = interaction;
  const userId = sessionOf(tx, browser.session)?.userId ?? (login === "canceled" ? undefined : login?.userId);
  const user = userId === undefined ? undefined : tx.get("users", userId);
  if (user !== undefined && user.status !== "active") {
    throw refusalOf(tx, interaction, user.status, user.username);
  }
  return null;
}

/** Records that nobody signs in. The purpose decides where the browser goes: back to the client, or to our own page. @throws {InteractionError} */
export const cancelSignIn = (
  ctx: Context,
  uid: string,
  browser: Browser,
  { csrf }: { readonly csrf: string },
): Promise<Advance> =>
  ctx.store.transaction((tx) => {
    const interaction = findForForm(tx, ctx, uid, browser, csrf);
    return advance(tx, ctx, recordFact(tx, interaction, { login: "canceled" }), null, browser);
  });
