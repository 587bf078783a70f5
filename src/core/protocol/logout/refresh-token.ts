import type { Client } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { endSessions } from "../../sign-in/sessions/sessions.ts";
import { verifyRefreshToken } from "../tokens/accept.ts";
import { TokenProblem } from "../tokens/token-problem.ts";
import { fixOf, isDead, killFamily, tokenState } from "../tokens/state.ts";
import { notifyClients, type LogoutNotice } from "../../sign-in/sessions/backchannel.ts";

/**
 * Keycloak's logout by a server: a client sends its refresh token, and the session that it came from ends, with its tokens.
 * @param client has authenticated
 * @throws {OAuthError} invalid_grant, if the token is not one of this client, or dead
 */
export async function logoutByRefreshToken(
  ctx: Context,
  client: Client,
  token: string,
): Promise<readonly LogoutNotice[]> {
  const claims = verifyRefreshToken(ctx, token);
  if (claims instanceof TokenProblem) {
    throw new OAuthError("invalid_grant", `refresh_token is not accepted: ${claims.message}`, {
      rule: claims.rule,
      parameter: "refresh_token",
      fix: claims.fix,
      cause: claims,
    });
  }
  if (claims.client_id !== client.client_id) {
    throw new OAuthError("invalid_grant", `refresh_token was issued to a client other than "${client.client_id}"`, {
      rule: "RFC 6749 5.2",
      parameter: "refresh_token",
      fix: "send it as the client that received it",
    });
  }
  const ended = await ctx.store.transaction((tx) => {
    const state = tokenState(tx, claims);
    if (isDead(state)) {
      return new OAuthError("invalid_grant", `refresh_token is not accepted: ${state.message}`, {
        rule: "RFC 6749 5.2",
        parameter: "refresh_token",
        ...fixOf(state),
      });
    }
    killFamily(tx, ctx, claims.family, "was revoked: its session was signed out");
    const sessions = claims.sid === undefined ? [] : tx.everything("sessions", "sid", claims.sid);
    return endSessions(
      tx,
      sessions.filter(({ userId }) => userId === claims.sub),
    );
  });
  if (ended instanceof OAuthError) throw ended;
  return notifyClients(ctx, ended);
}
