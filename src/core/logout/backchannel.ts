import type { Client, ReadTx, Session, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { reachOf, send } from "../outbound.ts";
import { signLogoutToken } from "../tokens/sign.ts";

/** OpenID Connect Back-Channel Logout 1.0: notifies the clients of a session when it ends. */

/** The result of notifying one client. */
export interface LogoutNotice {
  readonly client: string;
  readonly ok: boolean;
  /** For the operator: the status, or what went wrong. */
  readonly detail: string;
}

/** Whether a client wants to be notified; only then its sessions have to be remembered. */
const wantsLogoutTokens = (client: Client): boolean => client.backchannel_logout_uri !== undefined;

/** Adds a client to those that get a logout token when this session ends: it received an ID token (Back-Channel Logout 2.3). */
export function rememberClient(tx: Tx, client: Client, sid: string | null): void {
  const session = sid === null || !wantsLogoutTokens(client) ? undefined : tx.find("sessions", "sid", sid);
  if (session === undefined || session.clientIds.includes(client.client_id)) return;
  tx.put("sessions", { ...session, clientIds: [...session.clientIds, client.client_id] });
}

/** The clients that get a logout token when this session ends. */
const clientsToNotify = (tx: ReadTx, session: Session): readonly Client[] =>
  session.clientIds.flatMap((id) => {
    const client = tx.get("clients", id);
    return client !== undefined && wantsLogoutTokens(client) ? [client] : [];
  });

/** Sessions that are about to end, each with the clients to notify afterwards. */
export type EndedSessions = readonly (readonly [session: Session, clients: readonly Client[]])[];

export const withClients = (tx: ReadTx, sessions: readonly Session[]): EndedSessions =>
  sessions.map((session) => [session, clientsToNotify(tx, session)]);

/**
 * Notifies the clients of sessions that have ended: all at once, each within the time limit of `outbound.ts`, because the person who signs
 * out waits. A client that does not respond does not prevent the sign-out.
 */
export const notifyClients = (ctx: Context, endedSessions: EndedSessions): Promise<readonly LogoutNotice[]> =>
  Promise.all(endedSessions.flatMap(([session, clients]) => clients.map((client) => notify(ctx, session, client))));

async function notify(ctx: Context, session: Session, client: Client): Promise<LogoutNotice> {
  const notice = await deliver(ctx, session, client, client.backchannel_logout_uri ?? "");
  ctx.log(`back-channel logout of client "${client.client_id}": ${notice.detail}`);
  return notice;
}

async function deliver(ctx: Context, session: Session, client: Client, uri: string): Promise<LogoutNotice> {
  const notice = (ok: boolean, detail: string): LogoutNotice => ({ client: client.client_id, ok, detail });
  try {
    const logoutToken = await signLogoutToken(ctx, client, session);
    const form = new URLSearchParams({ logout_token: logoutToken });
    const { status } = await send(uri, { form, reach: reachOf(ctx, client) });
    // Back-Channel Logout 2.8 says 200, but real clients also send other 2xx codes.
    return notice(status >= 200 && status < 300, `${uri} answered ${status}`);
  } catch (error) {
    return notice(false, `${uri} was not notified: ${(error as Error).message}`);
  }
}
