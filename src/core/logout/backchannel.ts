import type { Client, ReadTx, Session, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { reachOf, send } from "../outbound.ts";
import { signLogoutToken } from "../tokens/sign.ts";

/** OpenID Connect Back-Channel Logout 1.0: the clients of a session are told when it ends. */

/** What became of telling one client. */
export interface LogoutNotice {
  readonly client: string;
  readonly ok: boolean;
  /** For the operator: the status, or what went wrong. */
  readonly detail: string;
}

/** Whether a client wants to be told, so that its sessions are worth remembering. */
const wantsLogoutTokens = (client: Client): boolean => client.backchannel_logout_uri !== undefined;

/** Notes that the client has an ID token of this session, so the client is notified when the session ends (Back-Channel Logout 2.3). */
export function rememberClient(tx: Tx, client: Client, sid: string | null): void {
  const session = sid === null || !wantsLogoutTokens(client) ? undefined : tx.find("sessions", "sid", sid);
  if (session === undefined || session.clientIds.includes(client.client_id)) return;
  tx.put("sessions", { ...session, clientIds: [...session.clientIds, client.client_id] });
}

/** The clients to tell when this session ends. */
const clientsToTell = (tx: ReadTx, session: Session): readonly Client[] =>
  session.clientIds.flatMap((id) => {
    const client = tx.get("clients", id);
    return client !== undefined && wantsLogoutTokens(client) ? [client] : [];
  });

/** Sessions that are about to end, and whom to tell afterwards. */
export type Telling = readonly (readonly [session: Session, clients: readonly Client[]])[];

export const whomToTell = (tx: ReadTx, sessions: readonly Session[]): Telling =>
  sessions.map((session) => [session, clientsToTell(tx, session)]);

/** Tells the clients of sessions that have ended. */
export const tellAll = async (ctx: Context, telling: Telling): Promise<readonly LogoutNotice[]> =>
  (await Promise.all(telling.map(([session, clients]) => tellClients(ctx, session, clients)))).flat();

/** Tells all clients at once, each within the time limit of `outbound.ts`: the person who signs out waits for it. A client that does not listen keeps nobody from signing out. */
const tellClients = (ctx: Context, session: Session, clients: readonly Client[]): Promise<LogoutNotice[]> =>
  Promise.all(clients.map((client) => tell(ctx, session, client)));

async function tell(ctx: Context, session: Session, client: Client): Promise<LogoutNotice> {
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
    // Back-Channel Logout 2.8: 200; others are seen in use.
    return notice(status >= 200 && status < 300, `${uri} answered ${status}`);
  } catch (error) {
    return notice(false, `${uri} was not told: ${(error as Error).message}`);
  }
}
