import type { Invocation } from "./invocation.ts";
import { answer, type Outcome } from "./print.ts";
import { findTarget } from "./target.ts";
import { readToken } from "./token-input.ts";

/** `idp token revoke`: as the operator, so of any client (RFC 7009 binds clients to their own). */
export async function tokenRevoke(cli: Invocation, argument: string | undefined): Promise<Outcome> {
  const { token } = await readToken(cli, argument, "refresh_token");
  const target = await findTarget(cli);
  const result = await target.call("token.revoke", { token });
  return answer(
    result,
    ({ revoked, client }) =>
      revoked === null
        ? "Nothing to revoke: the token is unknown here, or has expired."
        : revoked === "refresh_token"
          ? `Revoked a refresh token of ${client}, and every access token that came with it.`
          : `Revoked an access token of ${client}. A refresh token that came with it still works.`,
    { notes: result.revoked === null ? [] : [target.where] },
  );
}
