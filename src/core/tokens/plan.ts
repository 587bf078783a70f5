import type { Client, Grant, Tx, User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { currentEra } from "../era.ts";
import { grantedNow } from "../grants/granted-scopes.ts";
import { recordUse } from "../grants/use.ts";
import { rememberClient } from "../sessions/backchannel.ts";
import { noClaims, type RequestedClaims } from "../scopes/claims.ts";
import type { TokenPlan } from "./response.ts";
import type { Authentication } from "./sign.ts";
import { noteLife } from "./state.ts";

/** Who approved, under which grant, and how they signed in. Both are active: `approval.ts` or `state.ts` has checked that. */
interface Approved {
  readonly user: User;
  readonly grant: Grant;
  readonly authentication: Authentication;
}

/** What the tokens are to be good for. */
interface Asked {
  readonly scopes: readonly string[];
  /** Absent: what is granted of `scopes`. */
  readonly refreshScopes?: readonly string[];
  readonly resources: readonly string[];
  readonly refreshResources: readonly string[];
  readonly claims?: RequestedClaims;
  readonly nonce?: string | null;
  /** Thumbprint of the key to which the tokens are bound; null: bearer tokens. */
  readonly jkt: string | null;
  /** Absent: the tokens begin a family. */
  readonly family?: string;
  readonly generation?: number;
  readonly keptRefreshToken?: string | null;
}

/**
 * Plans the tokens of a user. Every grant type with a user calls it, so none can forget a step: the scopes that are granted now, the era,
 * the lifetime to remember, the use of the grant, and the client of the session.
 */
export function planTokens(
  tx: Tx,
  ctx: Context,
  client: Client,
  { user, grant, authentication }: Approved,
  asked: Asked,
): TokenPlan {
  const { claims = noClaims, resources, refreshResources, jkt, nonce = null } = asked;
  const { family = `f_${ctx.random(12)}`, generation = 0, keptRefreshToken = null } = asked;
  rememberClient(tx, client, authentication.sid);
  recordUse(tx, ctx, grant);
  noteLife(tx, ctx);
  const scopes = grantedNow(tx, ctx, client, grant, asked.scopes);
  return {
    subject: { client, user, grant, family, era: currentEra(tx), scopes, claims, resources, jkt },
    authentication,
    generation,
    nonce,
    refreshScopes: asked.refreshScopes ?? scopes,
    refreshResources,
    keptRefreshToken,
  };
}
