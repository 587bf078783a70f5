import type { Client, ReadTx, Session, Tx } from "../../../store/store.ts";
import { clientName, type ClientName } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import { deliver, type Delivered, type Message } from "../../base/deliver.ts";
import { idTokenSigner, sign, tokenTypes } from "../../records/keys/signer.ts";
import { redacted } from "../../../text/redacted.ts";
import { seconds } from "../../../text/time.ts";

/** OpenID Connect Back-Channel Logout 1.0: notifies the clients of a session when it ends. */

/** The result of notifying one client. */
export interface LogoutNotice {
  readonly client: string;
  readonly ok: boolean;
  /** The status, or what went wrong, for the operator. */
  readonly detail: string;
}

/** Whether a client wants to be notified. */
const wantsLogoutTokens = (client: Client): boolean => client.backchannel_logout_uri !== undefined;

/**
 * Adds a client that gets an ID token to its session. When the session ends, the client gets a logout token (Back-Channel Logout 2.3).
 * A client without a logout URI is added too, so that the log can say why it was not notified.
 */
export function rememberClient(tx: Tx, client: Client, sid: string | null): void {
  const session = sid === null ? undefined : tx.find("sessions", "sid", sid);
  if (session === undefined) return;
  const { clientIds, quietClientIds = [] } = session;
  const known = wantsLogoutTokens(client) ? clientIds : quietClientIds;
  if (known.includes(client.client_id)) return;
  const ids = [...known, client.client_id];
  tx.put("sessions", { ...session, ...(wantsLogoutTokens(client) ? { clientIds: ids } : { quietClientIds: ids }) });
}

/** The clients of these names that have an address now. */
const clientsToNotify = (tx: ReadTx, ids: readonly string[]): readonly Client[] =>
  ids.flatMap((id) => {
    const client = tx.get("clients", id);
    return client !== undefined && wantsLogoutTokens(client) ? [client] : [];
  });

/** A session that is about to end. */
interface EndedSession {
  readonly session: Session;
  /** Username. */
  readonly user: string;
  /** The clients to notify afterwards. */
  readonly clients: readonly Client[];
  /** They have an address now, and had none when the user signed in. */
  readonly quiet: readonly Client[];
}
export type EndedSessions = readonly EndedSession[];

export const withClients = (tx: ReadTx, sessions: readonly Session[]): EndedSessions =>
  sessions.map((session) => {
    const { userId, clientIds, quietClientIds = [] } = session;
    return {
      session,
      user: tx.get("users", userId)?.username ?? userId,
      clients: clientsToNotify(tx, clientIds),
      quiet: clientsToNotify(
        tx,
        quietClientIds.filter((id) => !clientIds.includes(id)),
      ),
    };
  });

/** The same with what the call was. */
interface SentNotice extends LogoutNotice {
  /** 0: there was no answer. */
  readonly status: number;
  /** Milliseconds. */
  readonly ms: number;
}

/** Notifies only the clients that have an address, and says what each call was. */
export const tellClients = (ctx: Context, endedSessions: EndedSessions): Promise<readonly SentNotice[]> =>
  Promise.all(endedSessions.flatMap((ended) => ended.clients.map((client) => notify(ctx, ended, client))));

/**
 * Notifies the clients of sessions that have ended: all at once, each within the time limit of `outbound.ts`, because the person who signs
 * out waits. A client that does not respond does not prevent the sign-out.
 */
export const notifyClients = (ctx: Context, endedSessions: EndedSessions): Promise<readonly LogoutNotice[]> =>
  Promise.all(
    endedSessions.flatMap((ended) => [
      ...ended.clients.map((client) =>
        notify(ctx, ended, client).then(({ client: id, ok, detail }) => ({ client: id, ok, detail })),
      ),
      ...ended.quiet.map((client) => sayWhyNot(ctx, ended, client)),
    ]),
  );

function noted(ctx: Context, client: Client, ok: boolean, detail: string): LogoutNotice {
  ctx.log(`back-channel logout of client "${client.client_id}": ${detail}`);
  return { client: client.client_id, ok, detail };
}

const sayWhyNot = async (ctx: Context, { user }: EndedSession, client: Client): Promise<LogoutNotice> =>
  noted(ctx, client, false, `not sent: the client had no backchannel_logout_uri when ${user} signed in`);

/** Seconds: a logout token is used at once (OpenID Connect Back-Channel Logout 2.4). */
const logoutTokenTtl = 120;

/** A logout token: `sid`, `jti` and the one event, never a nonce (OpenID Connect Back-Channel Logout 2.4). */
async function signLogoutToken(ctx: Context, client: Client, session: Session): Promise<string> {
  const now = seconds(ctx);
  const claims = {
    iss: ctx.issuer,
    sub: session.userId,
    aud: client.client_id,
    iat: now,
    exp: now + logoutTokenTtl,
    jti: ctx.random(16),
    sid: session.sid,
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  };
  return sign({ typ: tokenTypes.logout, signer: await idTokenSigner(ctx, client), claims });
}

async function notify(ctx: Context, { session, user }: EndedSession, client: Client): Promise<SentNotice> {
  const uri = client.backchannel_logout_uri ?? "";
  const logoutToken = await signLogoutToken(ctx, client, session);
  const detailOf = ({ status, problem }: Delivered): string =>
    problem === null ? `${uri} answered ${status}` : `${uri} was not notified: ${problem}`;
  const message: Message = {
    endpoint: "backchannel_logout",
    client,
    user,
    method: "POST",
    url: uri,
    headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
    form: { logout_token: logoutToken },
    clean: redacted,
    outcome: { kind: "logout-token-delivered" },
  };
  const delivered = await deliver(ctx, message, (answer) => ({
    message: detailOf(answer),
    rule: "OpenID Connect Back-Channel Logout 2.8",
    fix: "answer 200 at backchannel_logout_uri of the client, where this server can reach it",
  }));
  const { ok, status, ms } = delivered;
  return { ...noted(ctx, client, ok, detailOf(delivered)), status, ms };
}

/** The service providers of SAML that took part in sessions, which nobody tells of their end. @param but who asked for it */
export function otherProviders(tx: ReadTx, ended: EndedSessions, but: string | null = null): readonly ClientName[] {
  const ids = new Set(ended.flatMap(({ session }) => (session.serviceProviders ?? []).map(({ clientId }) => clientId)));
  return [...ids].flatMap((id) => {
    const client = id === but ? undefined : tx.get("clients", id);
    return client === undefined ? [] : [clientName(client)];
  });
}
