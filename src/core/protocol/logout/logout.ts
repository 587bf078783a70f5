/*
 * core/protocol/logout: signing out (OpenID Connect RP-Initiated Logout 1.0). logout.ts is the endpoint and the page that asks;
 * refresh-token.ts signs out by a refresh token, as Keycloak does. core/sign-in/sessions/backchannel.ts tells the apps.
 */
import { notifyClients, otherProviders, withClients } from "../../sign-in/sessions/backchannel.ts";
import type { EndedSessions, LogoutNotice } from "../../sign-in/sessions/backchannel.ts";
import {
  linkToApp,
  clientName,
  findClient,
  openPortsOf,
  presentClient,
  type ClientName,
} from "../../records/clients/clients.ts";
import type { Client, ReadTx, Tx } from "../../../store/store.ts";
import { documentClient } from "../../records/clients/documents.ts";
import { matchRedirectUri } from "../../records/redirect-uri.ts";
import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { addPostLogoutUri } from "../../records/fix-commands.ts";
import {
  findForForm,
  findInteraction,
  logoutRecordOf,
  newInteraction,
  type Browser,
  type LogoutRecord,
  type LogoutReply,
} from "../../sign-in/interactions.ts";
import { checkLength } from "../authorize/parameters.ts";
import { pageFormValue, requirePageForm } from "../../sign-in/user-form.ts";
import { endSessionOfCookie, endSessions, liveSession } from "../../sign-in/sessions/sessions.ts";
import { verifyIdTokenHint, type IdTokenHint } from "../tokens/accept.ts";

/** The parameters of a logout request, without the name that a vendor has for `post_logout_redirect_uri`. */
export const logoutParameters = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"];

/** The parameters of a logout request, each a single value. */
export interface LogoutRequest {
  readonly idTokenHint: string | undefined;
  readonly clientId: string | undefined;
  readonly postLogoutRedirectUri: string | undefined;
  readonly state: string | undefined;
  readonly uiLocales: string | undefined;
}

/** Signed out: where the browser goes, or what the page says. */
export interface SignedOut {
  readonly kind: "signed-out";
  /** The registered address with `state` alone; null: the page is shown. */
  readonly location: string | null;
  readonly notices: readonly LogoutNotice[];
  /** There was a session to end. */
  readonly ended: boolean;
  /** The app that asked, and an address it registered for this; null: none is known. */
  readonly back: { readonly name: ClientName; readonly href: string } | null;
  /** Why the browser does not go to the address that was sent; null: none was sent, or it does. */
  readonly stays: "no-hint" | "not-registered" | null;
  readonly uiLocales: string | undefined;
  /** Service providers of SAML that took part in the session, and are not told. */
  readonly others: readonly ClientName[];
  /** Who is answered now, in their own protocol; absent: nobody. */
  readonly reply?: LogoutReply | undefined;
  /** The session of this browser goes on: another one was ended, or none. */
  readonly stillSignedIn?: boolean;
}

/** The person is asked first. */
export interface AskLogout {
  readonly kind: "ask";
  readonly uid: string;
}

/**
 * Begins a logout. With a valid hint for this session it happens at once; otherwise the person is asked.
 * @throws {OAuthError} shown to the person: a forged hint, or an address that is not registered. No session is ended.
 */
