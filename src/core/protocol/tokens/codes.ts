import type { Client, Code, Grant, Session, Tx, User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { singleClaim, type RequestedClaims } from "../../records/scopes/claims.ts";
import { grantedNow } from "../../sign-in/grants/grants.ts";
import type { AuthenticationInfo } from "../../records/step-up/acr.ts";
import { hashOf } from "../../base/secrets.ts";

/** Authorization codes: opaque, 256 random bits, single-use. The store has only their hash. */

/** The part of the request that the token endpoint needs. */
export interface CodeRequest {
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly claims: RequestedClaims;
  readonly nonce: string | null;
  readonly codeChallenge: string | null;
  readonly resources: readonly string[];
  /** Thumbprint of the key to which the code is bound (RFC 9449 10). */
  readonly dpopJkt: string | null;
  /** Google gives a refresh token only with `access_type=offline`, and once. Absent: the usual rules. */
  readonly withoutRefresh?: boolean;
}

/** A code is remembered this long (milliseconds) after it expires, so that a replay is recognized. */
const usedCodeMemory = 600_000;

export const requestOf = (code: Code): CodeRequest => code.request as CodeRequest;

/** Who gets a code, and under which grant. */
interface CodeOwner {
  readonly client: Client;
  readonly user: User;
  readonly grant: Grant;
  /** Null: the code was made without a browser. */
  readonly session: Session | null;
  /** How the user signed in. */
  readonly authentication: AuthenticationInfo;
}

/** Draws a code for what the grant allows of the request. */
export function drawCode(tx: Tx, ctx: Context, to: CodeOwner, request: CodeRequest & Pick<Code, "issuerPath">): string {
  const code = ctx.random(32);
  const usableUntil = ctx.now() + ctx.settings.code_ttl * 1000;
  tx.insert("codes", {
    id: hashOf(code),
    issuerPath: request.issuerPath,
    clientId: to.client.client_id,
    ...(to.client.fromDocument && { document: to.client }),
    userId: to.user.id,
    grantId: to.grant.id,
    epoch: to.grant.epoch,
    request: {
      redirectUri: request.redirectUri,
      scopes: grantedNow(tx, ctx, to.client, to.grant, request.scopes).filter((scope) => singleClaim(scope) === null),
      claims: request.claims,
      nonce: request.nonce,
      codeChallenge: request.codeChallenge,
      resources: request.resources,
      dpopJkt: request.dpopJkt,
      ...(request.withoutRefresh === true && { withoutRefresh: true }),
    } satisfies CodeRequest,
    family: `f_${ctx.random(12)}`,
    ...to.authentication,
    sid: to.session?.sid ?? null,
    usableUntil,
    usedAt: null,
    expiresAt: usableUntil + usedCodeMemory,
  });
  return code;
}
