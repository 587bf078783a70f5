import { userInfo } from "../scopes/claims.ts";
import type { Context } from "../context.ts";
import { checkSender, type PresentedToken } from "./dpop.ts";
import { OAuthError } from "../errors.ts";
import { claimsNow, scopesNow } from "../grants/granted-scopes.ts";
import { requireLive, tokenState } from "./state.ts";
import { TokenProblem, verifyAccessToken } from "./accept.ts";

/** UserInfo (OpenID Connect Core 5.3): what both the token's scopes and the grant's current scopes allow. */

export interface UserInfoResult {
  readonly body: Record<string, unknown>;
  readonly clientId: string;
  readonly username: string;
}

/**
 * @param presented undefined: no access token was sent
 * @throws {OAuthError} missing_token, invalid_token, insufficient_scope; and as {@link checkSender} and {@link requireLive}
 */
export async function readUserInfo(ctx: Context, presented: PresentedToken | undefined): Promise<UserInfoResult> {
  if (presented === undefined) {
    throw new OAuthError("missing_token", "no access token: send it as Authorization: Bearer <access token>");
  }
  const claims = verifyAccessToken(ctx, presented.token);
  if (claims instanceof TokenProblem) throw new OAuthError("invalid_token", claims.message, { cause: claims });
  await checkSender(ctx, claims, presented);
  return ctx.store.read((tx) => {
    const live = requireLive(tokenState(tx, claims));
    const { client, user, grant } = live;
    if (user === null || grant === null) {
      throw new OAuthError(
        "insufficient_scope",
        "this access token is for a client, not for a user, so there is no UserInfo",
      );
    }
    const scopes = scopesNow(tx, ctx, live, claims.scope);
    const named = claimsNow(tx, ctx, live, claims.claims?.userinfo ?? []);
    return {
      body: userInfo(tx, ctx, client, user, scopes, named),
      clientId: client.client_id,
      username: user.username,
    };
  });
}
