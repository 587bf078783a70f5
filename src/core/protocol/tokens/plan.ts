import type { Client, Grant, Tx, User, ReadTx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { currentEra } from "../../base/era.ts";
import { grantedNow, recordUse } from "../../sign-in/grants/grants.ts";
import { rememberClient } from "../../sign-in/sessions/backchannel.ts";
import { noClaims, type RequestedClaims } from "../../records/scopes/claims.ts";
import type { AccessTokenSubject, RefreshPlace } from "./claims.ts";
import type { TokenPlan } from "./settle.ts";
import type { Authentication } from "./sign.ts";
import { noteLife } from "../../records/keys/admin.ts";
import { OAuthError } from "../../base/errors.ts";
import { consentAgain, endOf, fixOf, userRefusal } from "./state.ts";

/** The user and the grant of the tokens. */
interface Owner {
  readonly user: User;
  readonly grant: Grant;
}

/** Who approved, and how they signed in: of what a code stands for, or of records that were checked to be active. */
type Approved = (Owner | { readonly approval: Approval | null; readonly what: string }) & {
  readonly authentication: Authentication;
};

/** What an access token is to be good for. */
interface AccessAsked {
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly claims?: RequestedClaims;
  /** Thumbprint of the key to which the tokens are bound; null: bearer tokens. */
  readonly jkt: string | null;
}

/** What the tokens of a user are to be good for. */
interface TokensAsked extends AccessAsked {
  /** Absent: what is granted of `scopes`. */
  readonly refreshScopes?: readonly string[];
  readonly refreshResources: readonly string[];
  readonly nonce?: string | null;
  /** Absent: the tokens begin a family. */
  readonly family?: string;
  readonly refreshPlace?: RefreshPlace;
  readonly keptRefreshToken?: string | null;
  /** No refresh token, by the vendor's rule. */
  readonly withoutRefresh?: boolean | undefined;
}

/**
 * Plans an access token, with the steps that every token owes: the era, and the lifetime to remember.
 * @param owner null: the client speaks for itself
 */
export function planSubject(
  tx: Tx,
  ctx: Context,
  client: Client,
  owner: (Owner & { readonly family: string | null }) | null,
  { scopes, resources, jkt, claims = noClaims }: AccessAsked,
): AccessTokenSubject {
  noteLife(tx, ctx);
  const { user, grant, family } = owner ?? { user: null, grant: null, family: null };
  return { client, user, grant, family, era: currentEra(tx), scopes, claims, resources, jkt };
}

/**
 * Plans the tokens of a user, with the steps that they owe beside those of {@link planSubject}: an active user and grant, the scopes that are
 * granted now, the use of the grant, and the client of the session.
 * @throws {OAuthError} invalid_grant where the user or the grant is no longer active
 */
export function planTokens(
  tx: Tx,
  ctx: Context,
  client: Client,
  { authentication, ...approved }: Approved,
  asked: TokensAsked,
): TokenPlan {
  const { user, grant } = "approval" in approved ? requireApproval(tx, approved.approval, approved.what) : approved;
  const { family = `f_${ctx.random(12)}`, keptRefreshToken = null, nonce = null } = asked;
  rememberClient(tx, client, authentication.sid);
  recordUse(tx, ctx, grant);
  const scopes = grantedNow(tx, ctx, client, grant, asked.scopes);
  return {
    subject: { ...planSubject(tx, ctx, client, { user, grant, family }, { ...asked, scopes }), user, grant, family },
    authentication,
    refreshPlace: asked.refreshPlace ?? { generation: 0 },
    nonce,
    refreshScopes: asked.refreshScopes ?? scopes,
    refreshResources: asked.refreshResources,
    keptRefreshToken,
    withoutRefresh: asked.withoutRefresh === true,
  };
}

/** An approval that waits to be redeemed: who gave it, and under which grant. */
interface Approval {
  readonly userId: string;
  readonly grantId: string;
  readonly epoch: string;
}

/**
 * The user and the grant behind a code, both active.
 * @param what the code, as the client knows it: "code", "device_code"
 * @throws {OAuthError} invalid_grant, with what happened to them
 */
function requireApproval(tx: ReadTx, approval: Approval | null, what: string): { user: User; grant: Grant } {
  const user = approval === null ? undefined : tx.get("users", approval.userId);
  if (approval === null || user === undefined) {
    throw new OAuthError("invalid_grant", `the user of this ${what} no longer exists`, {
      rule: "RFC 6749 5.2",
      fix: "begin again, and sign in as another user",
    });
  }
  const grant = tx.get("grants", approval.grantId);
  const about = { user: user.username };
  const refusal = userRefusal(user);
  if (refusal !== null)
    throw new OAuthError("invalid_grant", refusal.message, {
      rule: "RFC 6749 5.2",
      ...fixOf({ ...refusal, about }),
    });
  if (grant === undefined || grant.status !== "active" || grant.epoch !== approval.epoch) {
    throw new OAuthError("invalid_grant", `Access revoked by user: the grant behind this ${what} was revoked`, {
      rule: "RFC 6749 5.2",
      fix: consentAgain,
      about,
      // The answer has the words of the service; the log says who it was.
      cause: `the grant behind this ${what} was revoked${grant === undefined ? "" : endOf(grant)}`,
    });
  }
  return { user, grant };
}
