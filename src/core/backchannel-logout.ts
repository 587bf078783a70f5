import type { Client, ReadTx, Session, Tx } from "../store/store.ts";
import type { Context } from "./context.ts";
import { signLogoutToken } from "./tokens.ts";

/** OpenID Connect Back-Channel Logout 1.0: the clients of a session are told when it ends. */

/** Milliseconds for one client to answer: the person who signs out waits for it. */
const timeLimit = 5000;

/** What became of telling one client. */
export interface LogoutNotice {
  readonly client: string;
  readonly ok: boolean;
  /** For the operator: the status, or what went wrong. */
  readonly detail: string;
}

/** Whether a client wants to be told, so that its sessions are worth remembering. */
const wantsLogoutTokens = (client: Client): boolean => client.backchannel_logout_uri !== undefined;

/** The client has an ID token of this session now: it is told when the session ends (Back-Channel Logout 2.3). */
export function rememberClient(tx: Tx, client: Client, sid: string | null): void {
  const session = sid === null || !wantsLogoutTokens(client) ? undefined : tx.find("sessions", "sid", sid);
  if (session === undefined || session.clientIds.includes(client.client_id)) return;
  tx.put("sessions", { ...session, clientIds: [...session.clientIds, client.client_id] });
}

/** The clients to tell when this session ends. */
export const clientsToTell = (tx: ReadTx, session: Session): readonly Client[] =>
  session.clientIds.flatMap((id) => {
    const client = tx.get("clients", id);
    return client !== undefined && wantsLogoutTokens(client) ? [client] : [];
  });

/** Tells all clients at once, each within the time limit. A client that does not listen keeps nobody from signing out. */
export const tellClients = (ctx: Context, session: Session, clients: readonly Client[]): Promise<LogoutNotice[]> =>
  Promise.all(clients.map((client) => tell(ctx, session, client)));

async function tell(ctx: Context, session: Session, client: Client): Promise<LogoutNotice> {
  const notice = await send(ctx, session, client, client.backchannel_logout_uri ?? "");
  ctx.log(`back-channel logout of client "${client.client_id}": ${notice.detail}`);
  return notice;
}

async function send(ctx: Context, session: Session, client: Client, uri: string): Promise<LogoutNotice> {
  const notice = (ok: boolean, detail: string): LogoutNotice => ({ client: client.client_id, ok, detail });
  try {
    const logoutToken = await signLogoutToken(ctx, client, session);
    const response = await fetch(uri, {
      method: "POST",
      body: new URLSearchParams({ logout_token: logoutToken }),
      // A redirect would carry the token to an address that nobody registered.
      redirect: "error",
      signal: AbortSignal.timeout(timeLimit),
    });
    await response.body?.cancel();
    // Back-Channel Logout 2.8: 200; others are seen in use.
    return notice(response.ok, `${uri} answered ${response.status}`);
  } catch (error) {
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    return notice(
      false,
      timedOut ? `${uri} did not answer within ${timeLimit / 1000} s` : `${uri} could not be reached`,
    );
  }
}