export async function beginLogout(
  ctx: Context,
  request: LogoutRequest,
  browser: Browser,
): Promise<SignedOut | AskLogout> {
  const { idTokenHint, postLogoutRedirectUri, state, uiLocales } = request;
  checkLength([postLogoutRedirectUri, state, uiLocales]);
  if (postLogoutRedirectUri !== undefined && idTokenHint === undefined && request.clientId === undefined) {
    ctx.log("post_logout_redirect_uri is ignored: neither id_token_hint nor client_id says whose it is");
  }
  const hint = idTokenHint === undefined ? null : await verifyIdTokenHint(ctx, idTokenHint);
  // A client's document says where the browser may go, as it is now.
  const named = hint?.clientId ?? request.clientId;
  const document = postLogoutRedirectUri === undefined ? undefined : await documentClient(ctx, named, browser);
  const outcome = await ctx.store.transaction((tx) => {
    const client = clientOf(tx, request, hint, document) ?? onlyClientOf(tx, ctx, request);
    const location = returnAddress(ctx, client, request);
    const session = liveSession(tx, browser.session);
    const why = hint === null ? "no-hint" : "other-user";
    const clientId = client?.client_id ?? null;
    const record: LogoutRecord = { kind: "logout", why, clientId, document, postLogoutRedirectUri, state, uiLocales };
    const isGuessed = client !== null && hint === null && request.clientId === undefined;
    if (isGuessed || (session !== null && hint?.sub !== session.user.id)) {
      const interaction = newInteraction(ctx, record, browser);
      tx.insert("interactions", interaction);
      return { kind: "ask", uid: interaction.uid } as const;
    }
    const stays = postLogoutRedirectUri !== undefined && client === null ? "no-hint" : null;
    const ended = browser.session === null ? endSessionOfHint(tx, hint) : endSessionOfCookie(tx, browser.session);
    return {
      kind: "end",
      ended,
      location,
      back: linkToApp(tx, client),
      stays,
      uiLocales,
      others: otherProviders(tx, ended),
    } as const;
  });
  return outcome.kind === "ask" ? outcome : notifyAndReturn(ctx, outcome);
}

/** The client of the hint; if there is also a `client_id`, it must be the same one (RP-Initiated Logout 2). */
function clientOf(tx: ReadTx, request: LogoutRequest, hint: IdTokenHint | null, document?: Client): Client | null {
  if (hint !== null && request.clientId !== undefined && hint.clientId !== request.clientId) {
    throw new OAuthError(
      "invalid_request",
      `client_id "${request.clientId}" is not the client of id_token_hint, "${hint.clientId}"`,
      {
        rule: "OpenID Connect RP-Initiated Logout 2",
        parameter: "client_id",
        fix: "leave client_id out: id_token_hint names the client",
      },
    );
  }
  const clientId = hint?.clientId ?? request.clientId;
  if (clientId === undefined) return null;
  return document === undefined ? findClient(tx, clientId) : presentClient(tx, document);
}

/** The only client that registered exactly this address, where the endpoints are those of Entra. The person is asked first. */
function onlyClientOf(tx: ReadTx, { layout }: Context, { postLogoutRedirectUri: uri }: LogoutRequest): Client | null {
  if (layout.logoutByUri !== true || uri === undefined) return null;
  const clients = tx.findAll("clients", "postLogoutUri", uri);
  return clients.length === 1 ? (clients[0] ?? null) : null;
}

/** Compares as redirect URIs are compared. */
function isRegisteredAddress(ctx: Context, client: Client, uri: string): boolean {
  const ports = openPortsOf(ctx, client);
  return client.post_logout_redirect_uris?.some((registered) => matchRedirectUri(registered, uri, ports)) === true;
}

/** The browser goes only to an address that the client registered, compared exactly (RP-Initiated Logout 3). */
function returnAddress(
  ctx: Context,
  client: Client | null,
  request: Pick<LogoutRequest, "postLogoutRedirectUri" | "state">,
): string | null {
  const { postLogoutRedirectUri: uri, state } = request;
  if (uri === undefined || client === null) return null;
  const registered = client.post_logout_redirect_uris ?? [];
  if (!isRegisteredAddress(ctx, client, uri)) {
    throw new OAuthError(
      "invalid_request",
      `post_logout_redirect_uri "${uri}" is not registered for client "${client.client_id}"; registered: ${registered.join("  ") || "none"}`,
      {
        rule: "OpenID Connect RP-Initiated Logout 3",
        fix: addPostLogoutUri(client, uri, ctx.settings),
        mismatch: {
          parameter: "post_logout_redirect_uri",
          sent: uri,
          registered,
        },
      },
    );
  }
  if (state === undefined) return uri;
  return `${uri}${uri.includes("?") ? "&" : "?"}${new URLSearchParams({ state }).toString()}`;
}

