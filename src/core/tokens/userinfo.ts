import { userInfo } from "../scopes/claims.ts";
import type { Context } from "../context.ts";
import { checkSender, type PresentedToken } from "./dpop-binding.ts";
import { OAuthError } from "../errors.ts";
import { claimsNow, scopesNow } from "../grants/grants.ts";
import { requireLive, tokenState } from "./state.ts";
import { verifyAccessToken } from "./accept.ts";
import { TokenProblem } from "./token-problem.ts";

/** UserInfo (OpenID Connect Core 5.3): what both the token's scopes and the grant's current scopes allow. */

interface UserInfoResult {
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
    throw new OAuthError("missing_token", "no access token: send it as Authorization: Bearer <access token>", {
      rule: "RFC 6750 3",
      fix: "send the access_token of the token response in the Authorization header",
    });
  }
  const claims = verifyAccessToken(ctx, presented.token);
  if (claims instanceof TokenProblem) {
    throw new OAuthError("invalid_token", claims.message, { rule: claims.rule, fix: claims.fix, cause: claims });
  }
  await checkSender(ctx, claims, presented);
  return ctx.store.read((tx) => {
    const live = requireLive(tokenState(tx, claims));
    const { client, user, grant } = live;
    if (user === null || grant === null) {
      throw new OAuthError(
        "insufficient_scope",
        "this access token is for a client, not for a user, so there is no UserInfo",
        { rule: "OpenID Connect Core 5.3", fix: "send the access token of a user's sign-in" },
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
