import type { Client, Grant, ReadTx, Tx, User, DeadToken } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { stateEnd } from "../../records/keys/admin.ts";
import { currentEra, endOfToken, isOfDeadEra, isPast } from "../../base/era.ts";
import { restoreUser } from "../../records/fix-commands.ts";
import { OAuthError, type About, type OAuthErrorCode } from "../../base/errors.ts";
import type { RefreshClaims, TokenClaims } from "./claims.ts";
import { splitScope } from "../../records/scopes/scopes.ts";
import type { Hint } from "../../base/hint.ts";
import { tenYears } from "../../../text/time.ts";

/**
 * May this token still be used? `tokenState` says it of a token whose signature and times are good (accept.ts): revoked, replayed, expired
 * by the operator, or its user suspended. A refresh token may also be rotated: `placeInFamily`. The state is looked up by `jti`, family
 * and grant, never by the token's text (the same JWT can be written in several ways that all verify). A token that nothing happened to
 * has no record.
 */

/** A token that is good for use, and whom it speaks for. */
export interface LiveToken {
  readonly client: Client;
  /** Both null for a token without a user (client credentials). */
  readonly user: User | null;
  readonly grant: Grant | null;
  /** For a token from a token exchange: the clients of the tokens it was exchanged for. */
  readonly origins: readonly Client[];
}

/** Why a token is dead. */
interface DeadTokenReason {
  readonly code: Extract<OAuthErrorCode, "invalid_token" | "access_revoked" | "account_suspended" | "account_banned">;
  /** For the client. */
  readonly message: string;
  /** What exactly happened, for the operator. */
  readonly detail: string;
  /** Since when, in milliseconds; null if that is not known. */
  readonly since: number | null;
  /** It counts as expired: nothing else is wrong with it. */
  readonly reason?: "expired";
  /** It is over for good: its use revokes nothing. */
  readonly isOver?: true;
  /** The command that brings it back to life, or else how to get another one. */
  readonly fix: string | Hint;
  readonly about?: About;
}

/** What brings tokens back after the user revoked them. */
export const consentAgain = "send the user through a new sign-in, where they consent again";

const dead = (what: string, since: number | null = null): DeadTokenReason => ({
  code: "invalid_token",
  message: `The token ${what}`,
  detail: `it ${what}`,
  since,
  fix: "sign in again for new tokens",
});

/** The refusal for a suspended or banned user, the same everywhere. */
export function userRefusal(user: User): DeadTokenReason | null {
  if (user.status === "active") return null;
  const code = user.status === "banned" ? "account_banned" : "account_suspended";
  const message = `The user's account is ${user.status}`;
  return { code, message, detail: `user "${user.username}" is ${user.status}`, since: null, fix: restoreUser(user) };
}

/** Why a token is dead by its era: it expired before its time or before the clock was set back, or was issued after a snapshot that was restored. */
export function endByEra(tx: ReadTx, claims: TokenClaims, isIdToken = false): DeadTokenReason | null {
  const current = currentEra(tx);
  const { exchanged_from: origins = [] } = claims;
  if (claims.era === current && origins.every(({ era }) => era === current)) return null;
  if (isPast(tx, claims)) {
    return { ...dead("expired before the clock was set back", claims.exp * 1000), reason: "expired", isOver: true };
  }
  if (isOfDeadEra(tx, claims)) {
    return { ...dead("was issued after the snapshot that was restored since"), isOver: true };
  }
  const userId = claims.grant === undefined ? null : claims.sub;
  const kind = Object.hasOwn(claims, "generation") ? "refresh" : "access";
  const own = endOfToken(tx, kind, { userId, clientId: claims.client_id, era: claims.era });
  const ends = origins.map(({ client_id: clientId, era }) => endOfToken(tx, "access", { userId, clientId, era }));
  const since = [own, ...ends].find((end) => end !== null) ?? null;
  if (since === null) return null;
  // An ID token ends with the access tokens of its time.
  const name = isIdToken ? "ID" : kind;
  return {
    code: "invalid_token",
    message: `the ${name} token expired`,
    detail: `the ${name} token was made to expire`,
    since,
    reason: "expired",
    isOver: true,
    fix: kind === "access" ? "get a new one with the refresh token, or sign in again" : "sign in again for new tokens",
  };
}

