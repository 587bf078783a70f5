import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { findTarget } from "../../target/target.ts";
import { readToken } from "./input.ts";

/** `idp token revoke`: revokes a token of any client, as the operator (by RFC 7009 a client can revoke only its own). */
export async function tokenRevoke(cli: Invocation, argument: string | undefined): Promise<Outcome> {
  const { token } = await readToken(cli, "revoke", argument, "refresh_token");
  const target = await findTarget(cli);
  const result = await target.call("token.revoke", { token });
  const reason = result.revoked === null ? (await target.call("token.introspect", { token })).reason : undefined;
  const isIdToken = reason?.startsWith("it is an ID token") === true;
  return answer(
    result,
    ({ revoked, client }) =>
      revoked === null
        ? isIdToken
          ? "Nothing to revoke: it is an ID token, which carries no rights and cannot be revoked."
          : "Nothing to revoke: the token is unknown here, or has expired."
        : revoked === "refresh_token"
          ? `Revoked a refresh token of ${client}, and every access token that came with it.`
          : `Revoked an access token of ${client}. A refresh token that came with it still works.`,
    { notes: result.revoked === null ? [] : [target.where] },
  );
}
