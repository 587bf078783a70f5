import { describesItself, type Client, type Interaction, type ReadTx, type Tx } from "../../store/store.ts";
import { clientName, wasAllowed, type ClientName } from "../records/clients/clients.ts";
import type { Context } from "../context.ts";
import type { Guidance } from "../base/errors.ts";
import { restoreUser } from "../records/fix-commands.ts";
import type { Named, Peer } from "../records/clients/document-types.ts";
import { hashOf, sameSecret } from "../base/secrets.ts";
import { isAddress, networkOf } from "../../net/address.ts";

/** Sign-ins and sign-outs that wait for the person at the browser, bound to that browser. What a sign-in needs is in `purpose.ts`. */

/** A sign-in for one of our own pages. */
interface PageRecord {
  readonly kind: "page";
  /** Below the issuer. */
  readonly path: string;
  /** The `acr` that the page needs, as in an authorization request; `factor`: any factor that the user has. */
  readonly acr?: readonly string[] | "factor";
}

/** What sign-ins are for, by the `kind` of the record. The purpose of each request of an app registers its own (`declare module`). @public */
export interface SignInRecords {
  readonly page: PageRecord;
}

export type SignInRecord = SignInRecords[keyof SignInRecords];

/** A sign-out that the person has to confirm; then the browser returns to the app, if that asked for it. */
export interface LogoutRecord {
  readonly kind: "logout";
  /** Why the person is asked: the app sent no `id_token_hint`, or one that names another user. */
  readonly why: "no-hint" | "other-user" | "unsigned";
  readonly clientId: string | null;
  /** Whom to answer afterwards, in their own protocol. */
  readonly reply?: LogoutReply | undefined;
  /** The client as its metadata document described it when the sign-out began. */
  readonly document?: Client | undefined;
  /** `post_logout_redirect_uri` and `state`, as they were sent. */
  readonly postLogoutRedirectUri: string | undefined;
  readonly state: string | undefined;
  /** For the page that asks and the one that follows. */
  readonly uiLocales?: string | undefined;
}

/** What a protocol needs to answer whoever asked for a sign-out. Each registers its own (`declare module`). @public */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the members are elsewhere
export interface LogoutReplies {}

export type LogoutReply = LogoutReplies[keyof LogoutReplies];

/** The record of a sign-in that returned to its client, kept for a person who uses the back button or clicks twice. */
interface FinishedRecord {
  readonly kind: "finished";
  readonly app: AskingApp;
}

/** The app that a sign-in is for. */
export interface AskingApp extends Named {
  readonly redirectUri: string;
  readonly uiLocales: string | null;
}

/** Milliseconds: an hour, so that nobody has to hurry (WCAG 2.2.1). */
const interactionTtl = 3_600_000;
/** How long an expired sign-in is remembered, so that the page can say that it expired. */
const expiredTtl = 3_600_000;
const finishedTtl = 600_000;
/** How long a message of SAML waits for its browser, or for a page about it. */
export const waitingTtl = 600_000;

/** What the server knows about a browser: the values of its two cookies, and its address. */
export interface Browser extends Peer {
  /** Binds interactions to the browser in which they began; null: it sent no cookie. */
  readonly id: string | null;
  readonly session: string | null;
  /** Its program and system, "Firefox, Linux"; absent or null: unknown. */
  readonly program?: string | null;
}

interface NamedApp {
  readonly name: ClientName;
  readonly initiateLoginUri: string | null;
  /** Whether a page may link to it: anybody can make a client that describes itself, and a link to it. */
  readonly isLinked: boolean;
}

/** Why a page of an interaction cannot be shown, or its form is refused. */
export class InteractionError extends Error {
  override readonly name = "InteractionError";
  readonly reason: "gone" | "finished" | "suspended" | "banned" | "other-browser" | "csrf";
  /** Who asked; null: no longer known. */
  readonly app: (AskingApp & NamedApp) | null;
  /** Who was suspended or banned. */
  readonly username: string | null;
  readonly guidance: Guidance;
  constructor(
    reason: InteractionError["reason"],
    app: InteractionError["app"] = null,
    username: InteractionError["username"] = null,
  ) {
    super(
      {
        gone: "this sign-in took too long or was already finished",
        finished: "this request was answered already",
        suspended: "the account was suspended meanwhile",
        banned: "the account was banned meanwhile",
        "other-browser": "the browser did not send the cookie of this sign-in",
        csrf: "the form did not come from this server's own page",
      }[reason],
    );
    this.reason = reason;
    this.guidance = guidanceOf(reason, username);
    this.app = app;
    this.username = username;
  }
}

/** A sign-in is an invention of this server, so no standard says how it ends; RFC 6749 10.12 is about forged requests. */
function guidanceOf(reason: InteractionError["reason"], username: string | null): Guidance {
  switch (reason) {
    case "gone":
    case "finished":
      return { rule: null, fix: "begin the sign-in again in the app" };
    case "suspended":
    case "banned":
      return { rule: null, fix: username === null ? "sign in as another user" : restoreUser({ username }) };
    case "other-browser":
      return { rule: "RFC 6749 10.12", fix: "begin the sign-in again in this browser, under the issuer's host name" };
    case "csrf":
      return { rule: "RFC 6749 10.12", fix: "reload the page, and send its form again" };
  }
}

/** What other interactions are for. @public */
export interface OtherRecords {
  readonly logout: LogoutRecord;
  readonly finished: FinishedRecord;
}

type InteractionRecord = SignInRecord | OtherRecords[keyof OtherRecords];

export const recordOf = ({ purpose }: Interaction) => purpose as InteractionRecord;

const isSignIn = (record: InteractionRecord): record is SignInRecord =>
  ["authorization", "saml", "page"].includes(record.kind);

