import type { Client } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { revokeGrant } from "../../sign-in/grants/revoke.ts";
import { emailOf } from "../../records/scopes/claims.ts";
import { githubOrgs, isPublicEmail } from "../../records/scopes/vendor-users.ts";
import { readToken } from "./accept.ts";
import type { PresentedToken } from "./dpop-binding.ts";
import { jwtOf } from "./opaque.ts";
import { isDead, tokenState } from "./state.ts";
import { TokenProblem } from "./token-problem.ts";
import { readAs } from "./userinfo.ts";

/** What GitHub's API has beside the user: https://docs.github.com/rest. `/user` itself is UserInfo (`scopes/vendor-users.ts`). */

/** An address of the user. */
interface Email {
  readonly email: string;
  readonly primary: true;
  readonly verified: boolean;
  readonly visibility: "public" | "private";
}

/** The addresses of the user; `body` null: the scope does not allow it. @throws as {@link readAs} */
export const readEmails = (ctx: Context, presented: PresentedToken | undefined) =>
  readAs(ctx, presented, ({ user }, scopes): readonly Email[] | null => {
    if (!scopes.includes("user:email") && !scopes.includes("user")) return null;
    const email = emailOf(user);
    if (typeof email !== "string") return [];
    const visibility = isPublicEmail(user.claims) ? "public" : "private";
    return [{ email, primary: true, verified: user.emailVerified, visibility }];
  });

/** The organizations of the user; none without a scope for it. @throws as {@link readAs} */
export const readOrgs = (ctx: Context, presented: PresentedToken | undefined) =>
  readAs(ctx, presented, ({ user }, scopes) =>
    scopes.includes("read:org") || scopes.includes("user") ? githubOrgs(user) : [],
  );

/**
 * Ends an access token, or the grant that it came from, for its client.
 * @returns false for a token that is unknown, dead or another client's
 */
export async function endAccess(
  ctx: Context,
  client: Client,
  token: string,
  what: "token" | "grant",
): Promise<boolean> {
  const genuine = readToken(ctx, await jwtOf(ctx, token));
  if (genuine instanceof TokenProblem || genuine.kind !== "access") return false;
  const { claims } = genuine;
  if (claims.client_id !== client.client_id) return false;
  return ctx.store.transaction((tx) => {
    const state = tokenState(tx, claims);
    if (isDead(state)) return false;
    if (what === "grant") {
      if (state.grant !== null) revokeGrant(tx, ctx, state.grant, "client");
      return state.grant !== null;
    }
    const reason = `was revoked by its client "${client.client_id}"`;
    tx.put("deadTokens", { jti: claims.jti, reason, at: ctx.now(), expiresAt: claims.exp * 1000 });
    return true;
  });
}