/** What this token may be used as now. @param isIdToken else it is an access token or a refresh token */
export function tokenState(tx: ReadTx, claims: TokenClaims, isIdToken = false): LiveToken | DeadTokenReason {
  const state = stateOf(tx, claims, isIdToken);
  if (!isDead(state)) return state;
  return { ...state, about: { client: claims.client_id, user: tx.get("users", claims.sub)?.username ?? null } };
}

function stateOf(tx: ReadTx, claims: TokenClaims, isIdToken: boolean): LiveToken | DeadTokenReason {
  const client = tx.get("clients", claims.client_id);
  if (client === undefined) return dead("was issued to a client that is no longer registered");
  const ofClient = claims.grant === undefined ? claims.epoch : (claims.client_epoch ?? client.epoch);
  if (ofClient !== client.epoch) return dead("was issued to an earlier client of the same client_id");
  const over = endByEra(tx, claims, isIdToken);
  if (over !== null) return over;
  const single = tx.get("deadTokens", claims.jti);
  if (single !== undefined) return dead(single.reason, single.at);
  const family = claims.family === undefined ? undefined : tx.get("families", claims.family);
  if (family !== undefined && family.deadBecause !== null) return dead(family.deadBecause, family.deadAt);
  const origins: Client[] = [];
  for (const { jti, client_id, epoch } of claims.exchanged_from ?? []) {
    const origin = tx.get("deadTokens", jti);
    if (origin !== undefined) return dead(`came from an exchange of a token that ${origin.reason}`, origin.at);
    const owner = tx.get("clients", client_id);
    if (owner === undefined || (epoch ?? owner.epoch) !== owner.epoch)
      return dead("came from an exchange of a token of a client that is no longer registered");
    origins.push(owner);
  }
  if (claims.grant === undefined) return { client, user: null, grant: null, origins };
  const user = tx.get("users", claims.sub);
  if (user === undefined) return dead("belongs to a user who no longer exists");
  const refusal = userRefusal(user);
  if (refusal !== null) return refusal;
  if (endedWithSession(tx, client, claims)) return dead("ended with the session of its user");
  const grant = tx.get("grants", claims.grant);
  // The grant is deleted with its client, and by a reset or an import. Revoking keeps it.
  if (grant === undefined)
    return dead("was issued under a consent that no longer exists: to an earlier client, or before a reset");
  if (grant.status !== "active" || grant.epoch !== claims.epoch) {
    return {
      code: "access_revoked",
      message: "Access revoked by user",
      detail: `the grant of user "${user.username}" for client "${client.client_id}" was revoked${endOf(grant)}`,
      since: grant.revokedAt === null ? null : Date.parse(grant.revokedAt),
      fix: consentAgain,
    };
  }
  return { client, user, grant, origins };
}

/** Whether this is a refresh token without `offline_access` whose session is over (OpenID Connect Back-Channel Logout 2.7). */
const endedWithSession = (
  tx: ReadTx,
  client: Client,
  { sid, scope, ...claims }: TokenClaims & { sid?: string },
): boolean =>
  client.refresh_ends_with_session === true &&
  "generation" in claims &&
  sid !== undefined &&
  !splitScope(scope).includes("offline_access") &&
  tx.find("sessions", "sid", sid) === undefined;

const revokers: Readonly<Record<NonNullable<Grant["revokedBy"]>, string>> = {
  user: " by the user",
  operator: " by the operator",
  ban: " when the user was banned",
  client: " by the app",
};

