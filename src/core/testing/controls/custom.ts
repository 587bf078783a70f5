import { requireClient } from "../../records/clients/admin.ts";
import { isPublic, mayUse } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import type { UnsignedToken } from "../../records/keys/signer.ts";
import { OperationError } from "../../base/errors.ts";
import { tokenFlaws, type TokenFlaw } from "./faults/flaws/access-token.ts";
import { bendClaims, bendType, flawedReason, madeAt, signFlawed, warningsOf } from "./faults/token-flaws.ts";
import { userClaimsOf } from "../../protocol/tokens/settle.ts";
import { pickedAuthenticationInfo, approve, asOperation } from "../../protocol/tokens/issue.ts";
import { seconds, tenYears } from "../../../text/time.ts";
import { rememberFlawed } from "../../protocol/tokens/state.ts";
import { planForClient } from "../../protocol/tokens/grant-types/client-credentials.ts";
import { planTokens } from "../../protocol/tokens/plan.ts";
import { opaqueFor } from "../../protocol/tokens/opaque.ts";
import { accessToken, idToken, refreshToken, signAccessToken } from "../../protocol/tokens/sign.ts";

/** Milliseconds. */
const day = 86_400_000;

/** Issues one token, as the flow would issue it or with changes, to test code that reads tokens. */

export const tokenKinds = ["access", "id", "refresh"] as const;
type Kind = (typeof tokenKinds)[number];

type IssueTokenInput = Readonly<Partial<Record<TokenFlaw, boolean | undefined>>> & {
  /** User name; absent: the client speaks for itself, as with `client_credentials`. */
  readonly user?: string | undefined;
  readonly client: string;
  /** Space-separated; absent: `openid`, for a client that speaks for itself all that it registered. */
  readonly scope?: string | undefined;
  /** `access` (default), `id` or `refresh`. */
  readonly type?: Kind | undefined;
  /** `aud` in place of the usual one. */
  readonly audience?: string | readonly string[] | undefined;
  /** Seconds; at most as long as this server remembers what it revoked. */
  readonly expires_in?: number | undefined;
  /** An object of claims; they replace those of the user. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** The thumbprint of a key to which an access token is bound (RFC 9449 6.1). */
  readonly dpop_jkt?: string | undefined;
};

export interface IssuedToken {
  readonly token: string;
  readonly type: Kind;
  /** Seconds until it expires; negative for one that has. */
  readonly expires_in: number;
  /** One sentence for each thing that is wrong on purpose. */
  readonly warnings: readonly string[];
}

/**
 * Issues one token under the rules of {@link approve}: the grant is recorded as if the user had allowed it.
 * A token with a flaw is recorded as dead, so that this server never accepts it, even if the flaw concerns only others.
 * @throws {OperationError} not_found, refused
 */
export async function issueToken(ctx: Context, input: IssueTokenInput): Promise<IssuedToken> {
  const kind = input.type ?? "access";
  const flaws = tokenFlaws.filter((flaw) => input[flaw] === true);
  const life = lifeOf(ctx, kind, input.expires_in);

  const make = await (input.user === undefined ? ofClient(ctx, input) : ofUser(ctx, kind, input, input.user));
  const plain = await make(madeAt(ctx, flaws, life));
  const iat = Number(plain.claims["iat"]);
  const changed = {
    ...plain.claims,
    ...input.claims,
    exp: iat + life,
    ...(input.audience !== undefined && { aud: input.audience }),
  };
  const token = { ...plain, typ: bendType(plain.typ, flaws), claims: bendClaims(ctx, changed, flaws, life) };
  const { jti, exp = seconds(ctx) + tenYears } = token.claims;
  const jwt = await signFlawed(ctx, token, flaws);
  // A token that is over is kept for a while, so that its refusal says why.
  const isOpaque = kind === "access" && ctx.layout.opaque !== undefined;
  const signed = isOpaque ? await opaqueFor(ctx, jwt, Math.max(Number(exp) * 1000, ctx.now()) + day) : jwt;
  if (flaws.length > 0) {
    await ctx.store.transaction((tx) => {
      const [reason, at] = [flawedReason(flaws), ctx.now()];
      if (kind === "id") rememberFlawed(tx, ctx, jti, reason);
      else
        tx.put("deadTokens", { jti: String(jti), reason: `was revoked: ${reason}`, at, expiresAt: Number(exp) * 1000 });
    });
  }
  return {
    token: signed,
    type: kind,
    expires_in: Number(exp) - seconds(ctx),
    warnings: warningsOf(flaws),
  };
}

/** Makes the token as of the moment of that context. */
type Make = (at: Context) => Promise<UnsignedToken>;

async function ofUser(
  ctx: Context,
  kind: Kind,
  { client, scope, dpop_jkt }: IssueTokenInput,
  user: string,
): Promise<Make> {
  const { subject, userClaims } = await ctx.store.transaction((tx) => {
    const { scopes, ...approved } = approve(tx, ctx, { user, client, scope });
    const authentication = { ...pickedAuthenticationInfo(ctx), sid: null };
    const asked = { scopes, resources: [], refreshResources: [], jkt: dpop_jkt ?? null };
    const { subject } = planTokens(tx, ctx, approved.client, { ...approved, authentication }, asked);
    return { subject, userClaims: userClaimsOf(tx, ctx, subject) };
  });
  return async (at) => {
    const authentication = { ...pickedAuthenticationInfo(at), sid: null };
    if (kind === "access") return accessToken(at, subject, userClaims.access, authentication);
    if (kind === "refresh") return refreshToken(at, subject, authentication, { generation: 0 });
    const content = { claims: userClaims.id, nonce: null };
    return idToken(at, subject, authentication, {
      ...content,
      accessToken: await signAccessToken(at, subject, userClaims.access, authentication),
    });
  };
}

/** What `client_credentials` would yield (RFC 6749 4.4). */
async function ofClient(ctx: Context, { client: id, scope, dpop_jkt }: IssueTokenInput): Promise<Make> {
  const subject = await ctx.store.transaction((tx) => {
    const client = requireClient(tx, id);
    if (isPublic(client) || !mayUse(client, "client_credentials")) {
      throw new OperationError("refused", `client "${id}" may not use client_credentials, so a user is needed`, {
        hint: "Name a user: --user USERNAME",
      });
    }
    return asOperation(() => planForClient(tx, ctx, client, { scope, resources: [], jkt: dpop_jkt ?? null }));
  });
  return (at) => accessToken(at, subject, { ...subject.client.claims }, null);
}

function lifeOf(ctx: Context, kind: Kind, asked: number | undefined): number {
  const { access_token_ttl, refresh_token_ttl } = ctx.settings;
  if (asked === undefined) return kind === "refresh" ? refresh_token_ttl : access_token_ttl;
  const maxLife = Math.max(refresh_token_ttl, access_token_ttl);
  if (asked <= maxLife) return asked;
  throw new OperationError(
    "refused",
    `expires_in is at most ${maxLife} seconds with these settings; this is ${asked}`,
    {
      hint: "This server remembers revocations only that long. For more, raise refresh_token_ttl in the settings.",
    },
  );
}
