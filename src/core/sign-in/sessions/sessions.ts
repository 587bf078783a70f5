/*
 * core/sign-in/sessions: the browsers in which users are signed in. sessions.ts starts, finds and ends them; backchannel.ts
 * tells apps of the end (Back-Channel Logout); admin.ts is for the operator.
 */
import type { Met, Proof } from "../../records/step-up/proofs.ts";
import type { ReadTx, Session, Tx, User } from "../../../store/store.ts";
import { withClients, type EndedSessions } from "./backchannel.ts";
import type { Context } from "../../context.ts";
import { metOf } from "../../records/step-up/acr.ts";
import { hashOf } from "../../base/secrets.ts";
import { seconds } from "../../../text/time.ts";

/** Sessions of browsers. Only the browser knows the value of the cookie: the store has its hash. */

/** A valid session, with its user. */
export interface LiveSession {
  readonly session: Session;
  readonly user: User;
}

/** The session of this cookie, even if its user is suspended or banned. */
export const sessionOf = (tx: ReadTx, cookie: string | null): Session | undefined =>
  cookie === null ? undefined : tx.get("sessions", hashOf(cookie));

/** The session of this cookie; null also if its user is suspended or banned. */
export function liveSession(tx: ReadTx, cookie: string | null): LiveSession | null {
  const session = sessionOf(tx, cookie);
  const user = session === undefined ? undefined : tx.get("users", session.userId);
  return session === undefined || user === undefined || user.status !== "active" ? null : { session, user };
}

/** The user of this cookie's session, if they were suspended or banned since. */
export function barredUser(tx: ReadTx, cookie: string | null): User | null {
  const session = sessionOf(tx, cookie);
  const user = session === undefined ? undefined : tx.get("users", session.userId);
  return user === undefined || user.status === "active" ? null : user;
}

/**
 * Starts a session for a user who has just proved who they are, under a new cookie value (session fixation).
 * If the same user signs in again, the `sid` stays: to clients it is the same session.
 * @param proofs what they proved at once: `pwd` or `user`, and further factors
 * @param browser `session`: the cookie that it sent; `program`: what it is
 * @returns the new cookie value and session; and the session of another user that it replaces, with the clients to notify once that is on disk
 */
export function startSession(
  tx: Tx,
  ctx: Context,
  user: User,
  proofs: readonly Proof[],
  { session: previous, program = null }: { readonly session: string | null; readonly program?: string | null },
): { readonly cookie: string; readonly session: Session; readonly endedSessions: EndedSessions } {
  const before = previous === null ? undefined : tx.remove("sessions", hashOf(previous));
  const same = before !== undefined && before.userId === user.id ? before : undefined;
  const cookie = ctx.random(32);
  const session: Session = {
    id: hashOf(cookie),
    // The prefix keeps a command line from taking the id for a flag.
    sid: same?.sid ?? `s_${ctx.random(16)}`,
    userId: user.id,
    authTime: seconds(ctx),
    amr: proofs.includes("pwd") ? ["pwd"] : ["user"],
    factors: { ...(same && metOf(same)), ...timed(ctx, proofs) },
    clientIds: same?.clientIds ?? [],
    ...(same?.quietClientIds !== undefined && { quietClientIds: same.quietClientIds }),
    ...(program !== null && { browser: program }),
    ...(same?.serviceProviders !== undefined && { serviceProviders: same.serviceProviders }),
    createdAt: new Date(ctx.now()).toISOString(),
    expiresAt: ctx.now() + ctx.settings.session_ttl * 1000,
  };
  tx.insert("sessions", session);
  const endedSessions = before === undefined || same !== undefined ? [] : withClients(tx, [before]);
  return { cookie, session, endedSessions };
}

const timed = (ctx: Context, proofs: readonly Proof[]): Met =>
  Object.fromEntries(proofs.map((proof) => [proof, seconds(ctx)]));

/** Records another factor of a session, under a new cookie value: what the old one proved was less. */
export function addProof(
  tx: Tx,
  ctx: Context,
  { session, user }: LiveSession,
  proof: Proof,
): { readonly cookie: string; readonly live: LiveSession } {
  const cookie = ctx.random(32);
  const renewed = { ...session, id: hashOf(cookie), factors: { ...metOf(session), ...timed(ctx, [proof]) } };
  tx.remove("sessions", session.id);
  tx.insert("sessions", renewed);
  return { cookie, live: { session: renewed, user } };
}

/**
 * Ends sessions. An expired one is removed too, so that it does not come back when the clock is set back; its clients are not notified.
 * @returns the ended sessions with the clients to notify once the change is on disk
 */
export const endSessions = (tx: Tx, sessions: readonly Session[]): EndedSessions =>
  withClients(
    tx,
    sessions.filter(({ id }) => tx.remove("sessions", id) !== undefined),
  );

/** Ends the session of this cookie, also of a suspended user: it would be valid again after a restore. */
export function endSessionOfCookie(tx: Tx, cookie: string | null): EndedSessions {
  const session = cookie === null ? undefined : tx.remove("sessions", hashOf(cookie));
  return session === undefined ? [] : withClients(tx, [session]);
}

/** Ends every session of a user, as {@link endSessions} does. */
export const endSessionsOf = (tx: Tx, userId: string): EndedSessions =>
  endSessions(tx, tx.everything("sessions", "user", userId));
