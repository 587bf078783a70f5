/*
 * core/sign-in/factors: the second step of a sign-in. factor.ts is the page that asks for a factor, passkeys.ts registers and verifies
 * passkeys, also on the user's own page; admin.ts is for the operator. Which factors a sign-in needs is decided in core/records/step-up.
 */
import { jsonObjectIn } from "../../../text/json.ts";
import { worksAt } from "../../records/step-up/proofs.ts";
import type { Interaction, ReadTx, Tx, User } from "../../../store/store.ts";
import { passwordLimits } from "../../base/attempts.ts";
import type { RequestSummary } from "../purpose.ts";
import { clientName, type ClientName } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import type { Named } from "../../records/clients/document-types.ts";
import type { LiveSession } from "../sessions/sessions.ts";
import { findForForm, findInteraction, type Browser } from "../interactions.ts";
import {
  advance,
  cancelSignIn,
  nextStep,
  proveMore,
  purposeOf,
  sessionFor,
  settle,
  type Advance,
  type StepResult,
} from "../next-step.ts";
import { pageFormValue, requirePageForm } from "../user-form.ts";
import { offersButton } from "../../records/step-up/acr.ts";
import { missingOf, onPage, type AskedFactor } from "../needs.ts";
import { currentCode, takeCode, type OneTimeCode } from "../../records/step-up/otp.ts";
import { challengeOf, requestOptions, verifyPasskey } from "./passkeys.ts";

/** The page that asks for a further factor: it records that one was given, and nothing else. */

export interface FactorPage {
  readonly csrf: string;
  readonly user: User;
  /** Null: a sign-in for one of our own pages. */
  readonly client: { readonly id: string; readonly name: ClientName } | null;
  readonly asked: AskedFactor;
  /** Another factor that the user may give in its place; null: none. */
  readonly instead: AskedFactor | null;
  /** The valid code, where the picker would be shown; `wait`: seconds until there is one again. */
  readonly code: OneTimeCode | { readonly code: null; readonly wait: number } | null;
  /** A button stands in for the passkey of a test user. */
  readonly button: boolean;
  /** What the browser's script asks the authenticator for; null: no passkey can be used. */
  readonly options: object | null;
  /** Passkeys do not work at this address. */
  readonly insecure: boolean;
  readonly uiLocales: string | null;
  readonly request: RequestSummary;
}

/** A page that asks for a factor. It is null where the factor is not the next step, as after Back or in another tab. */
interface Asked {
  readonly interaction: Interaction;
  readonly live: LiveSession;
  readonly factors: readonly AskedFactor[];
}

function askedIn(tx: ReadTx, ctx: Context, interaction: Interaction, browser: Browser): Asked | null {
  const live = sessionFor(tx, interaction, browser);
  if (live === null || nextStep(tx, ctx, interaction, live).kind !== "factor") return null;
  const { factors, instead } = missingOf(ctx, purposeOf(ctx, interaction), interaction, live);
  return { interaction, live, factors: [...factors.filter(onPage).slice(0, 1), ...instead.filter(onPage)] };
}

/** The sign-in of a form that was shown to the user who is signed in now. @throws {InteractionError | OtherUserError} */
function findForUser(tx: ReadTx, ctx: Context, uid: string, browser: Browser, csrf: string): Interaction {
  const interaction = findForForm(tx, ctx, uid, browser, csrf);
  requirePageForm(interaction, "factor", csrf, sessionFor(tx, interaction, browser)?.user);
  return interaction;
}

const challengeFor = ({ interaction, live }: Asked): string => challengeOf(interaction.csrf, live.session.id);

/**
 * What the page shows; null if a factor is not the next step.
 * @param wanted the factor of the link "instead"
 * @throws {InteractionError | RedirectedError}
 */
export async function showFactor(
  ctx: Context,
  uid: string,
  browser: Browser,
  wanted: string | undefined,
): Promise<FactorPage | null> {
  const page = await ctx.store.read((tx) => {
    const asked = askedIn(tx, ctx, findInteraction(tx, ctx, uid, browser), browser);
    if (asked === null) return null;
    const { interaction, live, factors } = asked;
    const { user } = live;
    const factor = factors.find((name) => name === wanted) ?? factors[0];
    if (factor === undefined) return null;
    const { shown } = purposeOf(ctx, interaction);
    const hasPasskey = (user.passkeys ?? []).length > 0;
    return {
      csrf: pageFormValue(interaction, "factor", user),
      user,
      client: shown.app === null ? null : appOf(tx, shown.app),
      asked: factor,
      instead: factors.find((name) => name !== factor) ?? null,
      code: factor === "otp" && ctx.offersPicker ? currentCode(tx, ctx, user) : null,
      button: factor === "passkey" && offersButton(ctx, user),
      challenge: factor === "passkey" && hasPasskey && worksAt(ctx.address) ? challengeFor(asked) : null,
      insecure: factor === "passkey" && !worksAt(ctx.address),
      uiLocales: shown.uiLocales,
      request: shown.summary(),
    };
  });
  if (page === null) return null;
  const { challenge, ...rest } = page;
  return { ...rest, options: challenge === null ? null : await requestOptions(ctx, page.user, challenge) };
}

