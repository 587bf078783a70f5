import type { Interaction, ReadTx, Tx } from "../store/store.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import { clientName, type ClientName } from "./clients.ts";
import type { Context } from "./context.ts";
import { hashOf, sameSecret } from "./secrets.ts";

/** What waits for the person in front of the browser, bound to that browser. */

/** What the person is asked for. */
export type Purpose =
  | { readonly kind: "authorization"; readonly request: AuthorizationRequest; readonly hintedUserId: string | null }
  /** One of the server's own pages, below the issuer: sign in, then come back. */
  | { readonly kind: "page"; readonly path: string };

/** To confirm that they want to sign out; then back to the app, where it asked for that. */
export interface LogoutPurpose {
  readonly kind: "logout";
  /** Why the person is asked: the app sent no `id_token_hint`, or one of another user. */
  readonly why: "no-hint" | "other-user";
  readonly clientId: string | null;
  /** `post_logout_redirect_uri` and `state`, as they were sent. */
  readonly postLogoutRedirectUri: string | undefined;
  readonly state: string | undefined;
  /** For the page that asks and the one that follows. */
  readonly uiLocales?: string | undefined;
}

/** What is left of a sign-in that led back to its client: enough to tell somebody who comes again, by the back button or a second click. */
interface FinishedPurpose {
  readonly kind: "finished";
  readonly app: AskingApp;
}

/** The app that a sign-in is for. */
export interface AskingApp {
  readonly clientId: string;
  readonly redirectUri: string;
}

/** Milliseconds: nobody is hurried (WCAG 2.2.1 asks for at least 20 minutes). */
const interactionTtl = 3_600_000;
/** For how long a sign-in that is over can still be told from one that never was. */
const expiredTtl = 3_600_000;
const finishedTtl = 600_000;

/** What of a browser the server knows: the values of its two cookies, and where it is. */
export interface Browser {
  /** Binds interactions to the browser in which they began; always set. */
  readonly id: string | null;
  readonly session: string | null;
  /** The address it calls from; not a name that a request gives itself. */
  readonly address: string;
}

/** Why a page of an interaction cannot be shown or a form of it not taken. */
export class InteractionError extends Error {
  override readonly name = "InteractionError";
  readonly reason: "gone" | "finished" | "suspended" | "other-browser" | "csrf";
  /** Who asked; null: not known any more. */
  readonly app: (AskingApp & { readonly name: ClientName; readonly initiateLoginUri: string | null }) | null;
  constructor(reason: InteractionError["reason"], app: InteractionError["app"] = null) {
    super(
      {
        gone: "this sign-in took too long or was already finished",
        finished: "this request was answered already",
        suspended: "the account was suspended or banned meanwhile",
        "other-browser": "the browser did not send the cookie of this sign-in",
        csrf: "the form did not come from this server's own page",
      }[reason],
    );
    this.reason = reason;
    this.app = app;
  }
}

/** What a sign-in is for. @throws {InteractionError} where it is none */
export function purposeOf(interaction: Interaction): Purpose {
  const purpose = interaction.request as Purpose | LogoutPurpose | FinishedPurpose;
  if (purpose.kind === "logout" || purpose.kind === "finished") throw new InteractionError("gone");
  return purpose;
}

/** What a sign-out that waits for a yes is for. @throws {InteractionError} where it is none */
export function logoutPurposeOf(interaction: Interaction): LogoutPurpose {
  const purpose = interaction.request as Purpose | LogoutPurpose;
  if (purpose.kind !== "logout") throw new InteractionError("gone");
  return purpose;
}

/** Keeps what is asked for; the browser must have its cookie by now. */
export function beginInteraction(
  tx: Tx,
  ctx: Context,
  purpose: Purpose | LogoutPurpose,
  browser: Browser,
): Interaction {
  const interaction: Interaction = {
    uid: ctx.random(16),
    browser: hashOf(browser.id ?? ""),
    csrf: ctx.random(16),
    request: purpose,
    login: null,
    expiresAt: ctx.now() + interactionTtl + expiredTtl,
  };
  tx.insert("interactions", interaction);
  return interaction;
}

/** Ends a sign-in; who comes to it again is told so. */
export function endInteraction(tx: Tx, ctx: Context, interaction: Interaction): void {
  const app = appOf(interaction);
  if (app === null) {
    tx.remove("interactions", interaction.uid);
    return;
  }
  tx.put("interactions", {
    uid: interaction.uid,
    browser: interaction.browser,
    // No form of it is taken any more.
    csrf: "",
    request: { kind: "finished", app } satisfies FinishedPurpose,
    login: null,
    expiresAt: ctx.now() + finishedTtl,
  });
}

function appOf(interaction: Interaction): AskingApp | null {
  const purpose = interaction.request as Purpose | LogoutPurpose | FinishedPurpose;
  if (purpose.kind === "finished") return purpose.app;
  if (purpose.kind !== "authorization") return null;
  const { clientId, redirectUri } = purpose.request;
  return { clientId, redirectUri };
}

/** A refusal that names the app to go back to. */
export function over(
  tx: ReadTx,
  interaction: Interaction,
  reason: "gone" | "finished" | "suspended",
): InteractionError {
  const app = appOf(interaction);
  if (app === null) return new InteractionError(reason);
  const client = tx.get("clients", app.clientId);
  const name = clientName(client ?? { client_id: app.clientId });
  const initiateLoginUri = client?.initiate_login_uri ?? null;
  return new InteractionError(reason, { ...app, name, initiateLoginUri });
}

/** The interaction, for the browser that began it. @throws {InteractionError} */
export function findInteraction(tx: ReadTx, ctx: Context, uid: string, browser: Browser): Interaction {
  const interaction = tx.get("interactions", uid);
  if (interaction === undefined) throw new InteractionError("gone");
  if (browser.id === null || hashOf(browser.id) !== interaction.browser) throw new InteractionError("other-browser");
  const { kind } = interaction.request as Purpose | LogoutPurpose | FinishedPurpose;
  if (kind === "finished") throw over(tx, interaction, "finished");
  if (interaction.expiresAt - expiredTtl <= ctx.now()) throw over(tx, interaction, "gone");
  return interaction;
}

/** The interaction a form belongs to, the form's `csrf` value proven. @throws {InteractionError} */
export function findForForm(tx: ReadTx, ctx: Context, uid: string, browser: Browser, csrf: string): Interaction {
  const interaction = findInteraction(tx, ctx, uid, browser);
  if (!sameSecret(csrf, interaction.csrf)) throw new InteractionError("csrf");
  return interaction;
}