/** What a sign-in is for. @throws {InteractionError} if the interaction is not a sign-in */
export function signInRecordOf(interaction: Interaction): SignInRecord {
  const record = recordOf(interaction);
  if (!isSignIn(record)) throw new InteractionError("gone");
  return record;
}

/** What a sign-out is for. @throws {InteractionError} if the interaction is not a sign-out */
export function logoutRecordOf(interaction: Interaction): LogoutRecord {
  const record = recordOf(interaction);
  if (record.kind !== "logout") throw new InteractionError("gone");
  return record;
}

/** An interaction that is not stored yet: a request that needs no page never stores it. The browser must have its cookie by now. */
export const newInteraction = (
  ctx: Context,
  purpose: InteractionRecord,
  browser: Browser,
  ttl = interactionTtl,
): Interaction => ({
  uid: ctx.random(16),
  browser: hashOf(browser.id ?? ""),
  csrf: ctx.random(16),
  purpose,
  login: null,
  consent: null,
  expiresAt: ctx.now() + ttl + expiredTtl,
  from: sourceOf(browser),
});

/** Whose share of the requests that wait one is part of: those of an address, or of the network that a provider gives to one customer. */
export const sourceOf = ({ address }: Pick<Peer, "address">): string =>
  isAddress(address) ? networkOf(address) : address;

/** What is over takes no room from what waits. */
const overOf = (from: string | undefined): string => `over ${from ?? ""}`;

/** Whether the interaction is stored. */
export const isStored = (tx: ReadTx, { uid }: Interaction): boolean => tx.get("interactions", uid) !== undefined;

/** Records what happened in an interaction. */
export function recordFact(
  tx: Tx,
  interaction: Interaction,
  fact: Partial<Pick<Interaction, "login" | "consent">>,
): Interaction {
  const recorded = { ...interaction, ...fact };
  if (isStored(tx, interaction)) tx.put("interactions", recorded);
  return recorded;
}

/** Ends a sign-in. A person who comes to it again sees that it is finished. */
export function endInteraction(tx: Tx, ctx: Context, interaction: Interaction): void {
  if (!isStored(tx, interaction)) return;
  const app = appOf(interaction);
  if (app === null) {
    tx.remove("interactions", interaction.uid);
    return;
  }
  tx.put("interactions", {
    uid: interaction.uid,
    browser: interaction.browser,
    // No form of it is accepted any more.
    csrf: "",
    purpose: { kind: "finished", app } satisfies FinishedRecord,
    login: null,
    consent: null,
    expiresAt: ctx.now() + finishedTtl,
    from: overOf(interaction.from),
  });
}

function appOf(interaction: Interaction): AskingApp | null {
  const record = recordOf(interaction);
  if (record.kind === "finished") return record.app;
  if (!isSignIn(record) || record.kind === "page") return null;
  const { request }: { readonly request: AskingApp } = record;
  const { clientId, redirectUri, uiLocales } = request;
  return { clientId, redirectUri, uiLocales };
}

/** A refusal that names the app to go back to. @param username who was suspended or banned */
export function refusalOf(
  tx: ReadTx,
  interaction: Interaction,
  reason: "gone" | "finished" | "suspended" | "banned",
  username: string | null = null,
): InteractionError {
  const app = appOf(interaction);
  if (app === null) return new InteractionError(reason, null, username);
  const client = tx.get("clients", app.clientId);
  const name = clientName(client ?? { client_id: app.clientId });
  const initiateLoginUri = client?.initiate_login_uri ?? null;
  const isLinked = client !== undefined && (!describesItself(client) || wasAllowed(tx, client.client_id));
  return new InteractionError(reason, { ...app, name, initiateLoginUri, isLinked }, username);
}

/** The interaction, for the browser that began it. @throws {InteractionError} */
export function findInteraction(tx: ReadTx, ctx: Context, uid: string, browser: Browser): Interaction {
  const interaction = tx.get("interactions", uid);
  if (interaction === undefined) throw new InteractionError("gone");
  if (browser.id === null || hashOf(browser.id) !== interaction.browser) throw new InteractionError("other-browser");
  if (recordOf(interaction).kind === "finished") throw refusalOf(tx, interaction, "finished");
  if (interaction.expiresAt - expiredTtl <= ctx.now()) throw refusalOf(tx, interaction, "gone");
  return interaction;
}

/** Whether a sign-in that this browser began has not ended. */
export function isWaiting(tx: ReadTx, ctx: Context, uid: string, browser: Browser): boolean {
  try {
    findInteraction(tx, ctx, uid, browser);
    return true;
  } catch (error) {
    if (error instanceof InteractionError) return false;
    throw error;
  }
}

/** The sign-in that waits and has this `csrf` value, whichever browser asks; null: there is none. */
export function waitingFor(tx: ReadTx, ctx: Context, uid: string, csrf: string): Interaction | null {
  const interaction = tx.get("interactions", uid);
  if (interaction === undefined || interaction.csrf === "" || !sameSecret(csrf, interaction.csrf)) return null;
  return isSignIn(recordOf(interaction)) && interaction.expiresAt - expiredTtl > ctx.now() ? interaction : null;
}

/**
 * The interaction that a form belongs to, with the form's `csrf` value checked: the whole of it, or its part for the page if the form was
 * shown to one user (`user-form.ts`).
 * @throws {InteractionError}
 */
export function findForForm(tx: ReadTx, ctx: Context, uid: string, browser: Browser, csrf: string): Interaction {
  const interaction = findInteraction(tx, ctx, uid, browser);
  if (!sameSecret(csrf.split(".", 1)[0] ?? "", interaction.csrf)) throw new InteractionError("csrf");
  return interaction;
}
