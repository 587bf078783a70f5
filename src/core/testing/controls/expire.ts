import type { Client, Tx, User } from "../../../store/store.ts";
import { requireClient } from "../../records/clients/admin.ts";
import type { Context } from "../../context.ts";
import { endTokens, type Owner } from "../../base/era.ts";
import { activeGrant } from "../../sign-in/grants/grants.ts";
import { endSessions } from "../../sign-in/sessions/sessions.ts";
import { requireUser } from "../../records/users/users.ts";

/**
 * Expires what was issued so far, without moving a clock: what is issued afterwards has its usual times, and clients with
 * strict clocks accept it. Tokens need no record for that: `era.ts` notes the last era that has expired.
 */

export interface ExpireInput {
  /** Username. */
  readonly user?: string | undefined;
  /** Client id. */
  readonly client?: string | undefined;
  /** Of all users and all clients. */
  readonly all?: boolean | undefined;
  /** Access tokens: the default. */
  readonly access?: boolean | undefined;
  /** Refresh tokens. */
  readonly refresh?: boolean | undefined;
  /** Browser sessions; with `client`, those of users who granted it access. */
  readonly sessions?: boolean | undefined;
  /** Authorization codes and device codes. */
  readonly codes?: boolean | undefined;
}

export const expirable = ["access", "refresh", "sessions", "codes"] as const;

export type ExpireResult = Awaited<ReturnType<typeof expire>>;

/** @param input with a user, a client, or all @throws {OperationError} not_found */
export async function expire(ctx: Context, input: ExpireInput) {
  const given = expirable.filter((kind) => input[kind] === true);
  const kinds: readonly (typeof expirable)[number][] = given.length === 0 ? ["access"] : given;
  const tokens = (["access", "refresh"] as const).filter((kind) => kinds.some((one) => one === kind));
  return ctx.store.transaction((tx) => {
    const user = input.user === undefined ? null : requireUser(tx, input.user);
    const client = input.client === undefined ? null : requireClient(tx, input.client);
    const owner = { userId: user?.id ?? null, clientId: client?.client_id ?? null };
    if (tokens.length > 0) endTokens(tx, tokens, owner, ctx.now());
    return {
      /** Null: of all users. */
      user: user?.username ?? null,
      /** Null: of all clients. */
      client: owner.clientId,
      expired: kinds,
      /** How many sessions ended. */
      sessions: kinds.some((kind) => kind === "sessions") ? expireSessions(tx, user, client) : 0,
      /** How many unused codes expired. */
      codes: kinds.some((kind) => kind === "codes") ? expireCodes(tx, owner, ctx.now()) : 0,
    };
  });
}

/** The sessions of a client are those of users who granted it access. Clients are not notified of expired sessions. */
function expireSessions(tx: Tx, user: User | null, client: Client | null): number {
  const all = user === null ? tx.everything("sessions") : tx.everything("sessions", "user", user.id);
  const sessions = all.filter(
    ({ userId }) => client === null || activeGrant(tx, userId, client.client_id) !== undefined,
  );
  return endSessions(tx, sessions).length;
}

/**
 * Only unused codes: a used one must stay recorded as used. With zero as its end, a code stays expired wherever the clock moves.
 * @returns how many ended
 */
function expireCodes(tx: Tx, owner: Owner, now: number): number {
  const ofOwner = (userId: string | undefined, clientId: string): boolean =>
    (owner.userId ?? userId) === userId && (owner.clientId ?? clientId) === clientId;
  const codes = tx
    .everything("codes")
    .filter((code) => code.usedAt === null && code.usableUntil > 0 && ofOwner(code.userId, code.clientId));
  for (const code of codes) tx.put("codes", { ...code, usableUntil: 0 });
  const requests = tx
    .everything("deviceRequests")
    .filter(
      ({ status, usableUntil, grant, clientId }) =>
        (status === "waiting" || status === "allowed") && usableUntil > 0 && ofOwner(grant?.userId, clientId),
    );
  for (const request of requests) tx.put("deviceRequests", { ...request, usableUntil: 0 });
  return [...codes, ...requests].filter(({ usableUntil }) => usableUntil > now).length;
}
