import type { Client, ReadTx, User } from "../../../store/store.ts";
import { userInfo } from "../../records/scopes/claims.ts";
import type { Context } from "../../context.ts";
import { checkSender, type PresentedToken } from "./dpop-binding.ts";
import { OAuthError } from "../../base/errors.ts";
import { claimsNow, scopesNow } from "../../sign-in/grants/grants.ts";
import { requireLive, tokenState } from "./state.ts";
import { verifyAccessToken } from "./accept.ts";
import { jwtOf } from "./opaque.ts";
import { TokenProblem } from "./token-problem.ts";

/** UserInfo (OpenID Connect Core 5.3): what both the token's scopes and the grant's current scopes allow. */

export interface UserInfoResult<B = Record<string, unknown>> {
  readonly body: B;
  readonly clientId: string;
  readonly username: string;
}

/** Makes the body of an answer. @param scopes those of the token that the grant still has @param named the claims that were asked for by name */
type BodyOf<B> = (
  of: { readonly tx: ReadTx; readonly ctx: Context; readonly client: Client; readonly user: User },
  scopes: readonly string[],
  named: readonly string[],
) => B;

const userInfoBody: BodyOf<Record<string, unknown>> = ({ tx, ctx, client, user }, scopes, named) =>
  userInfo(tx, ctx, client, user, scopes, named);

/** @throws as {@link readAs} */
export const readUserInfo = (ctx: Context, presented: PresentedToken | undefined): Promise<UserInfoResult> =>
  readAs(ctx, presented, userInfoBody);

/**
 * What an access token of a user may read.
 * @param presented undefined: no access token was sent
 * @throws {OAuthError} missing_token, invalid_token, insufficient_scope; and as {@link checkSender} and {@link requireLive}
 */
export async function readAs<B>(
  ctx: Context,
  presented: PresentedToken | undefined,
  bodyOf: BodyOf<B>,
): Promise<UserInfoResult<B>> {
  if (presented === undefined) {
    throw new OAuthError("missing_token", "no access token: send it as Authorization: Bearer <access token>", {
      rule: "RFC 6750 3",
      fix: null,
    });
  }
  const claims = verifyAccessToken(ctx, await jwtOf(ctx, presented.token));
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
      body: bodyOf({ tx, ctx, client, user }, scopes, named),
      clientId: client.client_id,
      username: user.username,
    };
  });
}