/** Who ended a grant; if it was granted again since, that older tokens stay invalid. */
export function endOf(grant: Grant): string {
  if (grant.status === "active")
    return " and granted again, or its tokens ended when the user left: older tokens stay invalid";
  return grant.revokedBy === undefined ? "" : revokers[grant.revokedBy];
}

/** The record that says how often the branch of a refresh token was rotated. That of the family itself also says whether all of it is dead. */
export const branchOf = ({ family, refresh_branch: branch }: RefreshClaims): string => branch ?? family;

/**
 * The place of a refresh token in its branch: the newest; the previous one, which is accepted for `refresh_grace` seconds; or an older one,
 * whose use counts as reuse.
 */
export function placeInFamily(tx: ReadTx, ctx: Context, claims: RefreshClaims): "newest" | "grace" | "rotated" {
  const { generation, rotatedAt } = tx.get("families", branchOf(claims)) ?? { generation: 0, rotatedAt: 0 };
  if (claims.generation === generation) return "newest";
  const since = ctx.now() - rotatedAt;
  // If the rotation seems to be in the future, the clock jumped back: no grace then.
  const isInTime = since >= 0 && since < ctx.settings.refresh_grace * 1000;
  return claims.generation === generation - 1 && isInTime ? "grace" : "rotated";
}

/** Why a refresh token is dead if it was rotated; null if it is not. Looking at it does not count as reuse. */
export function rotatedReason(tx: ReadTx, ctx: Context, claims: RefreshClaims): DeadTokenReason | null {
  if (placeInFamily(tx, ctx, claims) !== "rotated") return null;
  const branch = tx.get("families", branchOf(claims));
  const isLast = branch !== undefined && claims.generation === branch.generation - 1;
  return dead("was rotated: a newer refresh token took its place", isLast ? branch.rotatedAt : null);
}

export const isDead = (state: LiveToken | DeadTokenReason): state is DeadTokenReason => "code" in state;

/** The fix for a refusal, and whom it is about, as options of an error. */
export const fixOf = ({ fix, about }: DeadTokenReason): { fix: string | Hint; about?: About } => ({
  fix,
  ...(about !== undefined && { about }),
});

/** @throws {OAuthError} with the reason, where the token is dead */
export function requireLive(state: LiveToken | DeadTokenReason): LiveToken {
  if (isDead(state)) {
    throw new OAuthError(state.code, state.message, { rule: "RFC 6750 3.1", cause: state.detail, ...fixOf(state) });
  }
  return state;
}

/** Kills a family: its refresh token and all its access tokens. @param because words that follow "the token": "was revoked by its client" */
export function killFamily(tx: Tx, ctx: Context, family: string, because: string): void {
  const record = tx.get("families", family);
  if (record?.deadBecause != null) return;
  tx.put("families", {
    id: family,
    generation: record?.generation ?? 0,
    rotatedAt: record?.rotatedAt ?? ctx.now(),
    deadBecause: because,
    deadAt: ctx.now(),
    expiresAt: stateEnd(tx, ctx),
  });
}

/**
 * ID tokens with a flaw on purpose, by `jti`. An ID token is accepted as a hint long after it expired, so they are kept for the longest
 * lifetime that can be set.
 */

const prefix = "id_token ";

export function rememberFlawed(tx: Tx, ctx: Pick<Context, "now">, jti: unknown, reason: string): void {
  const expiresAt = ctx.now() + tenYears * 1000;
  tx.put("deadTokens", { jti: prefix + String(jti), reason, at: ctx.now(), expiresAt });
}

/** The records of all of them: they outlive a reset and a restore, because nothing else makes an ID token invalid. */
export const flawedIdTokens = (tx: ReadTx): readonly DeadToken[] =>
  tx.everything("deadTokens").filter(({ jti }) => jti.startsWith(prefix));

/** Why the ID token with this `jti` was made to be refused; undefined: it was not. */
export const flawOf = (tx: ReadTx, jti: unknown): DeadToken | undefined => tx.get("deadTokens", prefix + String(jti));