/** Ends the session that the hint names, where there is no cookie, as from a server. It must be one of the user of the hint. */
function endSessionOfHint(tx: Tx, hint: IdTokenHint | null): EndedSessions {
  const sessions = hint?.sid == null ? [] : tx.everything("sessions", "sid", hint.sid);
  return endSessions(
    tx,
    sessions.filter(({ userId }) => userId === hint?.sub),
  );
}

type Ending = Pick<SignedOut, "location" | "back" | "stays" | "uiLocales" | "others" | "reply">;

async function notifyAndReturn(
  ctx: Context,
  { ended, ...ending }: Ending & { readonly ended: EndedSessions },
): Promise<SignedOut> {
  const notices = await notifyClients(ctx, ended);
  return { ...ending, kind: "signed-out", notices, ended: ended.length > 0 };
}

interface LogoutPage {
  readonly csrf: string;
  /** Who asked for it; null: unknown. */
  readonly client: { readonly id: string; readonly name: ClientName } | null;
  readonly username: string | null;
  readonly why: LogoutRecord["why"];
  readonly uiLocales: string | undefined;
  /** Service providers of SAML that would not be told. */
  readonly others: readonly ClientName[];
}

/** What the confirmation page shows. @throws {InteractionError} */
export const showLogout = (ctx: Context, uid: string, browser: Browser): Promise<LogoutPage> =>
  ctx.store.read((tx) => {
    const interaction = findInteraction(tx, ctx, uid, browser);
    const { clientId, why, uiLocales } = logoutRecordOf(interaction);
    const client = clientId === null ? undefined : tx.get("clients", clientId);
    const live = liveSession(tx, browser.session);
    return {
      csrf: live === null ? interaction.csrf : pageFormValue(interaction, "logout", live.user),
      client: client === undefined ? null : { id: client.client_id, name: clientName(client) },
      username: live?.user.username ?? null,
      why,
      uiLocales,
      others: live === null ? [] : otherProviders(tx, withClients(tx, [live.session]), clientId),
    };
  });

/**
 * Handles the answer to the confirmation page, once.
 * @returns null if the person stays signed in
 * @throws {InteractionError | OtherUserError}
 */
export async function answerLogout(
  ctx: Context,
  uid: string,
  browser: Browser,
  form: { readonly csrf: string; readonly confirmed: boolean },
): Promise<SignedOut | null> {
  const ending = await ctx.store.transaction((tx) => {
    const interaction = findForForm(tx, ctx, uid, browser, form.csrf);
    requirePageForm(interaction, "logout", form.csrf, liveSession(tx, browser.session)?.user);
    const asked = logoutRecordOf(interaction);
    tx.remove("interactions", uid);
    if (!form.confirmed) return null;
    const present = asked.clientId === null ? null : (tx.get("clients", asked.clientId) ?? null);
    const client = present?.fromDocument === true ? (asked.document ?? null) : present;
    // The page may have been open for an hour. If the address is no longer registered, the session still ends.
    const isRegistered = client !== null && isRegisteredAddress(ctx, client, asked.postLogoutRedirectUri ?? "");
    const location = isRegistered ? returnAddress(ctx, client, asked) : null;
    const sent = asked.postLogoutRedirectUri !== undefined;
    const stays = !sent || isRegistered ? null : client === null ? "no-hint" : "not-registered";
    const ended = endSessionOfCookie(tx, browser.session);
    return {
      ended,
      location,
      back: linkToApp(tx, client),
      stays,
      uiLocales: asked.uiLocales,
      others: otherProviders(tx, ended, asked.clientId),
      reply: asked.reply,
    } as const;
  });
  return ending === null ? null : notifyAndReturn(ctx, ending);
}