const appOf = (tx: ReadTx, { clientId: id, document }: Named): FactorPage["client"] => ({
  id,
  name: clientName(document ?? tx.get("clients", id) ?? { client_id: id }),
});

interface FactorForm {
  readonly csrf: string;
  readonly otp: string | undefined;
  /** What the browser's authenticator answered, as JSON; `button`: the button that stands in for it. */
  readonly passkey: string | undefined;
  readonly cancel: boolean;
}

/** The next step, or the factor that was not accepted. */
type FactorResult =
  | (StepResult & { readonly kind: "step"; readonly username: string | null; readonly proof: string | null })
  | { readonly kind: "refused"; readonly factor: AskedFactor; readonly username: string };

type Attempt = { readonly advance: Advance; readonly username: string | null; readonly proof: string | null } | Refused;
type Refused = Extract<FactorResult, { kind: "refused" }>;

/**
 * Handles the form: records the factor, and takes the next step in the same transaction.
 * @throws {InteractionError | OtherUserError}; {RedirectedError} if the user cancels; {OAuthError} too_many_requests, after wrong codes
 */
export async function giveFactor(ctx: Context, uid: string, browser: Browser, form: FactorForm): Promise<FactorResult> {
  if (form.cancel) {
    await ctx.store.read((tx) => findForUser(tx, ctx, uid, browser, form.csrf));
    return {
      kind: "step",
      username: null,
      proof: null,
      ...(await settle(ctx, await cancelSignIn(ctx, uid, browser, form))),
    };
  }
  const attempt = await (form.passkey === undefined || form.passkey === buttonValue ? tryAtOnce : tryPasskey)(
    ctx,
    uid,
    browser,
    form,
  );
  if (!("advance" in attempt)) return attempt;
  const { username, proof } = attempt;
  return { kind: "step", username, proof, ...(await settle(ctx, attempt.advance)) };
}

/** The value of the button that stands in for a passkey. */
const buttonValue = "button";

/** A code, or the button. */
async function tryAtOnce(ctx: Context, uid: string, browser: Browser, form: FactorForm): Promise<Attempt> {
  const guesser = await ctx.store.read((tx) => {
    const interaction = findForUser(tx, ctx, uid, browser, form.csrf);
    return sessionFor(tx, interaction, browser)?.user.id ?? null;
  });
  // Outside the transaction, which may run twice.
  const wasRight =
    guesser === null || form.otp === undefined
      ? () => undefined
      : ctx.attempts.begin("wrong codes", passwordLimits(guesser, browser.address));
  const result = await ctx.store.transaction((tx): Attempt => {
    const interaction = findForUser(tx, ctx, uid, browser, form.csrf);
    const asked = askedIn(tx, ctx, interaction, browser);
    if (asked === null) return notAsked(tx, ctx, interaction, browser);
    const { user } = asked.live;
    const factor = form.passkey === undefined ? "otp" : "passkey";
    const accepted =
      asked.factors.includes(factor) &&
      (factor === "otp" ? takeCode(tx, ctx, user, form.otp ?? "") : offersButton(ctx, user));
    if (!accepted) return { kind: "refused", factor, username: user.username };
    const proof = factor === "otp" ? "otp" : "button";
    const next = proveMore(tx, ctx, interaction, asked.live, proof, browser);
    return { advance: next, username: user.username, proof: proof === "otp" ? "one-time code" : "passkey, by button" };
  });
  if ("advance" in result) wasRight();
  return result;
}

/** The page is out of date: the next step is another one. */
const notAsked = (tx: Tx, ctx: Context, interaction: Interaction, browser: Browser): Attempt => ({
  advance: advance(tx, ctx, interaction, sessionFor(tx, interaction, browser), browser),
  username: null,
  proof: null,
});

async function tryPasskey(ctx: Context, uid: string, browser: Browser, form: FactorForm): Promise<Attempt> {
  const asked = await ctx.store.read((tx) => askedIn(tx, ctx, findForUser(tx, ctx, uid, browser, form.csrf), browser));
  const before = asked?.live.user;
  const passkey =
    asked === null || before === undefined || !asked.factors.includes("passkey")
      ? null
      : await verifyPasskey(ctx, before, jsonObjectIn(form.passkey ?? ""), challengeFor(asked));
  return ctx.store.transaction((tx): Attempt => {
    const interaction = findForUser(tx, ctx, uid, browser, form.csrf);
    const now = askedIn(tx, ctx, interaction, browser);
    if (now === null) return notAsked(tx, ctx, interaction, browser);
    const { live } = now;
    const { user } = live;
    // The session and the passkey are still those that were looked at.
    const isSame = asked !== null && challengeFor(now) === challengeFor(asked) && now.factors.includes("passkey");
    const passkeys = user.passkeys ?? [];
    const known = passkeys.find(({ id }) => id === passkey?.id);
    if (passkey === null || !isSame || known === undefined || known.publicKey !== passkey.publicKey) {
      return { kind: "refused", factor: "passkey", username: user.username };
    }
    const used = { ...user, passkeys: passkeys.map((one) => (one === known ? passkey : one)) };
    tx.put("users", used);
    const next = proveMore(tx, ctx, interaction, { ...live, user: used }, "passkey", browser);
    return { advance: next, username: user.username, proof: "passkey" };
  });
}
