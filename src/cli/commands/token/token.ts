/*
 * cli/commands/token: what can be done with one token. Each command is a file; token.ts has `revoke`. `decode` needs no server and starts
 * fast: what the others need for one is loaded when they run.
 */
import { declareIntrospect } from "./introspect.ts";
import { declareTokenIssue } from "./issue.ts";
import { declareVerify } from "./verify.ts";
import { declareDecode } from "./decode.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { readToken, tokenGiven } from "./input.ts";

/** Declares the commands of `idp token`. */
export const declareToken: Declare = (token, context) => {
  declareDecode(token, context);
  declareVerify(token, context);
  declareIntrospect(token, context);
  declareTokenIssue(token, context);
  declareTokenRevoke(token, context);
};

/** Whether a text claims to be an ID token, which the revocation endpoint does not know (RFC 7009 2.1). */
async function saysItIsIdToken(text: string): Promise<boolean> {
  const token = (await import("../../../core/records/keys/jws.ts")).readJws(text);
  return token !== null && (await import("../../../core/protocol/tokens/claims.ts")).kindOfToken(token) === "id";
}

/** `idp token revoke`: revokes a token of any client, as the operator (by RFC 7009 a client can revoke only its own). */
async function tokenRevoke(cli: Invocation, argument: string | undefined): Promise<Outcome> {
  const { token } = await readToken(cli, "revoke", argument, "refresh_token");
  const target = await (await import("../../target/target.ts")).findTarget(cli);
  const result = await target.call("token.revoke", { token });
  const isIdToken = result.revoked === null && (await saysItIsIdToken(token));
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

/** Declares `idp token revoke`. */
const declareTokenRevoke: Declare = (token, { act }) => {
  token
    .command("revoke")
    .description("revoke one token; a refresh token takes its access tokens with it")
    .argument("[token]", tokenGiven)
    .addHelpText("after", examples("idp token revoke eyJhbGciOi…", "idp token revoke - < token.txt"))
    .action(act(tokenRevoke));
};
