import type { ReadTx, Session } from "../../../store/store.ts";
import { notifyClients } from "./backchannel.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { endSessions, endSessionsOf } from "./sessions.ts";
import { requireUser } from "../../records/users/users.ts";

/** The sessions of browsers as an operator sees and ends them. */

export type SessionView = ReturnType<typeof viewSession>;

const viewSession = (tx: ReadTx, session: Session) => ({
  /** The `sid` of its ID tokens; its cookie is known to the browser alone. */
  id: session.sid,
  user: tx.get("users", session.userId)?.username ?? session.userId,
  /** When the user last proved who they are; ISO 8601. */
  signedInAt: new Date(session.authTime * 1000).toISOString(),
  expiresAt: new Date(session.expiresAt).toISOString(),
});

interface SessionSelection {
  /** All sessions of this user. */
  readonly user?: string | undefined;
  /** The `sid` of one session. */
  readonly id?: string | undefined;
}

function requireSession(tx: ReadTx, sid: string): Session {
  const session = tx.find("sessions", "sid", sid);
  if (session !== undefined) return session;
  throw new OperationError("not_found", `no session "${sid}"`, {
    hint: { text: "All sessions", command: ["idp", "sessions", "list"] },
  });
}

function select(tx: ReadTx, { user, id }: SessionSelection): readonly Session[] {
  const ofUser = user === undefined ? null : tx.findAll("sessions", "user", requireUser(tx, user).id);
  if (id === undefined) return ofUser ?? [...tx.all("sessions")];
  const session = requireSession(tx, id);
  return ofUser === null || ofUser.some(({ sid }) => sid === id) ? [session] : [];
}

/** @throws {OperationError} not_found for an unknown name */
export const listSessions = (ctx: Context, selection: SessionSelection): Promise<readonly SessionView[]> =>
  ctx.store.read((tx) => select(tx, selection).map((session) => viewSession(tx, session)));

/** One session. @throws {OperationError} not_found */
export const showSession = (ctx: Context, { id }: { readonly id: string }): Promise<SessionView> =>
  ctx.store.read((tx) => viewSession(tx, requireSession(tx, id)));

/** Ends one session, as {@link endSelected} does. @throws {OperationError} not_found */
export const endSession = async (ctx: Context, { id }: { readonly id: string }): Promise<null> => {
  await endSelected(ctx, { id });
  return null;
};

/**
 * Ends sessions, and notifies their clients (OpenID Connect Back-Channel Logout).
 * @param selection names a user or a session
 * @throws {OperationError} not_found for an unknown name
 */
export async function endSelected(ctx: Context, selection: SessionSelection) {
  const { ended, endedSessions } = await ctx.store.transaction((tx) => {
    const { user, id } = selection;
    const all = user !== undefined && id === undefined;
    const endedSessions = all ? endSessionsOf(tx, requireUser(tx, user).id) : endSessions(tx, select(tx, selection));
    return { ended: endedSessions.map(({ session }) => viewSession(tx, session)), endedSessions };
  });
  return { ended, notices: await notifyClients(ctx, endedSessions) };
}
